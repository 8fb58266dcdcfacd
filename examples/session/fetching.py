"""The tools of the session demo: one answers here, the others belong to somebody outside."""

import os
from pathlib import Path

from wf_core import capability

LOG = Path(__file__).with_name("carried_out.log")
"""Which tool was carried out in which process, a line each time."""


@capability()
def fetch_local(topic: str) -> str:
    """Look a topic up in the notes that are here."""
    _note("fetch_local")
    return f"the notes say of {topic}: feed the starter twice a day"


@capability()
def fetch_remote_a(topic: str) -> str:
    """Ask the library about a topic. Its answer takes a while."""
    _note("fetch_remote_a")
    return f"the library says of {topic}: 14 books"


@capability()
def fetch_remote_b(topic: str) -> str:
    """Ask the laboratory about a topic. Its answer takes a while."""
    _note("fetch_remote_b")
    return f"the laboratory says of {topic}: pH 3.9"


def _note(name: str) -> None:
    with LOG.open("a", encoding="utf-8") as log:
        log.write(f"{name} in process {os.getpid()}\n")
