"""What is printed for people."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from rich.panel import Panel
from rich.text import Text

import wf_mcp.cli
from wf_mcp.cli.screen import Screen, block, line, stacked

ROOM = Path(wf_mcp.cli.__file__).parent
MODULES = {str(path.relative_to(ROOM)): path for path in sorted(ROOM.rglob("*.py"))}

ONLY_IN: Mapping[str, set[str]] = {
    "Text": {"screen.py"},
    ".assemble": set(),
    ".from_markup": set(),
    ".from_ansi": set(),
    "Console": set(),
    "Screen": {"output.py"},
    "Prompt": set(),
    ".ask": set(),
    ".echo": {"output.py", "main.py"},
    ".secho": set(),
    "print": set(),
}
"""Who may call what makes a text or prints one."""


def printed(picture: object, width: int = 60) -> str:
    screen = Screen(width=width)
    with screen.capture() as captured:
        screen.print(picture)
    return captured.get()


def test_a_plain_text_is_a_line_without_markup_and_emoji() -> None:
    assert printed("[red]x[/] :smile: \x1b[2J\n") == "[red]x[/] :smile: \\x1b[2J\\n\n"


def test_what_rich_made_itself_is_looked_at_on_its_way_out() -> None:
    """Whoever forgets `line` prints an escape all the same."""
    assert "\\x1b[2J" in printed(Panel(Text("\x1b[2J\u202e")))
    assert "\u202e" not in printed(Panel(Text("x"), title=Text("\u202e")))


def test_a_line_is_one_line_and_keeps_its_styles() -> None:
    made = line(("a\nb", "bold red"), " [bold]c[/]", line("d", style="dim"))
    assert made.plain == "a\\nb [bold]c[/]d"
    assert {str(span.style) for span in made.spans} == {"bold red", "dim"}


def test_a_block_has_lines_that_stand_below_an_indent() -> None:
    assert block("a\n\x1bb", indent="  ").plain == "a\n  \\x1bb"
    assert stacked(line("a\n"), block("b\nc")).plain == "a\\n\nb\nc"


def _calls(tree: ast.AST) -> Iterator[str]:
    """Give the name of everything that is called; that of a method begins with a dot."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)):
                yield name
            case ast.Call(func=ast.Attribute(attr=name)):
                yield f".{name}"
            case _:
                pass


@pytest.mark.parametrize("name", MODULES)
def test_texts_are_made_and_printed_in_one_place(name: str) -> None:
    """Nobody else can hand the terminal what others say."""
    called = set(_calls(ast.parse(MODULES[name].read_text(encoding="utf-8"))))
    assert {call for call, where in ONLY_IN.items() if call in called and name not in where} == set()
