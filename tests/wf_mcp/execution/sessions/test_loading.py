"""Sessions that are read, and those that are remembered."""

from pathlib import Path

import pytest

from tests.wf_mcp.execution.sessions.workplace import ME, agent, saying, started
from tests.wf_mcp.scripted import opened
from wf_artifacts.errors import SessionBusy, SessionNotFound
from wf_core.codec.sessions import dump_session
from wf_core.sessions import answer
from wf_mcp.execution.sessions.loading import Sessions

pytestmark = pytest.mark.anyio


async def test_a_session_is_remembered_until_somebody_else_advances_it(tmp_path: Path) -> None:
    async with opened() as app:
        session = await started(app, agent(tmp_path, [saying("Hello.")]))
        here, elsewhere = Sessions(app.sessions.means), Sessions(app.sessions.means)
        held, anew = await here.hold(session)
        assert anew
        await held.leave()
        here.remember(held)
        again, anew = await here.hold(session)
        assert (again.session is held.session, anew) == (True, False)
        await again.leave()
        here.remember(again)
        other, _ = await elsewhere.hold(session)
        answer(other.session, "Hello.")
        await other.rest()
        await other.leave()
        fresh, anew = await here.hold(session)
        assert anew
        assert dump_session(fresh.session) == dump_session(other.session)


async def test_who_cannot_have_a_session_takes_no_claim(tmp_path: Path) -> None:
    async with opened() as app:
        session = await started(app, agent(tmp_path, [saying("Hello.")]))
        sessions = Sessions(app.sessions.means)
        with pytest.raises(SessionNotFound):
            await sessions.hold(session, principal="mallory")
        held, _ = await sessions.hold(session, principal=ME)
        with pytest.raises(SessionBusy):
            await sessions.hold(session)
        record, seen = await sessions.read(session, principal=ME)
        assert (record, dump_session(seen)) == (held.record, dump_session(held.session))


async def test_no_more_is_remembered_than_there_is_room_for(tmp_path: Path) -> None:
    async with opened() as app:
        sessions = Sessions(app.sessions.means, most=2)
        made = [await started(app, agent(tmp_path, [saying("Hello.")])) for _ in range(3)]
        for session in made:
            held, _ = await sessions.hold(session)
            await held.leave()
            sessions.remember(held)
        assert [(await sessions.hold(session))[1] for session in made] == [True, False, False]


async def test_a_session_that_is_too_large_is_not_remembered(tmp_path: Path) -> None:
    async with opened() as app:
        sessions = Sessions(app.sessions.means, most_bytes=1)
        session = await started(app, agent(tmp_path, [saying("Hello.")]))
        held, _ = await sessions.hold(session)
        await held.leave()
        sessions.remember(held)
        assert (await sessions.hold(session))[1]
