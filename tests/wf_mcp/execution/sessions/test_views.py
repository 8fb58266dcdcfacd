"""A session as it is shown."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.wf_mcp.execution.sessions.workplace import agent, calling, delivered, resumed, saying, started
from tests.wf_mcp.scripted import ScriptedSource, opened
from wf_artifacts.calls.models import Continuation, ContinuationKind, Waiting
from wf_artifacts.storage.documents import Format
from wf_artifacts.stores import open_stores
from wf_core.errors import StateCorrupt
from wf_core.ids import SessionId
from wf_mcp.app import App
from wf_mcp.execution.sessions.views import PendingCall

pytestmark = pytest.mark.anyio

RULES: dict[str, Any] = {
    "echo": {"tag": "defer", "reason": "external worker", "expiresSeconds": 60},
    "ask": {"tag": "defer", "reason": "it writes", "approval": True},
}


async def test_what_waits_is_shown_the_same_after_a_restart(tmp_path: Path) -> None:
    """A21, B26: calls that look the same have tokens of their own."""
    ops = ScriptedSource(acts=dict.fromkeys(["echo", "ask"], ScriptedSource().acts["echo"]))
    address = f"file://{tmp_path / 'home'}"
    async with opened(ops, stores=open_stores(address)) as app:
        session = await started(app, agent(tmp_path, [calling("echo", "ask", "echo")], "echo", "ask", rules=RULES))
        before = (await resumed(app, session)).pending
    async with opened(ops, stores=open_stores(address)) as app:
        assert (await app.sessions.view(session)).pending == before
    assert len({call.token for call in before}) == 3
    assert [(call.kind, call.rule, call.reason) for call in before] == [
        ("deferred", "echo", "external worker"),
        ("approval", "ask", "it writes"),
        ("deferred", "echo", "external worker"),
    ]
    assert [None if call.expires_at is None else (call.expires_at - call.since).seconds for call in before] == [
        60,
        None,
        60,
    ]


async def test_many_calls_are_looked_at_together_and_those_that_cannot_be_found_so_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    async with opened(ScriptedSource()) as app:
        session = await started(app, agent(tmp_path, [calling(*["echo"] * 20)], "echo", rules=RULES))
        before = (await resumed(app, session)).pending
        continuations = app.stores.continuations
        load, of_session = continuations.load, continuations.of_session

        async def one(token: str, **named: Any) -> Waiting:
            looks.append(token)
            return await load(token, **named)

        async def all_but_one(session_id: str, **named: Any) -> list[Waiting]:
            looks.append(session_id)
            return [found for found in await of_session(session_id, **named) if found.token != before[3].token]

        async def damaged(session_id: str, **_: Any) -> list[Waiting]:
            raise StateCorrupt(session_id)

        monkeypatch.setattr(continuations, "load", one)
        assert (await app.sessions.view(session)).pending == before
        assert looks == []
        monkeypatch.setattr(continuations, "of_session", all_but_one)
        assert (await app.sessions.view(session)).pending == before
        assert looks == [session, before[3].token]
        monkeypatch.setattr(continuations, "of_session", damaged)
        assert (await app.sessions.view(session)).pending == before
        assert looks[2:] == [call.token for call in before]


async def test_the_first_calls_that_wait_are_shown_without_the_others(tmp_path: Path) -> None:
    async with opened(ScriptedSource()) as app:
        session = await started(app, agent(tmp_path, [calling(*["echo"] * 9)], "echo", rules=RULES))
        everything = (await resumed(app, session)).pending
        for call in everything[:2]:
            await delivered(app, call.token, "there")
        few = await app.sessions.view(session, most=3)
        assert (few.pending, few.more) == (everything[2:5], True)
        most = await app.sessions.view(session, most=7)
        assert most.pending == everything[2:]
        whole = await app.sessions.view(session)
        assert (whole.pending, whole.more) == (everything[2:], False)


@pytest.mark.parametrize("store", ["file", "sqlite"])
async def test_a_delivery_reads_no_more_where_many_calls_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: str
) -> None:
    """Of 60 calls that wait, what one delivery needs is read, as of 25."""
    decode, documents = Format[Any].decode, list[str]()

    def note(self: Format[Any], data: bytes, document: str, **identity: object) -> Any:
        documents.append(document)
        return decode(self, data, document, **identity)

    async def read_for_a_delivery(folder: Path, many: int) -> int:
        helper = agent(folder, [calling(*["echo"] * many)], "echo", rules=RULES)
        address = f"sqlite:///{folder}/wf.db" if store == "sqlite" else f"file://{folder}/home"
        async with opened(ScriptedSource(), stores=open_stores(address)) as app:
            session = await started(app, helper, auto=True)
            first, second, *_ = (await resumed(app, session)).pending
            for call in (first, second):
                documents.clear()
                await delivered(app, call.token, "there")
                await app.sessions.view(session, most=5)
                await resumed_to_rest(app, session)
            return len([document for document in documents if document.startswith("calls/")])

    monkeypatch.setattr(Format, "decode", note)
    few, many = [await read_for_a_delivery(tmp_path / str(number), number) for number in (25, 60)]
    assert many <= few + 1


async def resumed_to_rest(app: App, session: SessionId) -> None:
    await app.sessions.wait(await app.sessions.resume(session))


async def test_what_the_model_cost_is_summed_up(tmp_path: Path) -> None:
    spent = {"usage": {"inputTokens": 10, "outputTokens": 2}}
    async with opened(ScriptedSource()) as app:
        session = await started(app, agent(tmp_path, [calling("echo") | spent, saying("Done.") | spent], "echo"))
        usage = (await resumed(app, session)).usage
    assert (usage.input_tokens, usage.output_tokens) == (20, 4)


@pytest.mark.parametrize(
    ("kind", "state"), [("in_doubt", "in_doubt"), ("approval", "deferred"), ("callee", "deferred")]
)
def test_a_call_is_in_doubt_where_a_word_of_what_became_of_it_is_wanted(kind: ContinuationKind, state: str) -> None:
    kept = Continuation(
        token="call_x", session_id="sess_1", principal="local", call_id="t2.0", name="pay", arguments={}, kind=kind,
        created_at=datetime(2026, 11, 30, tzinfo=UTC),
    )  # fmt: skip
    told = PendingCall.of(kept)
    assert (told.state, told.kind, told.disposition, told.since) == (state, kind, None, kept.created_at)
