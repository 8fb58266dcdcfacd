"""New sessions."""

from pathlib import Path

import pytest

from tests.wf_mcp.execution.sessions.workplace import ME, agent, resumed, saying
from tests.wf_mcp.scripted import ScriptedSource, opened
from wf_artifacts.errors import SessionExists
from wf_core.ids import session_id
from wf_mcp.execution.sessions.creating import store_new

pytestmark = pytest.mark.anyio


async def test_a_new_session_is_stored_as_it_is_held_and_can_be_gone_on_with(tmp_path: Path) -> None:
    async with opened(ScriptedSource()) as app:
        named, snapshot = session_id(app.clock.now(), 1), agent(tmp_path, [saying("Done.")])
        held = await store_new(app.sessions.means, named, snapshot, "Go.", principal=ME, auto=True)
        assert await app.stores.sessions.load_record(named) == held.record
        assert (held.record.status, held.record.auto, held.is_stored) == ("ready", True, True)
        await held.leave()
        with pytest.raises(SessionExists):
            await store_new(app.sessions.means, named, snapshot, "Go again.", principal=ME, auto=False)
        assert (await resumed(app, named)).record.answer == "Done."
