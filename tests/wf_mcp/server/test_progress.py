"""Progress while a request waits for a run."""

from pathlib import Path
from typing import Any

import pytest

from tests.wf_mcp.server.connected import ASK, Era, connected

pytestmark = pytest.mark.anyio


async def test_progress_is_told_from_the_first_step_on(tmp_path: Path, era: Era) -> None:
    told: list[tuple[float, str | None]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    async with connected(tmp_path, era) as server:
        deployment = await server.deploy(ASK)
        arguments: dict[str, Any] = {"deployment_id": deployment}
        await server.client.call_tool("run_deployment", arguments, progress_callback=listen)

    assert told
    assert "note" in (told[0][1] or "")
    assert [progress for progress, _ in told] == sorted(progress for progress, _ in told)
