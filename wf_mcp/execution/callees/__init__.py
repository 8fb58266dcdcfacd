"""Agents and workflows as what others call: they go on by themselves, and whoever called them waits meanwhile."""
