"""What several policies demand of one call: held up by any of them, let go by none."""

import itertools

import pytest

from wf_core.calls.demands import demand_of, together
from wf_core.calls.policy import (
    AppliedPolicy,
    Decorate,
    Defer,
    Disposition,
    IsolationSpec,
    RunAsync,
    RunIsolated,
    RunSync,
    WithCacheKey,
    WithLabel,
    WithRetries,
    WithTimeout,
)

APPROVE = Defer("ask", approval=True)
AT_ONCE: list[Disposition] = [RunSync(), RunAsync(), Decorate((WithLabel("x"),), RunSync())]
HELD: list[Disposition] = [
    APPROVE,
    Defer("elsewhere"),
    RunIsolated(),
    RunIsolated(IsolationSpec(image="a:1")),
    Decorate((WithRetries(2),), APPROVE),
]


def applied(disposition: Disposition, rule: str = "own") -> AppliedPolicy:
    return AppliedPolicy(disposition, rule)


@pytest.mark.parametrize("own", AT_ONCE)
@pytest.mark.parametrize("demanded", HELD)
def test_what_is_demanded_around_a_call_holds_whatever_its_own_policy_says(
    own: Disposition, demanded: Disposition
) -> None:
    outer = applied(demanded, "outer")
    for around in ([outer], [applied(RunSync()), outer], [outer, applied(RunAsync())]):
        decided = together(applied(own), around)
        assert decided is not None
        assert (demand_of(decided), decided.rule) == (demand_of(outer), "outer")


@pytest.mark.parametrize("own", [*AT_ONCE, *HELD])
def test_what_is_demanded_nowhere_around_leaves_a_call_to_its_own_policy(own: Disposition) -> None:
    assert together(applied(own), []) == applied(own)
    assert together(applied(own), [applied(one) for one in AT_ONCE]) == applied(own)


@pytest.mark.parametrize(("one", "other"), list(itertools.permutations(HELD[:4], 2)))
def test_different_demands_cannot_be_met_together(one: Disposition, other: Disposition) -> None:
    assert together(applied(one), [applied(other)]) is None
    assert together(applied(RunSync()), [applied(one), applied(RunSync()), applied(other)]) is None


def test_what_is_demanded_twice_is_demanded_once_for_the_shortest_time() -> None:
    own = applied(Defer("mine", approval=True, expires_seconds=60))
    around = [applied(Defer("theirs", approval=True, expires_seconds=5), "outer"), applied(APPROVE, "outermost")]
    assert together(own, around) == applied(Defer("mine", approval=True, expires_seconds=5))
    assert together(applied(RunSync()), [applied(APPROVE, "outer")]) == applied(APPROVE, "outer")


def test_a_time_limit_of_any_holds() -> None:
    around = [applied(Decorate((WithTimeout(9), WithLabel("slow")), RunSync())), applied(RunSync())]
    assert together(applied(RunAsync()), around) == applied(Decorate((WithTimeout(9),), RunAsync()))
    own = applied(Decorate((WithRetries(1), WithTimeout(3)), RunSync()))
    kept = (WithTimeout(9), WithRetries(1), WithTimeout(3))
    assert together(own, around) == applied(Decorate(kept, RunSync()))


def test_a_cached_result_stands_in_for_no_approval_that_is_demanded_around() -> None:
    own = applied(Decorate((WithCacheKey(), WithRetries(1)), RunSync()))
    assert together(own, [applied(APPROVE, "outer")]) == applied(Decorate((WithRetries(1),), APPROVE), "outer")
    assert together(own, [applied(RunSync())]) == own
