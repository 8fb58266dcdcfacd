"""Every failure of an isolated call says whether the worker may have executed, and what to do."""

from wf_mcp.errors import MEANINGS
from wf_mcp.isolation.errors import timed_out, too_large, unavailable


def test_each_failure_says_what_is_known_of_effects() -> None:
    failures = [unavailable("There is none.", "Start it."), timed_out(2.5), too_large(100)]
    assert [(failure.code, failure.executed) for failure in failures] == [
        ("isolation_unavailable", False),
        ("isolation_timeout", True),
        ("isolation_output_too_large", True),
    ]
    assert all(failure.hint for failure in failures)
    assert "2.5 seconds" in failures[1].message


def test_a_message_leaves_it_to_the_call_whether_it_had_an_effect() -> None:
    """A call that only reads had none, however its worker ended."""
    assert not any("effect" in failure.message for failure in (timed_out(1), too_large(1)))


def test_a_shell_and_http_know_what_each_code_means() -> None:
    codes = ["unavailable", "timeout", "failed", "output_invalid", "output_too_large"]
    assert {f"isolation_{code}" for code in codes} | {"invalid_runner"} <= set(MEANINGS)
