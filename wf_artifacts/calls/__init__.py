"""Calls that wait for the outside, what was delivered to them, and results that are kept to be used again."""
