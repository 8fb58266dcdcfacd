"""Runs: their records, checkpoints, traces, and the definitions that they were started with."""
