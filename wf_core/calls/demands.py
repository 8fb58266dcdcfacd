"""What several policies demand of one call: that of the agent that makes it, and those of the agents around that.

A policy around a call can hold it up, and never lets it go: what one of them leaves to the outside, to a person or to a
worker is not made at once because another agent makes it. Demands that cannot both be met let nothing be made.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from wf_core.calls.policy import (
    AppliedPolicy,
    BareDisposition,
    Decorate,
    Defer,
    IsolationSpec,
    RunIsolated,
    WithCacheKey,
    WithTimeout,
    bare,
    decorators,
)

Demand = Literal["result", "approval"] | IsolationSpec


def demand_of(applied: AppliedPolicy) -> Demand | None:
    """Say what a policy wants before there is a result: one from outside, an approval, a worker; None for nothing."""
    match bare(applied.disposition):
        case Defer(approval=approval):
            return "approval" if approval else "result"
        case RunIsolated(spec):
            return spec
        case _:
            return None


def together(own: AppliedPolicy, around: Sequence[AppliedPolicy]) -> AppliedPolicy | None:
    """Apply policies together; None where they demand different things. `around` is the nearest first.

    What is demanded twice is demanded once, for the shortest time. A time limit of any holds. A cached result stands in
    for nothing that is demanded around.
    """
    asking = [one for one in around if demand_of(one) is not None]
    limits = [one.seconds for each in around for one in decorators(each.disposition) if isinstance(one, WithTimeout)]
    if not asking and not limits:
        return own
    kept, chosen = decorators(own.disposition), own
    if asking:
        kept = tuple(one for one in kept if not isinstance(one, WithCacheKey))
        demanded = [*([] if demand_of(own) is None else [own]), *asking]
        chosen = demanded[0]
        if any(demand_of(one) != demand_of(chosen) for one in demanded):
            return None
        innermost = _shortest(demanded)
    else:
        innermost = bare(own.disposition)
    if limits:
        kept = (WithTimeout(min(limits)), *kept)
    return AppliedPolicy(Decorate(kept, innermost) if kept else innermost, chosen.rule)


def _shortest(demanded: Sequence[AppliedPolicy]) -> BareDisposition:
    innermost = [bare(one.disposition) for one in demanded]
    first = innermost[0]
    if not isinstance(first, Defer):
        return first
    times = [one.expires_seconds for one in innermost if isinstance(one, Defer) and one.expires_seconds is not None]
    return replace(first, expires_seconds=min(times, default=None))
