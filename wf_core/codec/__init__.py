"""Stored forms: what is written down, how it is read again, and how old forms are brought up to date."""

from wf_core.codec.runs import dump_run, load_run

__all__ = ["dump_run", "load_run"]
