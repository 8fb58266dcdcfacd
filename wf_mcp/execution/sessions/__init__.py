"""Advancing sessions: asking their models, making their calls, and taking what the outside delivers."""
