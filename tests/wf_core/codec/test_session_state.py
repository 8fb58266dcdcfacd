"""A whole state as a fork stores it: read as it was written, and refused where no events can have made it."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.wf_core.codec.conversation import everything
from tests.wf_core.conversations import Replayed, call, start
from wf_core.calls.results import text_result
from wf_core.codec.session_state import read_state, read_stored_result
from wf_core.errors import StateCorrupt
from wf_core.jsonvalue import clone, dumps, loads
from wf_core.sessions import Session, SessionHeader, answer, begin, complete, fork, hold, say
from wf_core.sessions.forms import state_to_json

HEADER = SessionHeader("sess_2", "another", start().agent)


def held() -> Session:
    """Give a fork with a held call, a notice and words that wait, and an answer before them."""
    replayed = Replayed(start())
    replayed.do(answer, "", [call("build"), call("watch")])
    replayed.do(begin, ["t2.0", "t2.1"])
    replayed.do(hold)
    replayed.do(complete, "t2.0", text_result("built"))
    replayed.do(say, "And?")
    return fork(replayed.session, id="sess_2", seed="another")


def partial() -> Session:
    """Give a fork with a partial turn."""
    session = start()
    answer(session, "", [call("write"), call("write")])
    complete(session, "t2.0", text_result("done"))
    return fork(session, id="sess_2", seed="another")


def doubted() -> Session:
    """Give a fork whose model is to be told that nobody knows of a held call, once its partial turn has ended."""
    replayed = Replayed(start())
    replayed.do(answer, "", [call("build")])
    replayed.do(begin, ["t2.0"])
    replayed.do(hold)
    replayed.do(answer, "", [call("write")])
    return fork(replayed.session, id="sess_2", seed="another")


def test_a_state_is_read_as_it_was_written() -> None:
    for session in (held(), partial(), doubted(), fork(everything(), id="sess_2", seed="another")):
        again = read_state(loads(dumps(state_to_json(session))), "state", HEADER)
        assert state_to_json(again) == state_to_json(session)
        assert again.provider_ids == session.provider_ids


def change(place: tuple[str | int, ...], value: Any) -> Callable[[Any], None]:
    """Put another value, or what a function makes of it, at a place."""

    def put(state: Any) -> None:
        for step in place[:-1]:
            state = state[step]
        state[place[-1]] = value(state[place[-1]]) if callable(value) else value

    return put


def one_less(items: list[Any]) -> list[Any]:
    return items[:-1]


def twice(items: list[Any]) -> list[Any]:
    return items * 2


def ended(one: Any) -> Any:
    return {**one, "state": "completed", "result": RESULT}


def answered(turns: list[Any]) -> list[Any]:
    return [*turns, {"kind": "llm", "id": "t3", "text": "", "tool_calls": [], "usage": turns[1]["usage"]}]


def doubt(state: Any) -> None:
    state["held"][0]["doubted"] = True
    state["notices"].append({"call_id": "t2.1", "name": "watch", "result": RESULT, "held": True})


def shown(state: Any) -> None:
    state["turns"] = [*state["turns"][:3], {**state["turns"][1], "id": "t3", "tool_calls": []}, state["turns"][2]]
    state["turns"][4] = {**state["turns"][2], "id": "t4", "results": [], "notices": state["notices"]}
    state["turns"].append({**state["turns"][3], "id": "t5", "tool_calls": [CALL]})
    state["turns"].append({"kind": "partial", "id": "t6", "calls": [{**state["held"][0], **OPEN_CALL}]})


CALL: dict[str, Any] = {"name": "write", "arguments": {}, "provider_call_id": "z", "capability": "ops.write"}
OPEN_CALL = {
    "id": "t6.0",
    "provider_call_id": "z",
    "name": "write",
    "state": "ready",
    "continuation_token": None,
    "doubted": False,
}
RESULT = {"type": "text", "content": ""}
FILE = {"mime_type": "", "base64_data": "", "filename": None}
OPEN = ("turns", 2, "calls", 1)

IMPOSSIBLE: dict[str, tuple[Callable[[], Session], Callable[[Any], None], str]] = {
    "no turns": (held, change(("turns",), []), "state.turns"),
    "a turn of another id": (held, change(("turns", 0, "id"), "t7"), "state.turns[0]"),
    "a result too few": (held, change(("turns", 2, "results"), one_less), "state.turns[2]"),
    "a placeholder that nobody owes": (held, change(("turns", 2, "results", 0, "held"), value=False), "state.held"),
    "a held call too few": (held, change(("held",), []), "state.held"),
    "a held call twice": (held, change(("held",), twice), "state.held"),
    "a held call that has ended": (held, change(("held", 0), ended), "state.held"),
    "a notice twice": (held, change(("notices",), twice), "state.held"),
    "a notice too few": (held, change(("notices",), one_less), "state.held"),
    "a doubt twice": (doubted, change(("notices",), twice), "state.notices"),
    "a doubt of what is not held": (doubted, change(("notices", 0, "call_id"), "t2.7"), "state.held"),
    "a doubt that is not marked": (doubted, change(("held", 0, "doubted"), value=False), "state.held"),
    "a doubt that was shown": (doubted, shown, "state.notices"),
    "a doubt that should have been told": (held, doubt, "state.notices"),
    "a doubt that is told before its turn": (
        doubted,
        change(("turns", 4, "calls", 0, "doubted"), value=True),
        "state.turns",
    ),
    "words that should have been told": (held, change(("turns",), answered), "state"),
    "files without words": (partial, change(("attachments",), [FILE]), "state.attachments"),
    "a call that runs": (partial, change((*OPEN, "state"), "running"), "state"),
    "a partial turn that is complete": (partial, change(OPEN, ended), "state.turns"),
    "an end without a result": (
        partial,
        change(("turns", 2, "calls", 0, "result"), None),
        "state.turns[2].calls[0].result",
    ),
    "a result without an end": (partial, change((*OPEN, "result"), RESULT), "state.turns[2].calls[1].result"),
    "a deferral without a token": (
        partial,
        change((*OPEN, "state"), "deferred"),
        "state.turns[2].calls[1].continuation_token",
    ),
    "a call of another turn": (partial, change((*OPEN, "id"), "t2.7"), "state.turns[2]"),
    "a state that there is not": (partial, change((*OPEN, "state"), "lost"), "state.turns[2].calls[1].state"),
    "a turn of another kind": (partial, change(("turns", 0, "kind"), "system"), "state.turns[0].kind"),
    "an id used twice": (
        partial,
        change(("turns", 1, "tool_calls", 1, "provider_call_id"), "call_t2_0"),
        "state.turns[1]",
    ),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_a_state_that_no_events_can_have_made_is_refused(case: str) -> None:
    made, damage, where = IMPOSSIBLE[case]
    state: Any = clone(loads(dumps(state_to_json(made()))))
    damage(state)
    with pytest.raises(StateCorrupt) as caught:
        read_state(state, "state", HEADER)
    assert caught.value.details["where"] == where


@pytest.mark.parametrize(
    "value",
    [
        None,
        "text",
        {},
        {"type": "text", "content": "x", "error": False},
        {"type": "media", "mimeType": "a", "base64Data": ""},
        {"type": "mixed", "parts": [{"type": "media", "mimeType": "a", "base64_data": ""}]},
    ],
)
def test_a_stored_result_has_one_spelling(value: Any) -> None:
    with pytest.raises(StateCorrupt, match="result is no result"):
        read_stored_result(value, "result")
