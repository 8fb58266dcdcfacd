"""Decides. The workflow language and its kernel: no clock, no files, no processes, no network, no event loop."""

from wf_core.calls.capability import CallContext, Outcome, capability

__all__ = ["CallContext", "Outcome", "capability"]
