"""A Python module as a source."""

import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import pytest

from wf_core import CallContext
from wf_mcp.config import PythonModule, Redactor
from wf_mcp.sources.errors import CallFailed, SourceUnavailable
from wf_mcp.sources.python import PythonSource

pytestmark = pytest.mark.anyio

Open = Callable[..., PythonSource]

OPS = """
from __future__ import annotations
from typing import Optional, TypedDict
from wf_core import CallContext, capability

class Found(TypedDict, total=False):
    name: str

@capability(read_only=True)
def find(name: str, ctx: CallContext, tag: Optional[str] = None) -> Found:
    print("looking")
    return {"name": name}
"""


@pytest.fixture
async def open_source(tmp_path: Path, redactor: Redactor) -> AsyncIterator[Open]:
    """Give a function that writes `ops.py` and opens it as the source `ops`."""
    opened: list[PythonSource] = []

    def open_source(text: str | None = OPS, **settings: object) -> PythonSource:
        if text is not None:
            (tmp_path / "ops.py").write_text(text)
        record = PythonModule.model_validate({"module": "ops", **settings})
        opened.append(PythonSource("ops", record, tmp_path, redactor, {"FOLDER": "."}))
        return opened[-1]

    yield open_source
    for source in opened:
        await source.close()


async def test_hints_written_as_text_are_read(open_source: Open, context: CallContext) -> None:
    source = open_source()
    find = (await source.capabilities())["find"]

    assert find.contract.input_schema == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "tag": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        },
        "required": ["name"],
        "additionalProperties": False,
    }
    assert (await source.call("find", {"name": "Ada"}, context)).output == {"name": "Ada"}


async def test_nothing_is_imported_before_the_first_use_and_only_once(open_source: Open, tmp_path: Path) -> None:
    text = "import wf_core, pathlib\nwith (pathlib.Path(__file__).parent / 'log').open('a') as log: log.write('x')"
    source = open_source(text)
    assert (source.status().state, source.status().capability_count) == ("idle", None)
    assert not (tmp_path / "log").exists()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(source.capabilities)
        tasks.start_soon(source.capabilities)
    await source.capabilities()

    assert (tmp_path / "log").read_text() == "x"
    assert (source.status().state, source.status().capability_count) == ("ready", 0)


async def test_giving_up_the_wait_does_not_import_twice(open_source: Open, tmp_path: Path) -> None:
    text = "import pathlib\nwith (pathlib.Path(__file__).parent / 'log').open('a') as log: log.write('x')"
    source = open_source(text)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await source.capabilities()

    await source.capabilities()

    assert (tmp_path / "log").read_text() == "x"


async def test_an_import_that_hangs_is_not_waited_for_forever(tmp_path: Path, redactor: Redactor) -> None:
    waiting = tmp_path / "waiting"
    os.mkfifo(waiting)
    (tmp_path / "ops.py").write_text(f"with open({str(waiting)!r}) as waiting: waiting.read()")
    source = PythonSource("ops", PythonModule(module="ops"), tmp_path, redactor, {}, import_seconds=0.1)

    with pytest.raises(SourceUnavailable, match=r"still being imported after 0\.1 seconds"):
        await source.capabilities()
    with waiting.open("w"):
        pass

    assert await source.capabilities() == {}
    await source.close()


async def test_an_import_error_disables_the_source_until_the_next_start(
    open_source: Open, context: CallContext, tmp_path: Path
) -> None:
    source = open_source("key = 'sesame-street'\nraise SystemExit(key)")

    with pytest.raises(SourceUnavailable) as unavailable:
        await source.capabilities()
    assert unavailable.value.code == "source_unavailable"
    assert unavailable.value.message == "The source ops cannot be imported: SystemExit: [redacted] (ops.py, line 2)."
    assert source.status().state == "unavailable"
    assert [d.message for d in source.status().diagnostics] == [unavailable.value.message]

    (tmp_path / "ops.py").write_text(OPS)
    with pytest.raises(CallFailed) as failed:
        await source.call("find", {"name": "Ada"}, context)
    assert (failed.value.code, failed.value.executed) == ("source_unavailable", False)
    assert "find" in await open_source(None).capabilities()


async def test_the_folder_counts_from_the_configuration(open_source: Open, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "ops.py").write_text(OPS)

    assert "find" in await open_source(None, path="below").capabilities()
    assert "find" in await open_source(OPS, path="${FOLDER}").capabilities()
    assert "find" in await open_source(None, path=str(tmp_path / "below")).capabilities()


async def test_a_source_that_is_switched_off_or_lacks_a_variable_is_not_imported(
    open_source: Open, context: CallContext
) -> None:
    off, lacking = open_source("1 / 0", enabled=False), open_source(None, path="${NO_SUCH}")

    with pytest.raises(SourceUnavailable) as refused:
        await off.capabilities()
    assert refused.value.code == "source_disabled"
    assert (off.status().state, off.status().diagnostics[0].severity) == ("disabled", "warning")
    with pytest.raises(CallFailed, match="NO_SUCH"):
        await lacking.call("find", {}, context)
    assert (lacking.status().state, lacking.status().diagnostics[0].severity) == ("unavailable", "error")


async def test_an_unknown_capability_is_not_executed(open_source: Open, context: CallContext) -> None:
    with pytest.raises(CallFailed, match=r"no capability 'ops\.fund'") as failed:
        await open_source().call("fund", {}, context)

    assert (failed.value.code, failed.value.executed) == ("capability_not_found", False)
    assert failed.value.details["close_matches"] == ["ops.find"]
