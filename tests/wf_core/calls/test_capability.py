"""What the author of a Python capability writes."""

import pytest

import wf_core
from wf_core.calls.capability import CallContext, Outcome, capability, idempotency_key, mark_of
from wf_core.calls.contract import Hints


def test_the_decorator_leaves_the_function_as_it_is() -> None:
    def double(number: int) -> int:
        return 2 * number

    assert capability()(double) is double
    assert double(2) == 4


def test_without_arguments_a_capability_is_taken_for_one_that_changes_things() -> None:
    @capability()
    def write() -> None: ...

    mark = mark_of(write)
    assert mark is not None
    assert (mark.name, mark.outcomes) == (None, ("ok",))
    assert mark.hints == Hints(read_only=False, idempotent=False, destructive=True)


@pytest.mark.parametrize(
    ("read_only", "idempotent", "destructive", "hints"),
    [
        (True, False, None, Hints(read_only=True, idempotent=True, destructive=False)),
        (False, True, None, Hints(read_only=False, idempotent=True, destructive=True)),
        (False, False, False, Hints(read_only=False, idempotent=False, destructive=False)),
    ],
)
def test_hints_follow_from_what_the_author_says(
    read_only: bool, idempotent: bool, destructive: bool | None, hints: Hints
) -> None:
    @capability(read_only=read_only, idempotent=idempotent, destructive=destructive)
    def work() -> None: ...

    mark = mark_of(work)
    assert mark is not None
    assert mark.hints == hints


def test_name_and_outcomes_are_noted() -> None:
    @capability(name="charge_card", outcomes=("ok", "rejected"))
    def charge() -> Outcome:
        return Outcome("rejected", {"limit": 100})

    mark = mark_of(charge)
    assert mark is not None
    assert (mark.name, mark.outcomes) == ("charge_card", ("ok", "rejected"))
    assert charge() == Outcome("rejected", {"limit": 100})


@pytest.mark.parametrize("outcomes", [(), ("ok", "ok")])
def test_outcomes_are_named_once_each(outcomes: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="at least one outcome, each once"):
        capability(outcomes=outcomes)


@pytest.mark.parametrize("value", [len, 1, None, Outcome, CallContext])
def test_what_is_not_decorated_has_no_mark(value: object) -> None:
    assert mark_of(value) is None


def test_a_foreign_attribute_of_that_name_is_no_mark() -> None:
    def function() -> None: ...

    function.__dict__["__wf_capability__"] = "something else"
    assert mark_of(function) is None


def test_the_key_of_a_call_is_the_same_for_every_attempt_and_differs_between_calls_and_runs() -> None:
    keys = {idempotency_key(run, call) for run in ("run_a", "run_b") for call in ("call_1", "call_2")}
    assert len(keys) == 4
    assert idempotency_key("run_a", "call_1") in keys


def test_authors_find_everything_at_the_top() -> None:
    assert wf_core.capability is capability
    assert wf_core.Outcome is Outcome
    assert wf_core.CallContext is CallContext
