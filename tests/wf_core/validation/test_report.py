"""Issues and the places that they name."""

from wf_core.validation.report import MAX_COMPARED, MAX_LISTED, Findings, Issue, Report, suggest


def test_a_place_is_a_json_pointer() -> None:
    found = Findings()
    found.at("steps", "a/b~c").at("args", 0).error("code", "message")
    assert [issue.path for issue in found.issues] == ["/steps/a~1b~0c/args/0"]


def test_warnings_leave_a_report_valid_and_errors_do_not() -> None:
    found = Findings()
    found.warning("unused_state_field", "message")
    assert Report(found.issues, None).valid
    found.error("unknown_key", "message")
    assert not Report(found.issues, None).valid


def test_an_issue_is_plain_data() -> None:
    issue = Issue("error", "unknown_key", "/steps", "message", "hint")
    assert issue.as_json() == {
        "severity": "error",
        "code": "unknown_key",
        "path": "/steps",
        "message": "message",
        "hint": "hint",
    }


def test_a_wrong_name_brings_up_the_nearest_ones() -> None:
    assert suggest("rotues", ["use", "routes", "input"]) == "Did you mean `routes`?"


def test_where_nothing_is_near_a_few_known_names_are_listed_and_many_are_not() -> None:
    assert suggest("xyz", ["b", "a"]) == "Known here: `a`, `b`."
    assert suggest("xyz", []) is None
    assert suggest("xyz", [f"name{number}" for number in range(MAX_LISTED + 1)]) is None


def test_names_are_compared_only_for_the_first_issues() -> None:
    """A broken plan of any size is read in time."""
    found = Findings()
    for _ in range(MAX_COMPARED + 1):
        found.unknown("unknown_key", "message", "rotues", ["routes"], "Look it up.")
    assert [issue.hint for issue in found.issues[-2:]] == ["Did you mean `routes`?", "Look it up."]
