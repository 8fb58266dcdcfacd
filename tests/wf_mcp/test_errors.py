"""What an error shows of itself, and what its code means."""

import json

from wf_core.errors import FormatTooNew, WfError
from wf_mcp.errors import MEANINGS, ExitStatus, InvalidArgument, describe, first_error, meaning


def test_an_error_of_ours_shows_code_message_hint_and_details() -> None:
    shown = describe(
        InvalidArgument("`limit` must be at most 100.", hint="Use the cursor.", details={"argument": "limit"})
    )

    assert shown == {
        "code": "invalid_argument",
        "message": "`limit` must be at most 100.",
        "hint": "Use the cursor.",
        "details": {"argument": "limit"},
    }


def test_of_what_the_caller_passed_an_error_repeats_the_beginning() -> None:
    long = "x" * 3_000_000
    shown = describe(
        InvalidArgument(f"There is no {long}.", hint=" ".join([long] * 30), details={long: [long] * 1000, "ids": [1]})
    )
    assert len(json.dumps(shown)) < 250_000
    assert shown["message"] == f"There is no {'x' * 200}…"
    assert shown["details"]["ids"] == [1]


def test_a_foreign_error_shows_nothing_of_its_text() -> None:
    """SURFACE: a stack trace, a path of the host or a secret is never in an error."""
    shown = describe(RuntimeError("/home/alice/.ssh/id_rsa: hunter2"))

    assert shown["code"] == "internal_error"
    assert "alice" not in json.dumps(shown)
    assert "hunter2" not in json.dumps(shown)


def test_statuses_are_those_of_the_contract() -> None:
    assert {meaning.exit_status for meaning in MEANINGS.values()} == set(ExitStatus) - {ExitStatus.DONE}
    assert [int(status) for status in ExitStatus] == [0, 1, 2, 3, 4, 5, 70]
    assert all(400 <= meaning.http_status < 600 for meaning in MEANINGS.values())


def test_busy_blocked_and_waiting_are_told_apart() -> None:
    assert meaning("run_busy").exit_status is ExitStatus.BUSY
    assert meaning("run_blocked").exit_status is ExitStatus.BLOCKED
    assert meaning("person_required").exit_status is ExitStatus.WAITING
    assert meaning("run_not_found").exit_status is ExitStatus.USAGE
    for code in ("store_full", "store_unavailable", "source_unavailable"):
        assert meaning(code).exit_status is ExitStatus.BLOCKED


def test_a_code_that_a_capability_chose_is_its_failure() -> None:
    """`wf.std.fail` may name any code."""
    assert meaning("quota_used_up").exit_status is ExitStatus.FAILED


def test_every_error_of_the_tree_has_a_meaning() -> None:
    """A new error class must enter the table. What only gathers others is never raised itself."""

    def codes(cls: type[WfError]) -> set[str]:
        below = [codes(sub) for sub in cls.__subclasses__()]
        return set[str]().union(*below) if below else {cls.code}

    assert codes(WfError) - set(MEANINGS) == set()
    assert describe(FormatTooNew(document="run", found=4, supported=3))["code"] == "state_version_unsupported"


def test_an_error_is_told_in_whole_characters() -> None:
    told = describe(WfError("it said \ud800", details={"body": ["\ud800"]}))
    assert (told["message"], told["details"]) == ("it said ?", {"body": ["?"]})


def test_the_first_error_inside_groups_is_the_one_told() -> None:
    error = ValueError("x")
    assert first_error(ExceptionGroup("a", [ExceptionGroup("b", [error]), KeyError()])) is error
    assert first_error(error) is error
