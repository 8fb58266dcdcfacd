"""Artifacts, the numbered versions of plans, and deployments, which bind them to sources."""
