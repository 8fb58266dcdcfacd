"""Whether a failed attempt is repeated, and when."""

from datetime import timedelta

import pytest

from wf_core.calls.contract import Hints
from wf_core.calls.retry import LONGEST_DELAY, delay, may_retry, side_effects
from wf_core.plan.steps import RetryPolicy

NOTHING_KNOWN = Hints()
READ_ONLY = Hints(read_only=True)
IDEMPOTENT = Hints(idempotent=True)


def policy(**more: object) -> RetryPolicy:
    return RetryPolicy.model_validate(more)


@pytest.mark.parametrize(
    ("hints", "executed", "known"),
    [
        (NOTHING_KNOWN, True, "unknown"),
        (NOTHING_KNOWN, False, "none"),
        (IDEMPOTENT, True, "unknown"),
        (READ_ONLY, True, "none"),
        (READ_ONLY, False, "none"),
    ],
)
def test_effects_are_none_only_if_the_call_did_not_execute_or_only_reads(
    hints: Hints, executed: bool, known: str
) -> None:
    assert side_effects(hints, executed=executed) == known


@pytest.mark.parametrize(
    ("hints", "executed", "on", "repeated"),
    [
        (NOTHING_KNOWN, True, "not_executed", False),
        (NOTHING_KNOWN, False, "not_executed", True),
        (READ_ONLY, True, "not_executed", True),
        (IDEMPOTENT, True, "not_executed", True),
        (NOTHING_KNOWN, True, "any", True),
    ],
)
def test_only_what_did_not_execute_or_is_safe_or_declared_to_be_is_repeated(
    hints: Hints, executed: bool, on: str, repeated: bool
) -> None:
    assert may_retry(policy(on=on), hints, attempt=1, executed=executed) is repeated


def test_the_default_is_three_attempts_from_one_second_doubling_up_to_a_minute() -> None:
    usual = policy()
    assert [may_retry(usual, READ_ONLY, attempt=attempt, executed=True) for attempt in (1, 2, 3, 4)] == [
        True,
        True,
        False,
        False,
    ]
    waits = [delay(usual, attempt=attempt, jitter=0).total_seconds() for attempt in (1, 2, 7, 8)]
    assert waits == [1, 2, 60, 60]


def test_jitter_takes_up_to_half_off() -> None:
    assert [
        delay(policy(initial_delay_seconds=8), attempt=1, jitter=jitter).total_seconds() for jitter in (0, 0.5, 1)
    ] == [
        8,
        6,
        4,
    ]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"initial_delay_seconds": 0}, timedelta(0)),
        ({"initial_delay_seconds": 0, "backoff": 1e300}, timedelta(0)),
        ({"initial_delay_seconds": 1e300, "backoff": 1e300, "max_delay_seconds": 5}, timedelta(seconds=5)),
        ({"initial_delay_seconds": 1, "backoff": 1e300, "max_delay_seconds": 1e300}, LONGEST_DELAY),
    ],
)
def test_no_delay_is_too_large_to_be_told(more: dict[str, float], expected: timedelta) -> None:
    assert delay(policy(**more), attempt=900, jitter=0) == expected
