"""The worker that we ship: it serves Python sources to isolated calls, each in a process of its own.

    python -m wf_mcp.isolation.worker --module ops --path .

`--module` is the module of a source, or `source=module` where they differ, and may be repeated; `--path` is the folder
of all of them, or of each in order. One envelope is read from stdin, one is printed to stdout; whatever the module
prints goes to stderr. What the module offers is read as the server reads it, by `wf_mcp.sources.python`.
"""

import argparse
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import anyio

from wf_core.calls.capability import CallContext
from wf_core.calls.contract import CAPABILITY_ERROR, ERROR_OUTCOME
from wf_core.calls.naming import spelled
from wf_core.errors import NotJson, WfError
from wf_core.jsonvalue import JsonValue, dumps, loads
from wf_mcp.config import PythonModule, Redactor
from wf_mcp.sources.errors import CapabilityNotFound
from wf_mcp.sources.protocol import CallFailed, CallResult, effect_of
from wf_mcp.sources.python import PythonSource


def main(arguments: Sequence[str] | None = None) -> None:
    """Answer one call, and end the process."""
    options = _read_options(arguments)
    # Before anything of the user's runs: what it writes to stdout, in whatever way, is no part of the answer.
    answering = os.dup(1)
    os.dup2(2, 1)
    request = _read_request(sys.stdin.buffer.read())
    answer = anyio.run(_answer, options, request)
    with os.fdopen(answering, "wb") as stdout:
        stdout.write(answer)
    sys.stderr.flush()
    # Threads that the module left running would keep the process.
    os._exit(0)


def _read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m wf_mcp.isolation.worker", description="Answer one isolated call.")
    parser.add_argument("--module", action="append", required=True, metavar="[SOURCE=]MODULE")
    parser.add_argument("--path", action="append", metavar="FOLDER", help="default: the working directory")
    parser.add_argument("--capability", metavar="SOURCE.NAME", help="what to call, whatever the tool is named")
    options = parser.parse_args(arguments)
    folders: list[str] = options.path or ["."]
    if len(folders) == 1:
        folders *= len(options.module)
    if len(folders) != len(options.module):
        parser.error("write --path once, or once for each --module")
    options.path = folders
    return options


def _read_request(data: bytes) -> Mapping[str, Any]:
    """Read the envelope. What is none cannot be answered: whose token would it be?"""
    try:
        request = loads(data, "the envelope")
    except NotJson as exc:
        sys.exit(str(exc))
    match request:
        case {"token": str(), "toolCall": {"name": str(), "arguments": _}}:
            return cast("Mapping[str, Any]", request)
        case _:
            sys.exit("The envelope lacks token, toolCall.name or toolCall.arguments.")


async def _answer(options: argparse.Namespace, request: Mapping[str, Any]) -> bytes:
    token = request["token"]
    try:
        result = await _call(options, request)
    except WfError as exc:
        # That nothing was called, where the call itself says nothing.
        effect = "" if isinstance(exc, _Failed) else f" {effect_of(executed=False, read_only=False)}"
        error: dict[str, JsonValue] = {"code": exc.code, "message": f"{exc}{effect}"}
        return dumps({"token": token, "status": "error", "error": error})
    if result.outcome == ERROR_OUTCOME:
        said = dumps(result.output).decode()
        return dumps({"token": token, "status": "error", "error": {"code": CAPABILITY_ERROR, "message": said}})
    return dumps({"token": token, "status": "success", "result": {"type": "json", "content": result.output}})


async def _call(options: argparse.Namespace, request: Mapping[str, Any]) -> CallResult:
    sources = dict(_sources(options.module, options.path))
    offered = [capability for source in sources.values() for capability in (await source.capabilities()).values()]
    names = [(one.source, one.name) for one in offered]
    source, name = _find(options.capability or request["toolCall"]["name"], names)
    arguments = request["toolCall"]["arguments"]
    if not isinstance(arguments, dict):
        raise CallFailed("input_invalid", "The arguments are no object.", executed=False)
    contract = next(one.contract for one in offered if (one.source, one.name) == (source, name))
    try:
        result = await sources[source].call(name, cast("Mapping[str, JsonValue]", arguments), _context(request))
    except CallFailed as failed:
        raise _Failed(failed, read_only=contract.hints.read_only) from failed
    if result.outcome in (ERROR_OUTCOME, contract.outcomes[0]):
        return result
    # As everywhere that a model reads of it: an outcome is named where it is not the usual one.
    return CallResult(result.outcome, {"outcome": result.outcome, "output": result.output})


class _Failed(WfError):
    """A call that failed, and whether it may have had its effect: who reads the answer cannot know it."""

    def __init__(self, failed: CallFailed, *, read_only: bool) -> None:
        super().__init__(f"{failed.message} {effect_of(executed=failed.executed, read_only=read_only)}")
        self.code = failed.code


def _sources(modules: Sequence[str], folders: Sequence[str]) -> Iterable[tuple[str, PythonSource]]:
    for given, folder in zip(modules, folders, strict=True):
        source, _, module = given.rpartition("=")
        name = source or module
        yield name, PythonSource(name, PythonModule(module=module), Path(folder).absolute(), Redactor(), os.environ)


def _find(name: str, offered: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Find what a tool's name means: `source.name`, the name alone, or either as models have to spell it.

    Raises:
        CapabilityNotFound: none of them, or more than one.
    """
    full = [one for one in offered if f"{one[0]}.{one[1]}" == name]
    alike = [one for one in offered if name in {one[1], spelled(one[1]), spelled(f"{one[0]}_{one[1]}")}]
    found = full or alike
    if len(found) != 1:
        raise CapabilityNotFound(name, [f"{source}.{known}" for source, known in found or offered])
    return found[0]


def _context(request: Mapping[str, Any]) -> CallContext:
    snapshot = request.get("contextSnapshot")
    known = cast("dict[str, Any]", snapshot) if isinstance(snapshot, dict) else dict[str, Any]()
    turn = _text(known, "turnId", "turn_id")
    return CallContext(
        run_id=_text(known, "runId", "run_id") or _text(known, "sessionId", "session_id"),
        step_id=turn or request["toolCall"]["name"],
        path=(turn,) if turn else (),
        attempt=1,
        idempotency_key=request["token"],
    )


def _text(known: Mapping[str, Any], *keys: str) -> str:
    return next((known[key] for key in keys if isinstance(known.get(key), str)), "")


if __name__ == "__main__":
    main()
