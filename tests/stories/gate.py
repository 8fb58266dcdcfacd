"""A Python source whose one capability runs until the story lets it through."""

from dataclasses import dataclass

from tests.stories.workplace import Workplace, until

_SOURCE = '''
import time
from pathlib import Path

from wf_core import capability

HERE = Path(__file__).parent


@capability(HINTS)
def pass_through() -> str:
    """Note that somebody waits, then wait until the gate is open."""
    with (HERE / "entered").open("a") as entered:
        entered.write("x")
    while not (HERE / "open").exists():
        time.sleep(0.02)
    return "through"
'''


@dataclass
class Gate:
    """The capability `gate.pass_through` of a workplace."""

    workplace: Workplace
    hints: str = ""
    """As they stand in the decorator: `read_only=True`, say. Without any, a call may not be repeated."""

    def __post_init__(self) -> None:
        self.workplace.python_source("gate", _SOURCE.replace("HINTS", self.hints))

    @property
    def entered(self) -> int:
        """How many calls have begun."""
        notes = self.workplace.folder / "entered"
        return len(notes.read_text(encoding="utf-8")) if notes.exists() else 0

    async def until_entered(self) -> None:
        """Wait until a call has begun, and its process has written down what it had reached by then."""
        await until(lambda: self.entered > 0)
        await self.workplace.until_at_rest()

    def open(self) -> None:
        self.workplace.write("open", "")
