"""What is printed for people. Nothing in it is markup, an emoji's name or a command to the terminal.

Every text on the screen is made here: by `line`, `block` and `stacked`, and a plain `str` becomes a `line`. So what
users, plans, tools and models say can neither style, move nor forge what stands beside it.
"""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from wf_mcp.cli.visible import visible

Part = str | tuple[str, str] | Text
"""A text, a text and its style, or what was made of them before."""

INDENT = "  "


class Screen(Console):
    """A console that shows every `str` as it is written, and hands the terminal no control of others."""

    def __init__(self, *, stderr: bool = False, width: int | None = None) -> None:
        super().__init__(stderr=stderr, width=width, markup=False, emoji=False, highlight=False)

    def render_str(self, text: str, **options: Any) -> Text:
        """Show a plain `str` on one line. What else rich would make of it is left out."""
        made = line(text, style=options.get("style", ""))
        made.justify, made.overflow = options.get("justify"), options.get("overflow")
        return made

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Look at everything once more on its way out, whatever made it."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text, lines=True), segment.style)


def line(*parts: Part, style: str = "") -> Text:
    """Put parts together on one line; a break in a part is shown as an escape."""
    made = Text(style=style)
    for part in parts:
        if isinstance(part, Text):
            made.append_text(part)
        else:
            words, own = (part, "") if isinstance(part, str) else part
            made.append(visible(words), own or None)
    return made


def block(text: str, *, style: str = "", indent: str = "") -> Text:
    """Show text that may have several lines, in a cell or a panel; elsewhere they stand below an `indent`."""
    return Text(visible(text, lines=True).replace("\n", f"\n{indent}"), style=style)


def stacked(*lines: Text) -> Text:
    """Put texts below each other."""
    return Text("\n").join(lines)
