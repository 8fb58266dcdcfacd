"""Calls of capabilities: what is promised, what is asked, and what is known of the effects."""
