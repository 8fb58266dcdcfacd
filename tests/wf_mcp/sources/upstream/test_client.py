"""Asking an upstream server what it offers, and calling it."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.wf_mcp.sources.upstream.conftest import HttpServer, Open, raw_server, sdk_server
from wf_core import CallContext
from wf_core.jsonvalue import JsonValue
from wf_mcp.config import McpServer
from wf_mcp.sources.errors import CallFailed
from wf_mcp.sources.protocol import CallResult
from wf_mcp.sources.upstream import UpstreamSource, connection

pytestmark = pytest.mark.anyio


async def failure(source: UpstreamSource, context: CallContext, tool: str, **input: Any) -> CallFailed:
    with pytest.raises(CallFailed) as failed:
        await source.call(tool, input, context)
    return failed.value


async def test_every_page_of_tools_is_offered_and_unusable_ones_are_told(open_source: Open) -> None:
    async with open_source(raw_server()) as source:
        offered = await source.capabilities()

        assert list(offered) == ["echo", "tell", "die", "hang", "fail", "raw", "grow", "write", "promise", "judged"]
        assert [diagnostic.message.partition(":")[0] for diagnostic in source.status().diagnostics] == [
            "up.remote is not offered"
        ]


async def test_results_are_what_the_server_said(open_source: Open, context: CallContext) -> None:
    async with open_source(raw_server()) as source:
        value: JsonValue = {"n": 2**70, "f": 1.0, "s": "ä\u0000", "none": None, "secret": "sesame-street"}
        echoed = await source.call("echo", {"value": value}, context)
        assert echoed == CallResult("ok", {"value": {**value, "secret": "[redacted]"}})
        text: JsonValue = {"type": "text", "text": "one"}
        assert (await source.call("raw", {"content": [text, text]}, context)).output == {
            "content": [text, text],
            "text": "one\none",
        }
        failed = await source.call("raw", {"content": [text], "isError": True, "structuredContent": {}}, context)
        assert failed == CallResult("error", {"message": "one", "content": [text]})


@pytest.mark.parametrize(
    ("code", "executed"), [(-32602, False), (-32601, False), (-32603, True), (-32000, True), (17, True)]
)
async def test_an_error_answer_says_whether_the_call_was_refused_before_it_began(
    code: int, executed: bool, open_source: Open, context: CallContext
) -> None:
    async with open_source(raw_server()) as source:
        failed = await failure(source, context, "fail", code=code, message="no sesame-street at /etc/passwd")

        assert failed.executed is executed
        assert "sesame" not in failed.message
        assert "/etc" not in failed.message


async def test_an_answer_that_is_no_result_is_output_invalid(open_source: Open, context: CallContext) -> None:
    async with open_source(raw_server()) as source:
        failed = await failure(source, context, "raw", content="sesame-street")

        assert (failed.code, failed.executed) == ("output_invalid", True)
        assert "sesame" not in str(failed)


@pytest.mark.parametrize(
    "answer",
    [
        '{"jsonrpc": "2.0", "id": ID, "result": {"content": [], "x": "\\ud800"}}',
        '{"jsonrpc": "2.0", "id": ID, "result": {"content": [], "x": ' + "1" * 5000 + "}}",
        '{"jsonrpc": "2.0", "id": ID, "result": {"content": [], "x": ' + "[" * 400 + "]" * 400 + "}}",
        '{"jsonrpc": "2.0", "id": ID, "result": []}',
        '{"jsonrpc": "2.0", "id": ID, "result": {"content": [], "x": "\xff"}}',
    ],
    ids=["surrogate", "digits", "levels", "shape", "bytes"],
)
async def test_an_answer_that_cannot_be_read_ends_its_call_alone(
    answer: str, open_source: Open, context: CallContext
) -> None:
    others: list[CallFailed] = []

    async def wait(source: UpstreamSource) -> None:
        others.append(await failure(source, context, "hang"))

    async with open_source(raw_server()) as source, anyio.create_task_group() as tasks:
        pid = await source.call("tell", {"what": "pid"}, context)
        tasks.start_soon(wait, source)
        failed = await failure(source, context, "write", line=answer)

        assert (failed.code, failed.executed) == ("output_invalid", True)
        assert (await source.call("tell", {"what": "pid"}, context), others) == (pid, [])
        tasks.cancel_scope.cancel()


async def test_an_answer_of_which_half_is_missing_ends_the_calls_that_wait(
    open_source: Open, context: CallContext
) -> None:
    """It does not say which of them it answers."""
    async with open_source(raw_server()) as source:
        failed = await failure(source, context, "write", line='{"jsonrpc": "2.0", "id": ID, "resu')

        assert (failed.code, failed.executed) == ("connection_lost", True)
        assert (await source.call("echo", {"value": 1}, context)).output == {"value": 1}


async def test_a_little_noise_on_stdout_ends_nothing(open_source: Open, context: CallContext) -> None:
    async with open_source(raw_server()) as source:
        noise = 'Welcome!\n{not json\n{"level": "info"}\n[1]\n{"jsonrpc": "2.0", "id": ID, "result": {"content": []}}'
        assert (await source.call("write", {"line": noise}, context)).outcome == "ok"


async def test_no_engine_but_ours_judges_what_a_tool_answered(open_source: Open, context: CallContext) -> None:
    """The SDK's own check would backtrack without end."""
    schema = json.dumps({"properties": {"value": {"pattern": "^(a+)+$"}}})
    async with open_source(raw_server(f"schema={schema}")) as source:
        value = "a" * 40 + "!"
        assert await source.call("judged", {"value": value}, context) == CallResult("ok", {"value": value})


async def test_a_tool_whose_schema_loops_is_not_called(open_source: Open, context: CallContext) -> None:
    """The SDK's own check would recurse without end, after the call."""
    schema = json.dumps({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"})
    async with open_source(raw_server(f"schema={schema}")) as source:
        failed = await failure(source, context, "judged")

        assert (failed.code, failed.executed) == ("capability_not_found", False)


async def test_structured_content_that_was_declared_and_is_missing_is_output_invalid(
    open_source: Open, context: CallContext
) -> None:
    async with open_source(raw_server()) as source:
        failed = await failure(source, context, "promise")

        assert (failed.code, failed.executed) == ("output_invalid", True)


async def test_a_tool_that_is_not_listed_is_not_called(open_source: Open, context: CallContext) -> None:
    async with open_source(raw_server()) as source:
        failed = await failure(source, context, "echos")

        assert (failed.code, failed.executed) == ("capability_not_found", False)
        assert failed.details["close_matches"] == ["up.echo"]


async def test_a_server_that_says_its_tools_changed_is_asked_again(open_source: Open, context: CallContext) -> None:
    async with open_source(raw_server()) as source:
        await source.call("grow", {}, context)

        assert "late" in await source.capabilities()


async def test_an_old_listing_is_asked_for_again(
    open_source: Open, context: CallContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that restarted behind its URL says nothing of it."""
    monkeypatch.setattr(connection, "LISTING_SECONDS", 0)
    async with open_source(raw_server()) as source:
        before = await source.capabilities()
        await source.call("grow", {}, context)
        assert len(await source.capabilities()) == len(before) + 1


async def test_who_asks_what_is_offered_now_is_not_told_what_was(open_source: Open, context: CallContext) -> None:
    """A server may change its tools without a word, and then be called under a contract that is gone."""
    async with open_source(raw_server()) as source:
        await source.call("grow", {"silently": True}, context)

        assert "late" not in await source.capabilities()
        assert "late" in await source.capabilities_since(anyio.current_time())


async def test_many_who_ask_at_once_what_is_offered_now_share_a_listing(
    open_source: Open, context: CallContext
) -> None:
    async with open_source(raw_server()) as source:
        await source.capabilities()
        async with anyio.create_task_group() as tasks:
            for _ in range(50):
                tasks.start_soon(source.capabilities_since, anyio.current_time())

        asked = await source.call("tell", {"what": "asked"}, context)
        assert asked.output == {"content": [{"type": "text", "text": "2"}], "text": "2"}


async def test_a_change_that_is_told_while_the_tools_are_listed_is_not_missed(
    open_source: Open, context: CallContext
) -> None:
    async with open_source(raw_server("grows")) as source:
        await source.capabilities()

        assert "late" in await source.capabilities()


async def test_a_death_in_the_middle_of_a_call_leaves_open_what_happened_and_the_next_call_works(
    open_source: Open, context: CallContext
) -> None:
    async with open_source(raw_server()) as source:
        first = await source.call("tell", {"what": "pid"}, context)
        failed = await failure(source, context, "die")

        assert (failed.code, failed.executed) == ("connection_lost", True)
        assert (await source.call("tell", {"what": "pid"}, context)).output != first.output


async def test_a_server_that_died_while_nobody_called_is_started_again_by_the_next_call(
    open_source: Open, context: CallContext
) -> None:
    async with open_source(raw_server()) as source:
        pid = await source.call("tell", {"what": "pid"}, context)
        assert isinstance(pid.output, dict)
        os.kill(int(str(pid.output["text"])), signal.SIGKILL)
        while source.status().state == "ready":
            await anyio.lowlevel.checkpoint()

        assert (await source.call("tell", {"what": "pid"}, context)).output != pid.output
        assert source.status().state == "ready"


async def test_cancelling_a_call_reaches_the_server_and_leaves_the_connection(
    open_source: Open, context: CallContext, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    said: list[str] = []

    async with open_source(raw_server()) as source:
        pid = await source.call("tell", {"what": "pid"}, context)
        await cancel_when_begun(source, context, caplog)
        assert await source.call("tell", {"what": "pid"}, context) == pid
    said = [record.getMessage() for record in caplog.records]
    assert "up: hang ends" in said


async def cancel_when_begun(source: UpstreamSource, context: CallContext, caplog: pytest.LogCaptureFixture) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(source.call, "hang", dict[str, Any](), context)
        while "up: hang begins" not in caplog.messages:
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()


async def test_calls_at_the_same_time_get_their_own_results(open_source: Open, context: CallContext) -> None:
    results: dict[int, CallResult] = {}

    async with open_source(raw_server()) as source:

        async def call(n: int) -> None:
            results[n] = await source.call("echo", {"value": n}, context)

        async with anyio.create_task_group() as tasks:
            for n in range(20):
                tasks.start_soon(call, n)

    assert {n: result.output for n, result in results.items()} == {n: {"value": n} for n in range(20)}


async def test_the_modern_era_works_over_stdio(open_source: Open, context: CallContext, tmp_path: Path) -> None:
    async with open_source(sdk_server("--calls", str(tmp_path / "calls"))) as source:
        assert (await source.call("add", {"a": 1, "b": 2}, context)).output == {"sum": 3}
        assert (await failure(source, context, "die")).executed
        assert (await source.call("add", {"a": 3, "b": 4}, context)).output == {"sum": 7}
        refused = await source.call("refuse", {"reason": "not today"}, context)
        assert refused.outcome == "error"

    assert (tmp_path / "calls").read_text().splitlines() == ["add 1 2", "die", "add 3 4"]


@pytest.mark.parametrize("era", [[], ["--legacy"]])
async def test_both_eras_work_over_http_with_headers_and_over_restarts(
    era: list[str], open_source: Open, context: CallContext, http_server: HttpServer
) -> None:
    http_server.start(*era)
    server = McpServer(url=http_server.url, headers={"Authorization": "Bearer ${KEY}", "X-Team": "blue"})
    async with open_source(server, KEY="k-1234") as source:
        assert (await source.call("header", {"name": "x-team"}, context)).output == text_output("blue")
        assert (await source.call("header", {"name": "authorization"}, context)).output == text_output("Bearer k-1234")

        http_server.start(*era)
        assert (await source.call("add", {"a": 1, "b": 2}, context)).output == {"sum": 3}

        failed = await failure(source, context, "die")
        assert (failed.code, failed.executed) == ("connection_lost", True)
        http_server.start(*era)
        assert (await source.call("add", {"a": 3, "b": 4}, context)).output == {"sum": 7}


def text_output(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "text": text}


async def test_a_call_that_never_left_has_not_executed_and_takes_no_other_call_along(
    open_source: Open, context: CallContext, http_server: HttpServer, tmp_path: Path
) -> None:
    calls = tmp_path / "calls"
    http_server.start("--calls", str(calls))
    async with open_source(McpServer(url=http_server.url)) as source:
        await source.capabilities()
        http_server.close()

        failed = await failure(source, context, "add", a=1, b=2)

        assert (failed.code, failed.executed) == ("source_unavailable", False)
    assert not calls.exists()
