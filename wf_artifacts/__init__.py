"""Remembers. Records of what users saved and of what ran, and the stores behind them. Imports wf_core only."""
