"""An event is written before it is applied, and kept only when it was."""

import pytest

from tests.wf_core.conversations import start
from wf_core.errors import IllegalTransition, NotJson
from wf_core.sessions.events import Begun, Held, Said
from wf_core.sessions.journal import record


def test_a_line_is_kept_for_each_event_until_it_is_taken() -> None:
    session = start("Hi")
    record(session, Said("Hello?", (), joins=True))
    assert session.take_events() == [
        b'{"event":"started","query":"Hi","attachments":[]}',
        b'{"event":"said","query":"Hello?","attachments":[],"joins":true}',
    ]
    assert session.take_events() == []
    assert session.position == 2


def test_what_is_refused_makes_no_line() -> None:
    session = start()
    session.take_events()
    with pytest.raises(IllegalTransition):
        record(session, Held())
    with pytest.raises(NotJson):
        record(session, Begun(("\ud800",)))
    assert (session.fresh_events, session.position) == ([], 1)
