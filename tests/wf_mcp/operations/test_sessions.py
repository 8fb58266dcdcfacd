"""Sessions as users ask for them: started, advanced, shown, listed, forked, deleted; and what is refused."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.wf_mcp.desk import ISOLATE, asks, desk, tokens, waiting
from tests.wf_mcp.scripted import contents
from wf_artifacts.errors import CallNotFound, InvalidCursor, SessionBusy, SessionNotFound, StoreFull, StoreUnavailable
from wf_core.ids import SessionId
from wf_core.sessions import Attachment
from wf_mcp.config.agents import AgentNotFound, InvalidAgent
from wf_mcp.errors import InvalidArgument, TooLarge
from wf_mcp.execution.sessions.errors import RunnerMissing, SessionBlocked
from wf_mcp.operations.caller import LOCAL_PERSON, Caller
from wf_mcp.operations.calls import complete_call
from wf_mcp.operations.session_models import SessionDetail, SessionList, SessionSummary
from wf_mcp.operations.sessions import (
    delete_session,
    fork_session,
    inspect_session,
    list_sessions,
    pause_session,
    resume_session,
    run_isolated,
    start_session,
    step_session,
)

pytestmark = pytest.mark.anyio

ANN = Caller(principal="ann")


def named(told: SessionSummary) -> str:
    assert told.session_id is not None, told
    return told.session_id


async def test_the_flow_of_the_seed_documents(tmp_path: Path) -> None:
    """One call is made, two are put off, the process ends; results come in the wrong order, and all reach the model."""
    work = desk(tmp_path)
    async with work.open() as app:
        started = await start_session(app, agent="helper", prompt="Go.")
        assert (started.status, started.turns, started.pending_calls) == ("ready", 1, [])
        asked = await step_session(app, session_id=named(started))
        assert (asked.status, asked.turns, work.made) == ("ready", 3, [])
        yielded = await step_session(app, session_id=named(started))
    assert (yielded.status, work.made) == ("waiting", ["local"])
    assert [(call.name, call.awaits, call.reason) for call in yielded.pending_calls] == [
        ("remote_a", "deferred", "external worker"),
        ("remote_b", "deferred", "external worker"),
    ]
    async with work.open() as app:
        for name in ("remote_b", "remote_a"):
            await complete_call(app, token=tokens(yielded)[name], result=f"from {name}")
    async with work.open() as app:
        ended = await resume_session(app, session_id=named(started))
    assert (ended.status, ended.answer) == (
        "answered",
        "Done:\n- local: here: bread\n- remote_a: from remote_a\n- remote_b: from remote_b",
    )
    assert work.made == ["local"]


async def test_start_with_step_asks_the_model_once(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        told = await start_session(app, agent="helper", prompt="Go.", step=True)
    assert (told.status, told.turns) == ("ready", 3)


async def test_an_agent_file_is_named_by_its_path(tmp_path: Path) -> None:
    work = desk(tmp_path)
    async with work.open() as app:
        told = await start_session(app, agent=tmp_path / "helper.agent.json", prompt="Go.")
        assert (await resume_session(app, session_id=named(told))).status == "waiting"


@pytest.mark.parametrize("slug", ["nobody", "", "help er", "../helper", "helper.agent.json"])
async def test_an_agent_that_is_not_configured_is_not_found(tmp_path: Path, slug: str) -> None:
    async with desk(tmp_path).open() as app:
        with pytest.raises(AgentNotFound):
            await start_session(app, agent=slug, prompt="Go.")
        assert (await list_sessions(app)).sessions == []


async def test_a_name_that_is_nearly_right_is_told_the_right_one(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        with pytest.raises(AgentNotFound) as refused:
            await start_session(app, agent="helpr", prompt="Go.")
        assert "helper" in f"{refused.value.message} {refused.value.hint}"
        there = named(await start_session(app, agent="helper", prompt="Go."))
        with pytest.raises(SessionNotFound) as missing:
            await inspect_session(app, session_id=there[:-1] + ("0" if there[-1] != "0" else "1"))
    assert there in f"{missing.value.message} {missing.value.hint} {missing.value.details}"


async def test_an_agent_file_that_cannot_be_used_creates_nothing(tmp_path: Path) -> None:
    work = desk(tmp_path)
    (tmp_path / "helper.agent.json").write_text('{"slug": "helper", "modle": "x"}', encoding="utf-8")
    async with work.open() as app:
        with pytest.raises(InvalidAgent):
            await start_session(app, agent="helper", prompt="Go.")
        with pytest.raises(InvalidAgent):
            await start_session(app, agent=tmp_path / "nothing.agent.json", prompt="Go.")
        assert (await list_sessions(app)).sessions == []


async def test_an_agent_whose_tools_are_not_there_is_unrunnable_and_says_why(tmp_path: Path) -> None:
    async with desk(tmp_path, tools=["files.*"]).open() as app:
        told = await start_session(app, agent="helper", prompt="Go.")
        assert (told.status, told.session_id) == ("unrunnable", None)
        assert "files.*" in told.diagnostics[0].message
        assert (await list_sessions(app)).sessions == []


@pytest.mark.parametrize("prompt", [None, "", " \n\t"])
async def test_a_prompt_that_says_nothing_is_refused(tmp_path: Path, prompt: str | None) -> None:
    async with desk(tmp_path).open() as app:
        with pytest.raises(InvalidArgument, match="prompt"):
            await start_session(app, agent="helper", prompt=prompt)
        assert (await list_sessions(app)).sessions == []


async def test_words_beyond_the_bound_are_too_large_and_change_nothing(tmp_path: Path) -> None:
    async with desk(tmp_path, config={"max_bytes": 1000}).open() as app:
        with pytest.raises(TooLarge):
            await start_session(app, agent="helper", prompt="x" * 1000)
        with pytest.raises(TooLarge):
            await start_session(app, agent="helper", prompt="x", attachments=[Attachment("text/plain", "eA==" * 300)])
        told = await start_session(app, agent="helper", prompt="x" * 900)
        stored = contents(tmp_path / "home")
        with pytest.raises(TooLarge):
            await resume_session(app, session_id=named(told), prompt="x" * 1000)
        with pytest.raises(InvalidArgument):
            await resume_session(app, session_id=named(told), prompt="\ud800")
        assert contents(tmp_path / "home") == stored


async def test_five_megabytes_of_prompt_are_taken(tmp_path: Path) -> None:
    async with desk(tmp_path, [{"text": "Long."}]).open() as app:
        told = await waiting(app, "x" * 5_000_000)
        seen = await inspect_session(app, session_id=named(told))
    assert told.status == "answered"
    assert seen.conversation[0].text["bytes"] == 5_000_002


async def test_secrets_of_the_environment_are_not_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTES_TOKEN", "s3cret-token")
    upstream = {"mcpServers": {"files": {"command": "x", "env": {"TOKEN": "${NOTES_TOKEN}"}, "enabled": False}}}
    async with desk(tmp_path, config=upstream).open() as app:
        told = await waiting(app, "My token is s3cret-token.")
        await complete_call(app, token=tokens(told)["remote_a"], result={"type": "text", "content": "s3cret-token"})
    assert not [name for name, data in contents(tmp_path / "home").items() if b"s3cret-token" in data]


async def test_what_the_user_says_next_goes_on_with_an_answered_session(tmp_path: Path) -> None:
    async with desk(tmp_path, [{"text": "Hello."}, {"text": "You said: {{query}}"}]).open() as app:
        first = await waiting(app)
        again = await resume_session(app, session_id=named(first), prompt="And?")
        with pytest.raises(InvalidArgument):
            await resume_session(app, session_id=named(first), prompt=" ")
    assert (first.answer, again.answer, again.turns) == ("Hello.", "You said: And?", 4)


async def test_pause_takes_one_step_and_nobody_goes_on_by_itself(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        started = named(await start_session(app, agent="helper", prompt="Go."))
        told = await resume_session(app, session_id=started, auto=True)
        assert (await app.stores.sessions.load_record(SessionId(started))).auto
        paused = await pause_session(app, session_id=started)
        assert not (await app.stores.sessions.load_record(SessionId(started))).auto
        assert tokens(paused) == tokens(told)


async def test_a_session_of_somebody_else_is_not_there(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        mine = await waiting(app)
        other: dict[str, Any] = {"session_id": named(mine), "caller": ANN}
        for ask in (inspect_session, step_session, pause_session, resume_session, run_isolated, fork_session):
            with pytest.raises(SessionNotFound):
                await ask(app, **other)
        with pytest.raises(SessionNotFound):
            await delete_session(app, **other)
        with pytest.raises(CallNotFound):
            await complete_call(app, token=tokens(mine)["remote_a"], result="x", caller=ANN)
        assert (await list_sessions(app, caller=ANN)).sessions == []
        assert (await inspect_session(app, session_id=named(mine))).pending_calls == mine.pending_calls


@pytest.mark.parametrize("session_id", ["", "sess_", "run_0", "sess_../../x", "x" * 5000, "\ud800"])
async def test_what_can_be_no_session_is_not_found(tmp_path: Path, session_id: str) -> None:
    async with desk(tmp_path).open() as app:
        for ask in (inspect_session, step_session, resume_session, delete_session):
            with pytest.raises(SessionNotFound):
                await ask(app, session_id=session_id)


async def test_a_session_whose_tool_is_gone_is_blocked_and_goes_on_once_it_is_back(tmp_path: Path) -> None:
    work = desk(tmp_path)
    async with work.open() as app:
        told = await waiting(app)
    module = (tmp_path / "ops.py").read_text(encoding="utf-8")
    (tmp_path / "ops.py").write_text(module.replace("def remote_a", "def remote_z"), encoding="utf-8")
    async with work.open() as app:
        seen = await inspect_session(app, session_id=named(told))
        assert (seen.status, seen.diagnostics[0].code) == ("blocked", "capability_not_found")
        assert seen.next_actions == [
            f'resume_session(session_id="{told.session_id}") once the diagnostics are resolved'
        ]
        with pytest.raises(SessionBlocked):
            await resume_session(app, session_id=named(told))
    (tmp_path / "ops.py").write_text(module, encoding="utf-8")
    async with work.open() as app:
        assert (await resume_session(app, session_id=named(told))).status == "waiting"


async def test_a_model_that_cannot_be_asked_leaves_the_session_ready_and_says_why(tmp_path: Path) -> None:
    work = desk(tmp_path, [])
    async with work.open() as app:
        told = await waiting(app)
        assert told.error is not None
        assert (told.status, told.error.code) == ("ready", "model_unusable")
        work.script({"text": "Now."})
        assert (await resume_session(app, session_id=named(told))).answer == "Now."


async def test_isolated_calls_are_carried_out_when_somebody_says_so(tmp_path: Path) -> None:
    work = desk(tmp_path, [asks("local", "remote_a"), {"text": "{{results}}"}], {"remote_a": ISOLATE})
    async with work.open() as app:
        told = await waiting(app)
        assert [call.awaits for call in told.pending_calls] == ["isolated"]
        assert told.next_actions[0].startswith(f'run_isolated(session_id="{told.session_id}")')
        made = await run_isolated(app, session_id=named(told))
        ended = await resume_session(app, session_id=named(told))
    assert (made.pending_calls, ended.status, work.made) == ([], "answered", ["local", "remote_a"])


async def test_without_calls_to_isolate_nothing_happens(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        told = await waiting(app)
        assert (await run_isolated(app, session_id=named(told))).pending_calls == told.pending_calls


async def test_calls_that_nobody_can_isolate_wait(tmp_path: Path) -> None:
    async with desk(
        tmp_path, [asks("now")], {"now": {"tag": "runIsolated", "spec": {}}}, tools=["wf.std.now"]
    ).open() as app:
        told = await waiting(app)
        assert [call.reason for call in told.pending_calls] == ["no runner"]
        assert "run_isolated" not in told.next_actions[0]
        assert f'complete_call(token="{told.pending_calls[0].token}"' in told.next_actions[0]
        with pytest.raises(RunnerMissing):
            await run_isolated(app, session_id=named(told))


async def test_sessions_are_listed_newest_first_in_pages_and_by_status(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        made = [named(await start_session(app, agent="helper", prompt="Go.")) for _ in range(3)]
        await resume_session(app, session_id=made[0])
        page = await list_sessions(app, limit=2)
        rest = await list_sessions(app, limit=2, cursor=page.next_cursor)
        assert [row.session_id for row in (*page.sessions, *rest.sessions)] == made[::-1]
        assert rest.next_cursor is None
        [row] = (await list_sessions(app, status="waiting")).sessions
        assert (row.session_id, row.status, row.pending, row.turns) == (made[0], "waiting", 2, 3)
        for tampered in ("", "x", f"{page.next_cursor}!", f"{'0' * 12}.{made[0]}"):
            with pytest.raises(InvalidCursor):
                await list_sessions(app, cursor=tampered)
        with pytest.raises(InvalidCursor):
            await list_sessions(app, status="waiting", cursor=page.next_cursor)
        for limit in (0, 101, -1):
            with pytest.raises(InvalidArgument):
                await list_sessions(app, limit=limit)


async def test_a_damaged_session_is_named_beside_the_others(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        made = [named(await start_session(app, agent="helper", prompt="Go.")) for _ in range(2)]
    (tmp_path / "home" / "sessions" / made[0] / "session.json").write_text("{", encoding="utf-8")
    async with desk(tmp_path).open() as app:
        listed = await list_sessions(app)
    assert [row.session_id for row in listed.sessions] == [made[1]]
    assert [found.code for found in listed.diagnostics] == ["state_corrupt"]


async def test_numbers_out_of_range_are_refused_before_anything_is_done(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        told = named(await start_session(app, agent="helper", prompt="Go."))
        stored = contents(tmp_path / "home")
        for seconds in (-1, 46, float("nan"), float("inf")):
            for ask in (step_session, pause_session, resume_session, run_isolated, inspect_session):
                with pytest.raises(InvalidArgument):
                    await ask(app, session_id=told, wait_seconds=seconds)
        for turns in (-1, 101):
            with pytest.raises(InvalidArgument):
                await inspect_session(app, session_id=told, turns=turns)
        assert contents(tmp_path / "home") == stored


async def test_a_fork_shares_no_answer_with_its_original(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        told = await waiting(app)
        copy = await fork_session(app, session_id=named(told))
        assert copy.session_id != told.session_id
        assert [call.name for call in copy.pending_calls] == ["remote_a", "remote_b"]
        assert not set(tokens(copy).values()) & set(tokens(told).values())
        for name, token in tokens(copy).items():
            await complete_call(app, token=token, result=f"copy of {name}")
        assert "copy of remote_a" in str((await resume_session(app, session_id=named(copy))).answer)
        assert tokens(await inspect_session(app, session_id=named(told))) == tokens(told)


async def test_a_deleted_session_leaves_nothing_that_waits(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        told = await waiting(app)
        assert (await delete_session(app, session_id=named(told))).session_id == told.session_id
        with pytest.raises(SessionNotFound):
            await delete_session(app, session_id=named(told))
        with pytest.raises(CallNotFound):
            await complete_call(app, token=tokens(told)["remote_a"], result="x")
        assert (await list_sessions(app)).sessions == []
    left = contents(tmp_path / "home")
    assert not [name for name in left if str(told.session_id) in name or "call_" in name]


async def test_a_session_that_another_process_advances_is_busy(tmp_path: Path) -> None:
    work = desk(tmp_path)
    async with work.open() as app, work.open() as other:
        told = await waiting(app)
        claim = await other.stores.sessions.claim(SessionId(named(told)))
        for ask in (step_session, resume_session, delete_session):
            with pytest.raises(SessionBusy):
                await ask(app, session_id=named(told))
        await claim.release()
        assert (await resume_session(app, session_id=named(told))).status == "waiting"


async def test_everything_that_is_answered_is_json_and_survives_reading(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        told = await waiting(app)
        listed = await list_sessions(app)
        shown = await inspect_session(app, session_id=named(told), turns=100)
    assert SessionSummary.model_validate_json(told.model_dump_json()) == told
    assert SessionList.model_validate_json(listed.model_dump_json()) == listed
    assert SessionDetail.model_validate_json(shown.model_dump_json()) == shown


async def test_the_operator_sees_what_the_model_started(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        told = await waiting(app)
        assert (await inspect_session(app, session_id=named(told), caller=LOCAL_PERSON)).status == "waiting"


async def test_a_session_that_finds_no_room_is_told_of_and_is_not_to_be_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object, **__: object) -> None:
        raise StoreFull("sessions", "No space left on device")

    work = desk(tmp_path)
    async with work.open() as app:
        started = await start_session(app, agent="helper", prompt="Go.")
        with monkeypatch.context() as patched:
            patched.setattr(app.stores.sessions, "store", full)
            told = await resume_session(app, session_id=named(started))
        assert told.session_id == started.session_id
        [diagnostic] = told.diagnostics
        assert diagnostic.code == "store_full"
        assert f"{started.session_id} is stored" in str(diagnostic.hint)
        assert "do not begin it again" in str(diagnostic.hint)


async def test_a_session_whose_store_fails_while_somebody_waits_is_shown_as_it_was_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def locked(*_: object, **__: object) -> None:
        raise StoreUnavailable("sessions", "the database is locked")

    work = desk(tmp_path, [asks("slow")], {})
    (tmp_path / "held").touch()
    async with work.open() as app:
        started = await start_session(app, agent="helper", prompt="Go.")
        await resume_session(app, session_id=named(started), wait_seconds=0)
        with anyio.fail_after(20):
            while not work.made:  # noqa: ASYNC110
                await anyio.sleep(0.01)
        monkeypatch.setattr(app.stores.sessions, "store", locked)
        (tmp_path / "held").unlink()
        shown = await inspect_session(app, session_id=named(started), wait_seconds=20)
    assert (shown.turns, [one.code for one in shown.diagnostics]) == (3, ["store_unavailable"])
