"""How the turns of a session are told."""

from pathlib import Path

import anyio
import pytest

from tests.wf_mcp.desk import asks, desk, tokens, waiting
from wf_mcp.operations.calls import complete_call, fail_call
from wf_mcp.operations.sessions import inspect_session, resume_session, start_session

pytestmark = pytest.mark.anyio


async def test_a_turn_with_open_calls_says_what_became_of_each_and_which_rule_chose(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        told = await waiting(app)
        user, model, partial = (await inspect_session(app, session_id=str(told.session_id))).conversation
    assert (user.by, user.text, user.calls) == ("user", "Go.", [])
    assert (model.by, model.text) == ("model", "Three things.")
    assert [(call["name"], call["arguments"]) for call in model.calls] == [
        ("local", {}), ("remote_a", {}), ("remote_b", {}),
    ]  # fmt: skip
    assert [(call["call_id"], call["state"], call["rule"]) for call in partial.calls] == [
        ("t2.0", "completed", "default"), ("t2.1", "deferred", "remote_*"), ("t2.2", "deferred", "remote_*"),
    ]  # fmt: skip
    assert partial.calls[0]["result"] == {"type": "text", "content": "here: bread"}
    assert partial.calls[1]["result"] is None


async def test_results_are_told_in_call_order_and_failed_ones_are_marked(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        told = await waiting(app)
        await fail_call(app, token=tokens(told)["remote_b"], error="no line")
        await complete_call(app, token=tokens(told)["remote_a"], result={"type": "json", "content": [1]})
        await resume_session(app, session_id=str(told.session_id))
        _, _, given, last = (await inspect_session(app, session_id=str(told.session_id))).conversation
    assert [(result["name"], result["result"], result["held"]) for result in given.results] == [
        ("local", {"type": "text", "content": "here: bread"}, False),
        ("remote_a", {"type": "json", "content": [1]}, False),
        ("remote_b", {"type": "text", "content": "no line", "error": True}, False),
    ]
    assert (last.by, last.calls) == ("model", [])


async def test_only_the_last_turns_are_told_and_none_if_none_are_asked_for(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        told = await waiting(app)
        two = await inspect_session(app, session_id=str(told.session_id), turns=2)
        none = await inspect_session(app, session_id=str(told.session_id), turns=0)
    assert ([turn.id for turn in two.conversation], none.conversation, none.turns) == (["t1", "t2"], [], 3)


async def test_long_values_are_shortened_and_marked(tmp_path: Path) -> None:
    async with desk(tmp_path, [asks("remote_a", text="y" * 5000), {"text": "{{results}}"}]).open() as app:
        told = await waiting(app, "x" * 5000)
        await complete_call(app, token=tokens(told)["remote_a"], result="z" * 5000)
        ended = await resume_session(app, session_id=str(told.session_id))
        shown = (await inspect_session(app, session_id=str(told.session_id))).conversation
    assert len(str(ended.answer)) > 5000
    assert ['"$truncated":true' in turn.model_dump_json() for turn in shown] == [True] * 4
    assert shown[2].results[0]["result"]["content"]["$truncated"]


async def test_a_call_that_the_model_did_not_wait_for_is_told_twice_a_placeholder_then_a_notice(tmp_path: Path) -> None:
    answers = [asks("local", "slow"), {"text": "Still waiting."}, {"text": "There it is."}]
    work = desk(tmp_path, answers, {"slow": {"tag": "runAsync"}}, asyncYieldStrategy="yieldOnAnyProgress")
    (tmp_path / "held").touch()
    async with work.open() as app:
        started = await start_session(app, agent="helper", prompt="Go.")
        await resume_session(app, session_id=str(started.session_id), wait_seconds=0)
        with anyio.fail_after(20):
            while (seen := await inspect_session(app, session_id=str(started.session_id))).turns < 4:  # noqa: ASYNC110
                await anyio.sleep(0.01)
        (tmp_path / "held").unlink()
        with anyio.fail_after(20):
            ended = await inspect_session(app, session_id=str(started.session_id), wait_seconds=20)
    assert [(result["name"], result["held"]) for result in seen.conversation[2].results] == [
        ("local", False),
        ("slow", True),
    ]
    assert [turn.text for turn in ended.conversation if turn.by == "model"][1:] == ["Still waiting.", "There it is."]
    assert [
        (notice["name"], notice["result"]["content"]) for turn in ended.conversation for notice in turn.notices
    ] == [("slow", "at last")]


async def test_what_is_said_to_a_session_that_waits_is_shown_until_the_model_is_told(tmp_path: Path) -> None:
    answers = [asks("remote_a"), {"text": "Heard: {{query}}"}]
    async with desk(tmp_path, answers).open() as app:
        session_id = str((await waiting(app)).session_id)
        await resume_session(app, session_id=session_id, prompt="And be quick.")
        told = await resume_session(app, session_id=session_id, prompt="x" * 5000)
        shown = await inspect_session(app, session_id=session_id)
        await complete_call(app, token=told.pending_calls[0].token, result="done")
        ended = await resume_session(app, session_id=session_id)
    assert told.queued_prompts == shown.queued_prompts
    assert (told.queued_prompts[0], told.queued_prompts[1]["bytes"]) == ("And be quick.", 5002)
    assert ended.queued_prompts == []
    assert str(ended.answer).startswith("Heard: And be quick.")
