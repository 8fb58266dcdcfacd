"""Advancing a session from the command line."""

from pathlib import Path

import pytest

from tests.wf_mcp.desk import asks, desk
from wf_mcp.cli.advancing import EXITS, exit_status, rested, watched
from wf_mcp.errors import ExitStatus
from wf_mcp.operations.session_models import SessionErrorView, SessionSummary
from wf_mcp.operations.sessions import resume_session, start_session, step_session

pytestmark = pytest.mark.anyio


async def test_what_was_done_is_the_turns_that_are_new_and_the_one_that_changed(tmp_path: Path) -> None:
    async with desk(tmp_path, [asks("local", "remote_a"), asks("local"), {"text": "Done."}]).open() as app:
        session_id = str((await start_session(app, agent="helper", prompt="Go.")).session_id)
        met: list[list[tuple[str, str]]] = []
        stands: list[str] = []
        for _ in range(3):
            done = await watched(app, session_id, lambda wf: step_session(wf, session_id=session_id))
            met.append([(turn.id, turn.by) for turn in done.turns])
            stands.append(done.told.status)
    assert met == [[("t1", "model"), ("t2", "user")], [("t2", "user")], [("t2", "user")]]
    assert stands == ["ready", "waiting", "waiting"]


async def test_of_many_turns_each_is_there_once(tmp_path: Path) -> None:
    async with desk(tmp_path, [asks("local"), asks("local"), {"text": "Done."}]).open() as app:
        session_id = str((await start_session(app, agent="helper", prompt="Go.")).session_id)
        done = await watched(app, session_id, lambda wf: resume_session(wf, session_id=session_id))
        again = await watched(app, session_id, lambda wf: resume_session(wf, session_id=session_id))
    assert [turn.id for turn in done.turns] == ["t1", "t2", "t3", "t4", "t5"]
    assert (done.told.answer, again.turns) == ("Done.", [])


async def test_a_session_is_waited_for_until_it_rests(tmp_path: Path) -> None:
    slow = {"text": "Done.", "delayMilliseconds": 200}
    async with desk(tmp_path, [slow]).open() as app:
        session_id = str((await start_session(app, agent="helper", prompt="Go.")).session_id)
        told = await resume_session(app, session_id=session_id, wait_seconds=0)
        assert told.status == "running"
        assert (await rested(app, told)).answer == "Done."


def test_a_model_that_could_not_be_asked_is_no_success() -> None:
    ready = SessionSummary(session_id="sess_1", status="ready", agent="helper")
    failed = ready.model_copy(update={"error": SessionErrorView(code="model_unavailable", message="x")})
    assert (exit_status(ready), exit_status(failed)) == (ExitStatus.DONE, ExitStatus.FAILED)
    assert {status: int(code) for status, code in EXITS.items()} == {
        "ready": 0, "answered": 0, "failed": 1, "running": 3, "waiting": 3, "blocked": 4, "unrunnable": 4,
    }  # fmt: skip
