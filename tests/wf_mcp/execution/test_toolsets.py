"""Which capabilities an agent's patterns mean, and what a model calls them."""

import re
from collections.abc import Mapping

import anyio
import pytest

from tests.wf_mcp.scripted import ScriptedSource, echo, opened
from wf_artifacts.sources.models import Capability
from wf_core.calls.contract import Contract
from wf_core.sessions.models import ToolDefinition
from wf_core.validation import Issue
from wf_mcp.execution.toolsets import resolve_tools, tool_names

pytestmark = pytest.mark.anyio


def offers(source: str, *names: str, **more: object) -> ScriptedSource:
    return ScriptedSource(source, acts=dict.fromkeys(names, echo), **more)  # type: ignore[arg-type]


async def resolve(*sources: ScriptedSource, patterns: list[str]) -> tuple[tuple[ToolDefinition, ...], list[Issue]]:
    async with opened(*sources) as app:
        return await resolve_tools(app.registry, patterns, seconds=2)


async def names(*sources: ScriptedSource, patterns: list[str]) -> dict[str, str]:
    tools, issues = await resolve(*sources, patterns=patterns)
    assert issues == []
    return {tool.name: tool.capability for tool in tools}


async def test_tools_stand_in_the_order_of_their_patterns_each_once() -> None:
    files, ops = offers("files", "write", "read"), offers("ops", "word_count")
    assert list(await names(files, ops, patterns=["ops.word_count", "files.*", "files.read"])) == [
        "word_count", "read", "write",
    ]  # fmt: skip


async def test_a_name_that_two_sources_have_is_told_apart_by_the_source() -> None:
    one, other = offers("my.files", "read", "list"), offers("ops", "read")
    assert await names(one, other, patterns=["my.files.*", "ops.*"]) == {
        "list": "my.files.list", "my_files_read": "my.files.read", "ops_read": "ops.read",
    }  # fmt: skip


async def test_of_two_sources_the_longest_name_owns_a_capability() -> None:
    short, long = offers("a", "b.c"), offers("a.b", "c")
    assert await names(short, long, patterns=["a.b.c"]) == {"c": "a.b.c"}
    assert short.asked == 0


async def test_a_pattern_connects_only_what_it_may_mean() -> None:
    files, ops = offers("files", "read"), offers("ops", "word_count")
    await names(files, ops, patterns=["files.r*"])
    assert ops.asked == 0


async def test_what_is_built_in_is_meant_only_by_its_name() -> None:
    inner = offers("agents", "other", kind="agents")
    assert await names(offers("ops", "word_count"), inner, patterns=["*"]) == {"word_count": "ops.word_count"}
    assert await names(inner, patterns=["wf.std.now", "agents.*"]) == {"now": "wf.std.now", "other": "agents.other"}


async def test_a_tool_is_pinned_with_its_contract() -> None:
    source = offers("ops", "word_count")
    source.contracts = {"word_count": Contract(input_schema={"type": "object"}, outcomes=("ok", "empty"))}
    (tool,), _ = await resolve(source, patterns=["ops.*"])
    assert (tool.source, tool.input_schema, tool.outcomes) == ("ops", {"type": "object"}, ("ok", "empty"))
    assert tool.digest
    assert not tool.repeatable


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [("ops.word_cont", "`ops.word_count`"), ("ops.x*", "`ops.word_count`"), ("opps.*", "`ops.*`")],
)
async def test_a_pattern_that_means_nothing_says_what_there_is(pattern: str, hint: str) -> None:
    tools, (issue,) = await resolve(offers("ops", "word_count"), patterns=["ops.*", pattern])
    assert len(tools) == 1
    assert (issue.severity, issue.code, issue.path) == ("error", "capability_not_found", "/tools/1")
    assert hint in str(issue.hint)


async def test_a_source_that_is_switched_off_is_an_error_only_where_it_is_named() -> None:
    off, ops = offers("files", "read", enabled=False), offers("ops", "word_count")
    _, issues = await resolve(off, ops, patterns=["*", "files.*", "files.read"])
    assert [(issue.code, issue.path) for issue in issues] == [
        ("source_disabled", "/tools/1"), ("source_disabled", "/tools/2"),
    ]  # fmt: skip


class SilentSource(ScriptedSource):
    """A source that never says what it offers."""

    async def capabilities(self) -> Mapping[str, Capability]:
        await anyio.sleep_forever()
        return {}


async def test_a_source_that_says_nothing_is_not_waited_for_for_ever() -> None:
    async with opened(SilentSource("files")) as app:
        _, (issue,) = await resolve_tools(app.registry, ["files.read"], seconds=0.05)
    assert issue.code == "source_unavailable"


def test_every_name_is_one_that_vendors_take_and_none_is_given_twice() -> None:
    pairs = [
        ("a", "read it!"), ("a", "read.it."), ("a_b", "c"), ("a", "b_c"), ("a.b", "c"), ("x", "c"), ("ops", "9 lives"),
        ("ops", "L" * 100), ("ops", "L" * 101), ("ops", "Grüße"), ("ops", "-x"),
    ]  # fmt: skip
    offered = [Capability(source, name, "", "", Contract(), "d") for source, name in pairs]
    given = tool_names(offered)
    assert len(set(given)) == len(pairs)
    assert [name for name in given if not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}", name)] == []
    assert tool_names(offered) == given
