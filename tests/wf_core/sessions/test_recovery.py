"""After the process is gone: what may be repeated is, and what may have happened is in doubt."""

from tests.wf_core.conversations import Replayed, call, calls, start, states
from wf_core.sessions import Recovered, answer, awaited, begin, defer, hold, recover, release, token_of


def test_what_ran_is_ready_where_it_may_be_repeated_and_in_doubt_elsewhere() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("watch"), call("write"), call("remote"), call("write")])
    held.do(begin, ["t2.0", "t2.1"])
    held.do(defer, "t2.2")
    assert held.do(recover) == Recovered(("t2.0",), ("t2.1",))
    assert states(held.session) == ["ready", "in_doubt", "deferred", "ready"]
    assert calls(held.session)[1].continuation_token == token_of(held.session, "t2.1")
    assert awaited(calls(held.session)[1]) == "word"


def test_where_nothing_ran_nothing_happens() -> None:
    """What was not begun is known not to have happened."""
    held = Replayed(start())
    held.do(answer, "", [call("write")])
    before = held.session.position
    assert held.do(recover) == Recovered()
    assert held.session.position == before


def test_held_calls_are_taken_over_too() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("build"), call("watch")])
    held.do(begin, ["t2.0", "t2.1"])
    held.do(hold)
    assert held.do(recover) == Recovered(("t2.1",), ("t2.0",))


def test_a_token_that_the_call_had_stays() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("write")])
    held.do(defer, "t2.0", token="its_own")
    held.do(release, "t2.0")
    held.do(begin, ["t2.0"])
    held.do(recover)
    assert calls(held.session)[0].continuation_token == "its_own"
