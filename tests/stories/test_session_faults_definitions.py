"""Faults of section G, and those of A and C that are about definitions: they changed while a session was stopped.

Each test is named after a fault that users of other programs reported; its docstring has the number in our list and the
address. That each stored format of the past is read (G73, https://github.com/langchain-ai/langgraph/issues/4183) is
told by the golden files in `tests/wf_core/codec`.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.stories.desk import AT_ONCE, DEFER, SUMMARY, Desk, begin, calling, resume, tokens
from tests.stories.workplace import Workplace

pytestmark = pytest.mark.anyio

Office = Callable[..., Desk]

MANY = 10
"""Sessions of each version of an agent."""


async def test_an_agent_or_a_tool_that_is_renamed_while_a_session_waits_blocks_it_and_is_named(tmp_path: Path) -> None:
    """A14, https://github.com/openai/openai-agents-python/pull/4264: what waits for an approval vanishes in silence.

    C40, https://github.com/dbos-inc/dbos-transact-golang/issues/174: a changed definition is never gone on with.
    """
    desk = Desk(tmp_path, [calling("ask", "far", "away", "write"), SUMMARY])
    agent, tools = tmp_path / "helper.agent.json", tmp_path / "tools.py"
    async with desk.server() as server:
        waiting = await begin(server)
        name = {"session_id": waiting["session_id"]}

        async def blocked(*names: str) -> None:
            told = await server.call("inspect_session", **name)
            assert (told["status"], told["pending_calls"]) == ("blocked", waiting["pending_calls"])
            assert len(told["diagnostics"]) == len(names)
            for diagnostic, named in zip(told["diagnostics"], names, strict=True):
                assert named in diagnostic["message"]
            refused = await server.refuse("resume_session", **name, prompt="Go on.")
            assert (refused["code"], refused["details"]["diagnostics"] != []) == ("session_blocked", True)
            assert [row["session_id"] for row in (await server.call("list_sessions"))["sessions"]] == [*name.values()]

        as_it_was = agent.read_text()
        agent.write_text(as_it_was.replace('"helper"', '"aide"'))
        await blocked("helper")
        agent.write_text(as_it_was)
        assert (await server.call("inspect_session", **name))["status"] == "waiting"
        server.kill()
    as_it_was = tools.read_text()
    tools.write_text(
        as_it_was.replace("def far(what: str", "def distant(what: str").replace("def away(what:", "def away(it:")
    )
    async with desk.server() as server:
        await blocked("tools.away", "tools.far")
        server.kill()
    tools.write_text(as_it_was)
    async with desk.server() as server:
        for call in ("far", "away", "ask"):
            word = {"token": tokens(waiting)[call], "error": "No."}
            await server.call("fail_call", **word) if call != "ask" else desk.wf("session", "fail", word["token"])
        told = await resume(server, **name)
    assert (told["status"], desk.noted) == ("answered", ["write"])


async def test_a_session_goes_on_as_it_was_pinned_and_twice_over_two_copies_with_the_same_bytes(tmp_path: Path) -> None:
    """G71, https://github.com/langchain-ai/docs/pull/3843: the newest definition is applied to what is stopped."""
    desk = Desk(tmp_path / "first", [calling("write", "far"), calling(("mail", "{{results}}")), SUMMARY])
    waiting = desk.wf("agent", "run", "helper", "--prompt", "Go.", status=3)
    places = [desk.place]
    for name in ("second", "edited"):
        shutil.copytree(tmp_path / "first", tmp_path / name)
        places.append(Workplace(tmp_path / name))
    edit(tmp_path / "edited" / "helper.agent.json")
    ends: list[tuple[str, bytes]] = []
    for place in places:
        async with place.server() as server:
            await server.call("complete_call", token=tokens(waiting)["far"], result={"type": "json", "content": [1.0]})
            told = await resume(server, waiting["session_id"])
        assert told["status"] == "answered"
        ends.append((told["answer"], made_of(place, waiting["session_id"])))
        assert (place.folder / "noted").read_text().splitlines()[0] == "write"
    assert ends == [ends[0]] * 3


def edit(file: Path) -> None:
    """Make another agent of the same name: other words, other tools, other rules."""
    agent: dict[str, Any] = json.loads(file.read_text())
    rules = [{"tool": "*", "disposition": {"tag": "defer", "reason": "never"}}]
    edited = {
        "systemPrompt": "Refuse.",
        "tools": ["tools.look"],
        "maxTurns": 1,
        "toolCallPolicyConfig": {"rules": rules},
    }
    file.write_text(json.dumps({**agent, **edited}))


def made_of(place: Workplace, session_id: str) -> bytes:
    """Read everything that is kept of a session but its record and its deliveries, which hold times."""
    folder = place.home / "sessions" / session_id
    return (folder / "header.json").read_bytes() + (folder / "events.jsonl").read_bytes()


async def test_sessions_of_the_old_and_of_the_new_version_end_each_on_their_own(office: Office) -> None:
    """G72, https://github.com/unkeyed/unkey/issues/4979: a deploy breaks everything that is in flight."""
    old = office([calling("far", "away"), SUMMARY], {"far": DEFER, "away": AT_ONCE})
    async with old.server() as server:
        waiting = [await begin(server) for _ in range(MANY)]
        new = office([calling("away", "far"), {"text": "New:\n{{results}}"}], {"far": AT_ONCE, "away": DEFER})
        waiting += [await begin(server) for _ in range(MANY)]
        for told in waiting:
            [token] = tokens(told).values()
            await server.call("complete_call", token=token, result="from outside")
        answers = [(await resume(server, told["session_id"]))["answer"] for told in waiting]
    assert answers[:MANY] == ["- far: from outside\n- away: away done"] * MANY
    assert answers[MANY:] == ["New:\n- away: from outside\n- far: far done"] * MANY
    assert new.noted == ["far"] * MANY
