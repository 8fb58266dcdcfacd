"""Acts: calls capabilities and advances runs. What to do next is decided by `wf_core.runtime`."""
