"""What can go wrong between us and a source."""

from wf_mcp.sources.errors import (
    CallDeferred,
    CallFailed,
    CapabilityNotFound,
    SourceNotFound,
    SourceUnavailable,
    effect_of,
)


def test_unknown_names_come_with_their_neighbours() -> None:
    assert CapabilityNotFound("ops.fund", ["ops.find", "ops.charge"]).hint == "Did you mean ops.find?"
    assert SourceNotFound("opps", ["ops"]).details == {"source": "opps", "close_matches": ["ops"]}
    assert SourceNotFound("x", []).hint == "list_sources() shows every one."


def test_what_kept_a_call_from_happening_is_its_failure() -> None:
    failed = CallFailed.before(SourceUnavailable("ops", "The source ops is switched off.", code="source_disabled"))

    assert (failed.code, failed.executed, failed.details) == ("source_disabled", False, {"source": "ops"})


def test_a_failed_call_says_what_to_do_next() -> None:
    assert "inspect_capability" in str(CallFailed("output_invalid", "No.", executed=True).hint)
    assert "inspect_capability" in str(CallFailed("capability_error", "No.", executed=True).hint)
    assert CallFailed("output_invalid", "No.", executed=True, hint="Do this.").hint == "Do this."
    assert CallFailed("of_its_own", "No.", executed=True).hint is None


def test_who_only_reads_or_was_not_called_had_no_effect() -> None:
    assert effect_of(executed=True, read_only=False) == "It may have had its effect."
    assert {effect_of(executed=True, read_only=True), effect_of(executed=False, read_only=False)} == {
        "It had no effect."
    }


def test_a_source_that_is_silent_is_named_with_how_long_it_was_waited_for() -> None:
    silent = SourceUnavailable.silent("ops", 0.5)

    assert (silent.code, silent.source) == ("source_unavailable", "ops")
    assert silent.message == "The source 'ops' has not answered within 0.5 seconds."


def test_a_call_that_goes_on_elsewhere_says_where_to_whoever_made_it_directly() -> None:
    deferred = CallDeferred("the session sess_1 waits for echo")

    assert deferred.message == "The call goes on elsewhere: the session sess_1 waits for echo."
    assert deferred.reason == "the session sess_1 waits for echo"
