"""A session in which everything happened once: what the golden file holds."""

from dataclasses import replace

from tests.wf_core.conversations import SEED, agent, call
from wf_core.calls.policy import Decorate, Defer, ToolCall, WithCacheKey, WithLabel, WithRetries, WithTimeout
from wf_core.calls.policy_data import PolicyConfig
from wf_core.calls.results import JsonContent, MediaContent, MixedContent, TextContent, ToolResult, text_result
from wf_core.sessions import (
    Approved,
    Attachment,
    CallerPolicy,
    Delivered,
    Parent,
    Retried,
    Session,
    Usage,
    YieldStrategy,
    answer,
    begin,
    complete,
    defer,
    expire,
    fork,
    hold,
    recover,
    release,
    say,
    token_of,
    wake_session,
)
from wf_core.sessions import start as start_session

DECORATED = Decorate(
    (WithTimeout(30), WithRetries(2), WithCacheKey(), WithCacheKey("mine"), WithLabel("slow")),
    Decorate((), Defer("twice wrapped", expires_seconds=1.5)),
)

CALLERS = (
    CallerPolicy("boss", {"rules": [{"tool": "pay_out", "disposition": {"tag": "defer"}}]}, {"ops.drop": "pay_out"}),
    CallerPolicy("chief", {"default": {"tag": "runSync"}}),
)
"""Whose policies hold beside the agent's own, and demand nothing of its calls here."""

MIXED = ToolResult(
    MixedContent(
        (
            TextContent('{"type": "text", "content": "no form"}'),
            JsonContent({"tag": "RunIsolated", "n": [10**30, 1.0, -0.0, None, True]}),
            MediaContent("image/png", "iVBORw==", "chart.png"),
            MediaContent("audio/wav", "AAAA"),
        )
    )
)


def everything() -> Session:
    """Make every transition."""
    helper = replace(
        agent(),
        yield_strategy=YieldStrategy("yieldOnTimeout", 500),
        call_timeout_seconds=900,
        max_concurrency=4,
        runner={"sandbox": "process", "command": ["./worker.sh"]},
        origin={"config": "helper"},
    )
    picture = Attachment("image/png", "iVBORw==", "chart.png")
    session = start_session(
        id="sess_1",
        seed=SEED,
        agent=helper,
        query="é𝄞\u0000",
        attachments=[picture],
        callers=CALLERS,
        parent=Parent("run", "run_1", "call_p"),
    )
    say(session, "And this.", [replace(picture, filename=None)], joins=True)
    names = ("write", "remote", "pay", "bash", "build", "watch", "nothing", "remote", "count", "remote", "bash")
    answer(session, '{"tag":"RunIsolated"}', [call(name, "same") for name in names], Usage(10, 2))
    begin(session, ["t2.0", "t2.4", "t2.5"])
    for index in (1, 2, 3, 7, 9, 10):
        defer(session, f"t2.{index}", reason="external worker", token="run_token" if index == 9 else None)
    recover(session)
    begin(session, ["t2.5"])
    say(session, "Hurry.")
    release(session, "t2.10")
    complete(session, "t2.10", text_result("cached"))
    wake_session(
        session,
        [
            (token_of(session, "t2.1"), Delivered(MIXED)),
            (token_of(session, "t2.2"), Approved()),
            (token_of(session, "t2.3"), Retried()),
            (token_of(session, "t2.4"), Retried()),
        ],
    )
    begin(session, ["t2.2", "t2.3", "t2.4"])
    complete(session, "t2.2", text_result("paid"))
    complete(session, "t2.3", text_result("no", error=True))
    expire(session, "t2.7")
    complete(session, "t2.9", ToolResult(JsonContent({"lc": 2})))
    hold(session)
    answer(session, "Wait.", [ToolCall("write", "no object"), call("write")], policy=PolicyConfig(DECORATED))
    complete(session, "t2.5", text_result("seen"))
    defer(session, "t4.1")
    say(session, "Well?", [picture])
    return session


def forked() -> Session:
    """Fork it, and go on."""
    session = fork(everything(), id="sess_2", seed="another")
    answer_to = token_of(session, "t2.0")
    wake_session(session, [(answer_to, Delivered(text_result("it did not happen", error=True)))])
    return session
