"""How things are shown."""

from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from wf_core.errors import InvalidPlan, InvalidPolicy
from wf_core.times import iso
from wf_mcp.cli import output
from wf_mcp.operations.models import Diagnostic


def shown(picture: object, width: int = 80) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as captured:
        console.print(picture)
    return captured.get()


def test_an_id_in_the_first_column_is_never_cut() -> None:
    run_id = "run_" + "0" * 36

    assert run_id in shown(output.table(("run", "about"), [(run_id, "word " * 40)], empty=""), width=60)


def test_an_empty_table_says_so() -> None:
    assert shown(output.table(("run",), [], empty="No runs.")).strip() == "No runs."


def test_what_is_not_known_is_left_out_of_facts() -> None:
    assert shown(output.facts((("status", "running"), ("outcome", None)))).split() == ["status", "running"]


@pytest.mark.parametrize(
    ("ago", "said"),
    [
        (timedelta(seconds=5), "5 s ago"),
        (timedelta(minutes=5, seconds=3), "5 min ago"),
        (timedelta(hours=5, minutes=3), "5 h ago"),
    ],
)
def test_a_recent_time_is_said_by_how_long_ago_it_was(ago: timedelta, said: str) -> None:
    assert output.when(iso(datetime.now(UTC) - ago - timedelta(milliseconds=100))) == said


def test_an_older_time_is_said_by_its_day() -> None:
    assert output.when("2020-02-29T10:00:00.000Z") == "2020-02-29"


def test_short_json_stays_on_one_line_and_long_text_is_cut() -> None:
    assert output.as_text({"a": [1, 2]}).plain == '{"a": [1, 2]}'
    assert output.as_text("x" * 3000).plain == "x" * 2000 + " …"


def test_a_diagnostic_says_where_and_what_to_do() -> None:
    found = Diagnostic(severity="error", code="unknown_start", message="No.", hint="Yes.", path="/start")

    assert output.diagnostic(found).plain == "error unknown_start at /start: No.\n  Yes."


def test_an_error_shows_its_issues_and_no_markup_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    issue = {"severity": "error", "code": "x", "path": "/a", "message": "[bold]m[/]", "hint": None}

    output.show_error(InvalidPlan("[red]no[/]", [issue], hint="Mend it."), as_json=False)

    said = capsys.readouterr().err
    assert "error invalid_plan: [red]no[/]" in said
    assert "Mend it." in said
    assert "error x at /a: [bold]m[/]" in said


def test_the_issues_of_a_policy_stand_in_the_message(capsys: pytest.CaptureFixture[str]) -> None:
    output.show_error(InvalidPolicy([{"where": "call_policy.default", "message": "is no object"}]), as_json=True)

    said = capsys.readouterr()
    assert "call_policy.default: is no object" in said.err
    assert '"code": "invalid_policy"' in said.out
