"""A waiting call knows its token, and whether its time has come."""

from datetime import timedelta

from tests.wf_artifacts.calls.samples import continuation, delivery, token
from tests.wf_artifacts.samples import LATER, NOW
from wf_artifacts.calls.models import WAITING, Continuation, Waiting

EXPIRING = continuation(expires_at=LATER)


def test_it_is_due_from_the_very_instant_while_it_is_open() -> None:
    waiting = Waiting(continuation=EXPIRING)
    moments = [NOW, LATER - timedelta(milliseconds=1), LATER, LATER + timedelta(days=1)]
    assert [waiting.is_due(moment) for moment in moments] == [False, False, True, True]
    assert not Waiting(continuation=EXPIRING, state="closed").is_due(LATER)
    assert not Waiting(continuation=continuation()).is_due(LATER)


def test_a_document_gives_what_was_written() -> None:
    waiting = Waiting(continuation=EXPIRING, state="delivered", delivery=delivery(), ended_at=NOW)
    assert WAITING.decode(WAITING.encode(waiting), "call", token=token()) == waiting
    assert Continuation.model_validate(EXPIRING.model_dump()) == EXPIRING
