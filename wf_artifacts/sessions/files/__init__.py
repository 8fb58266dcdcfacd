"""The files of one session."""
