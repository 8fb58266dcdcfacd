"""Isolated calls, against real processes, real containers and real HTTP."""
