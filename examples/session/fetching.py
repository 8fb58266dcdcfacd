"""The tools of the session demo: one answers here, the others belong to somebody outside."""

from wf_core import capability


@capability(read_only=True)
def fetch_local(topic: str) -> str:
    """Look a topic up in the notes that are here."""
    return f"the notes say of {topic}: feed the starter twice a day"


@capability()
def fetch_remote_a(topic: str) -> str:
    """Ask the library about a topic. Its answer takes a while."""
    return f"result from fetch_remote_a about {topic}"


@capability()
def fetch_remote_b(topic: str) -> str:
    """Ask the laboratory about a topic. Its answer takes a while."""
    return f"result from fetch_remote_b about {topic}"
