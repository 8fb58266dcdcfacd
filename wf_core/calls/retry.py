"""Whether a failed attempt of a call is repeated, and when."""

from datetime import timedelta
from typing import Literal

from wf_core.calls.contract import Hints
from wf_core.plan.steps import RetryPolicy

LONGEST_DELAY = timedelta(days=36_500)
"""A longer one could lead beyond the calendar."""


def side_effects(hints: Hints, *, executed: bool) -> Literal["none", "unknown"]:
    """Say what is known of the effects of a call that failed."""
    return "unknown" if executed and not hints.read_only else "none"


def may_retry(policy: RetryPolicy, hints: Hints, *, attempt: int, executed: bool) -> bool:
    """Tell whether attempt number `attempt`, which failed, is followed by another.

    `executed` is False only where it is known that the call never reached its capability.
    """
    if attempt >= policy.max_attempts:
        return False
    return policy.on == "any" or not executed or hints.repeatable


def delay(policy: RetryPolicy, *, attempt: int, jitter: float) -> timedelta:
    """Give the wait after attempt number `attempt`: `initial * backoff^(attempt - 1)`, at most `max_delay_seconds`.

    `jitter`, from 0 to 1, takes up to half of it off, so that many failures at once do not come back at once.
    """
    longest = min(policy.max_delay_seconds, LONGEST_DELAY.total_seconds())
    try:
        full = policy.initial_delay_seconds * policy.backoff ** (attempt - 1)
    except OverflowError:
        full = longest if policy.initial_delay_seconds else 0
    return timedelta(seconds=min(full, longest) * (1 - jitter / 2))
