"""A Python source that notes each call in a file, so that what was done twice, or not at all, is seen from outside."""

from dataclasses import dataclass

from tests.stories.workplace import Workplace

_SOURCE = '''
from pathlib import Path

from wf_core import capability

HERE = Path(__file__).parent


@capability()
def note(what: str) -> str:
    """Note what is done."""
    with (HERE / "noted").open("a") as noted:
        noted.write(f"{what}\\n")
    return what.upper()
'''


@dataclass
class Tally:
    """The capability `tally.note` of a workplace."""

    workplace: Workplace

    def __post_init__(self) -> None:
        self.workplace.python_source("tally", _SOURCE)

    @property
    def noted(self) -> list[str]:
        """What was done, in its order."""
        notes = self.workplace.folder / "noted"
        return notes.read_text(encoding="utf-8").splitlines() if notes.exists() else []
