"""Which word from outside answers which call."""

from itertools import product

import pytest

from tests.wf_core.conversations import Replayed, call, calls, start
from wf_core.calls.results import text_result
from wf_core.calls.tracked import TrackedCall
from wf_core.errors import WrongAnswerKind
from wf_core.sessions import (
    Approved,
    Delivered,
    Delivery,
    Retried,
    answer,
    awaited,
    begin,
    check_delivery,
    defer,
    recover,
    release,
)

RESULT = Delivered(text_result("done"))
REFUSAL = Delivered(text_result("no", error=True))

FITTING: dict[str, list[Delivery]] = {
    "result": [RESULT, REFUSAL],
    "approval": [Approved(), REFUSAL],
    "isolation": [RESULT, REFUSAL, Retried()],
    "word": [RESULT, REFUSAL, Retried()],
    "None": [],
}


def waiting() -> dict[str, TrackedCall]:
    """Give a call that waits for each of them."""
    held = Replayed(start())
    held.do(answer, "", [call(name) for name in ("remote", "pay", "bash", "write", "count")])
    for index in range(3):
        held.do(defer, f"t2.{index}")
    held.do(begin, ["t2.3"])
    held.do(recover)
    return {str(awaited(one)): one for one in calls(held.session)}


@pytest.mark.parametrize(("kind", "delivery"), list(product(FITTING, (RESULT, REFUSAL, Approved(), Retried()))))
def test_a_delivery_answers_what_waits_for_it(kind: str, delivery: Delivery) -> None:
    """A result is not taken for an approval, nor an approval for a result."""
    one = waiting()[kind]
    if delivery in FITTING[kind]:
        check_delivery(one, delivery)
        return
    with pytest.raises(WrongAnswerKind) as caught:
        check_delivery(one, delivery)
    assert caught.value.details["awaited"] == (None if kind == "None" else kind)
    assert caught.value.hint is not None


def test_a_call_that_was_allowed_once_waits_for_a_result_when_it_is_put_off() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("pay")])
    held.do(defer, "t2.0")
    assert awaited(calls(held.session)[0]) == "approval"
    held.do(release, "t2.0")
    held.do(defer, "t2.0")
    assert awaited(calls(held.session)[0]) == "result"
