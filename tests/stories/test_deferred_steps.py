"""Steps that a deployment's call policy leaves to the outside, and agents that steps call: across real processes."""

import json
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread

from tests.stories.workplace import Era, Server, Workplace
from wf_core.ids import RunId
from wf_mcp.app import App

pytestmark = pytest.mark.anyio

OPS = """
from pathlib import Path
from wf_core import capability

@capability()
def pay(amount: int) -> dict:
    with (Path(__file__).parent / "paid.txt").open("a") as file:
        file.write(f"{amount}\\n")
    return {"receipt": f"paid {amount}"}

@capability()
def count(who: str) -> dict:
    with (Path(__file__).parent / "counted.txt").open("a") as file:
        file.write(f"{who}\\n")
    return {"who": who}

@capability(read_only=True)
def fetch(page: str) -> str:
    return page
"""

DEFER = {"tag": "defer", "reason": "somebody does it"}
APPROVAL = {**DEFER, "approval": True}


def plan(name: str, steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    state: dict[str, Any] = {
        "properties": {"receipt": {}, "all": {"type": "array", "default": [], "reducer": "append"}}
    }
    return {"name": name, "start": next(iter(steps)), "state_schema": state, "steps": steps, **more}


def node(use: str, **more: Any) -> dict[str, Any]:
    return {"type": "node", "use": use, "routes": {"ok": "__end__"}, **more}


PAY = plan(
    "pay",
    {"pay": node("ops.pay", input={"amount": {"value": 3}}, output={"state.receipt": "receipt"})},
    output={"receipt": {"path": "state.receipt"}},
)
EACH = plan(
    "each",
    {
        "each": {
            "type": "foreach",
            "over": "input.amounts",
            "as": "amount",
            "mode": "concurrent",
            "max_active": 3,
            "routes": {"loop": "pay", "done": "__end__"},
        },
        "pay": node("ops.pay", input={"amount": {"path": "context.amount"}}, output={"state.all": "receipt"}),
    },
    output={"all": {"path": "state.all"}},
)


def place(folder: Path, era: Era = "2026-07-28", **agents: Any) -> Workplace:
    folder.mkdir(parents=True, exist_ok=True)
    workplace = Workplace(folder, era)
    workplace.write("ops.py", OPS)
    named = {slug: {"file": f"{slug}.agent.json"} for slug in agents}
    workplace.configure(pythonSources={"ops": {"module": "ops", "path": "."}}, agents=named)
    for slug, (tools, rules, *answers) in agents.items():
        policy = {"rules": [{"tool": tool, "disposition": how} for tool, how in rules.items()]}
        told = {"slug": slug, "model": f"scripted:{slug}.json", "tools": tools, "toolCallPolicyConfig": policy}
        workplace.write(f"{slug}.agent.json", json.dumps(told))
        workplace.write(f"{slug}.json", json.dumps({"answers": answers}))
    return workplace


def calling(*calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"text": "", "toolCalls": [{"name": name, "arguments": arguments} for name, arguments in calls]}


async def stopped(server: Server, document: dict[str, Any], how: Any = None, **given: Any) -> dict[str, Any]:
    """Deploy a plan with a policy for everything, run it, and give where it stops."""
    name = document["name"]
    await server.call("save_artifact", artifact_id=name, plan=document)
    policy = {} if how is None else {"call_policy": {"rules": [{"tool": "ops.pay", "disposition": how}]}}
    made = await server.call("create_deployment", deployment_id=name, artifact_id=name, **policy)
    assert made["runnable"], made
    return await server.run(name, **given)


def lines(workplace: Workplace, name: str) -> list[str]:
    file = workplace.folder / name
    return file.read_text().splitlines() if file.exists() else []


async def test_a_deferred_step_answered_over_any_door_leaves_the_same_run(tmp_path: Path) -> None:
    """A20: what a run becomes does not depend on who brought the answer, but for the word in the trace."""
    first = place(tmp_path / "first")
    async with first.server() as server:
        waiting = await stopped(server, PAY, DEFER)
    (token,) = [call["token"] for call in waiting["pending_calls"]]
    result = {"receipt": "by hand"}
    first.write("result.json", json.dumps(result))

    def by_command(here: Workplace, *words: str) -> None:
        ended = here.wf(*words, "--json")
        assert ended.returncode == 0, ended

    async def by_calls(here: Workplace) -> None:
        await to_thread.run_sync(by_command, here, "calls", "complete", token, json.dumps(result))

    async def by_session(here: Workplace) -> None:
        await to_thread.run_sync(by_command, here, "session", "complete", token, "result.json")

    async def by_stdio(here: Workplace) -> None:
        async with here.server() as server:
            await server.call("complete_call", token=token, result=result)

    async def by_http(here: Workplace) -> None:
        async with here.http_server() as url, here.connect(url) as server:
            await server.call("complete_call", token=token, result=result)

    doors: list[Callable[[Workplace], Awaitable[None]]] = [by_calls, by_session, by_stdio, by_http]
    ends: list[Any] = []
    for door in doors:
        here = Workplace(tmp_path / door.__name__)
        shutil.copytree(first.folder, here.folder)
        await door(here)
        async with App.open(home=here.home, cwd=here.folder) as app:
            checkpoint = await app.stores.runs.load_checkpoint(RunId(waiting["run_id"]))
            record = await app.stores.runs.load(RunId(waiting["run_id"]))
        assert record.output == {"receipt": "by hand"}
        ends.append(checkpoint.state)
    assert ends == [ends[0]] * len(doors)
    assert lines(first, "paid.txt") == []


async def test_twenty_deferred_items_wait_at_once_and_are_answered_in_any_order(tmp_path: Path, era: Era) -> None:
    """B28: a loop of three places puts all of its twenty calls off."""
    workplace = place(tmp_path, era)
    async with workplace.server() as server:
        waiting = await stopped(server, EACH, DEFER, amounts=list(range(20)))
        assert len(waiting["pending_calls"]) == 20
        listed = (await server.call("list_pending", limit=100))["pending"]
        assert sorted(one["call"]["arguments"]["amount"] for one in listed) == list(range(20))
    async with workplace.server() as server:
        told: dict[str, Any] = {}
        for call in reversed(waiting["pending_calls"]):
            told = await server.call(
                "complete_call", token=call["token"], result={"receipt": call["arguments"]["amount"]}
            )
        assert (told["status"], told["output"]) == ("completed", {"all": list(range(20))})


async def test_a_server_that_is_killed_after_it_took_a_result_has_it(tmp_path: Path) -> None:
    workplace = place(tmp_path)
    async with workplace.server() as server:
        waiting = await stopped(server, EACH, DEFER, amounts=[1, 2])
        one, two = [call["token"] for call in waiting["pending_calls"]]
        await server.call("complete_call", token=one, result={"receipt": "one"})
        server.kill()
    async with workplace.server() as server:
        assert (await server.refuse("complete_call", token=one, result={"receipt": 2}))[
            "code"
        ] == "call_already_completed"
        done = await server.call("complete_call", token=two, result={"receipt": "two"})
        assert done["output"] == {"all": ["one", "two"]}


async def test_an_approval_is_refused_to_a_model_and_given_on_the_command_line(tmp_path: Path, era: Era) -> None:
    workplace = place(tmp_path, era)
    async with workplace.server() as server:
        waiting = await stopped(server, PAY, APPROVAL)
        (token,) = [call["token"] for call in waiting["pending_calls"]]
        refused = await server.refuse("complete_call", token=token, result={"receipt": "made up"})
        assert refused["code"] == "wrong_answer_kind"
        assert (await server.refuse("fail_call", token=token, error="no"))["code"] == "person_required"
    shown = await to_thread.run_sync(workplace.wf, "calls", "show", token)
    assert f"wf calls approve {token}" in shown.stdout
    assert lines(workplace, "paid.txt") == []
    ended = await to_thread.run_sync(workplace.wf, "calls", "approve", token, "--json")
    assert json.loads(ended.stdout)["output"] == {"receipt": "paid 3"}
    assert lines(workplace, "paid.txt") == ["3"]


async def test_a_policy_is_given_on_the_command_line_and_said_to_be_wrong_there(tmp_path: Path) -> None:
    workplace = place(tmp_path)
    workplace.write("pay.json", json.dumps(PAY))
    await to_thread.run_sync(workplace.wf, "artifacts", "save", "pay", "@pay.json")
    policy = json.dumps({"rules": [{"tool": "pay", "disposition": DEFER}]})
    made = await to_thread.run_sync(
        workplace.wf, "deployments", "create", "pay", "pay", "--call-policy", policy, "--json"
    )
    assert json.loads(made.stdout)["call_policy"]["rules"][0]["disposition"] == DEFER
    wrong = await to_thread.run_sync(
        workplace.wf, "deployments", "create", "other", "pay", "--call-policy", '{"rules": [{"tool": 3}]}', "--json"
    )
    assert (wrong.returncode, json.loads(wrong.stdout)["error"]["code"]) == (2, "invalid_policy")
    assert "call_policy.rules[0].tool" in wrong.stderr


def asking(agent: str) -> dict[str, Any]:
    step = node(f"agents.{agent}", input={"prompt": {"value": "go"}}, output={"state.receipt": "answer"})
    return plan("asking", {"ask": step}, output={"answer": {"path": "state.receipt"}})


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
async def test_agents_inside_each_other_and_a_server_that_is_killed_make_each_call_once(
    tmp_path: Path, depth: int
) -> None:
    """A15: each level counts by one line, whatever waits, is killed, and is gone on with."""
    agents: dict[str, Any] = {
        "a1": (
            ["ops.count", "ops.fetch"],
            {"fetch": DEFER},
            calling(("count", {"who": "a1"}), ("fetch", {"page": "x"})),
            {"text": "found: {{results}}"},
        )
    }
    for level in range(2, depth + 1):
        calls = calling(("count", {"who": f"a{level}"}), (f"a{level - 1}", {"prompt": "go"}))
        agents[f"a{level}"] = (["ops.count", f"agents.a{level - 1}"], {}, calls, {"text": f"a{level}"})
    workplace = place(tmp_path, **agents)
    async with workplace.server() as server:
        waiting = await stopped(server, asking(f"a{depth}"))
        assert [call["awaits"] for call in waiting["pending_calls"]] == ["callee"]
        listed = (await server.call("list_pending"))["pending"]
        (call,) = [one for one in listed if one["call"]["name"] == "fetch"]
        server.kill()
    async with workplace.server() as server:
        await server.call("complete_call", token=call["call"]["token"], result="the page")
        server.kill()
    async with workplace.server() as server:
        done = await server.call("inspect_run", run_id=waiting["run_id"], wait_seconds=20)
        assert done["status"] == "completed", done
    assert sorted(lines(workplace, "counted.txt")) == [f"a{level}" for level in range(1, depth + 1)]


async def test_a_server_goes_on_with_a_run_by_itself_once_its_session_is_answered(tmp_path: Path, era: Era) -> None:
    """A3, A4, A13: nobody asks for anything but the delivery of the one result."""
    fetches = calling(("fetch", {"page": "x"}))
    workplace = place(tmp_path, era, helper=(["ops.fetch"], {"fetch": DEFER}, fetches, {"text": "{{results}}"}))
    async with workplace.server() as server:
        waiting = await stopped(server, asking("helper"))
        (call,) = [one for one in (await server.call("list_pending"))["pending"] if one["session_id"]]
        await server.call("complete_call", token=call["call"]["token"], result="the page")
        with anyio.fail_after(20):
            while (await server.call("inspect_run", run_id=waiting["run_id"], wait_seconds=5))["status"] != "completed":
                pass


async def test_a_session_resumed_on_the_command_line_finishes_the_run_that_waits_for_it(tmp_path: Path) -> None:
    fetches = calling(("fetch", {"page": "x"}))
    workplace = place(tmp_path, helper=(["ops.fetch"], {"fetch": DEFER}, fetches, {"text": "{{results}}"}))
    async with workplace.server() as server:
        waiting = await stopped(server, asking("helper"))
        (call,) = [one for one in (await server.call("list_pending"))["pending"] if one["session_id"]]
    session_id, token = call["session_id"], call["call"]["token"]
    workplace.write("page.txt", "the page")
    assert (await to_thread.run_sync(workplace.wf, "session", "complete", token, "page.txt")).returncode == 0
    assert (await to_thread.run_sync(workplace.wf, "session", "resume", session_id)).returncode == 0
    shown = await to_thread.run_sync(workplace.wf, "runs", "show", waiting["run_id"], "--json")
    assert json.loads(shown.stdout)["output"] == {"answer": "- fetch: the page"}


async def test_an_agent_that_is_called_directly_and_waits_says_as_which_session_it_goes_on(tmp_path: Path) -> None:
    fetches = calling(("fetch", {"page": "x"}))
    workplace = place(tmp_path, helper=(["ops.fetch"], {"fetch": DEFER}, fetches, {"text": "{{results}}"}))
    async with workplace.server() as server:
        asked = {"name": "agents.helper", "input": {"prompt": "Go."}}
        deferred = await server.client.call_tool("call_capability", asked)
        (call,) = (await server.call("list_pending"))["pending"]
        assert deferred.is_error
        assert deferred.structured_content is not None
        error = deferred.structured_content["error"]
        assert error["code"] == "call_deferred"
        assert call["session_id"] in error["message"]
        await server.call("complete_call", token=call["call"]["token"], result="the page")
        told = await server.call("resume_session", session_id=call["session_id"])
        assert told["answer"] == "- fetch: the page"


async def test_a_session_that_a_run_waits_for_is_not_deleted_and_makes_no_call_again(tmp_path: Path) -> None:
    asks = calling(("count", {"who": "x"}), ("fetch", {"page": "x"}))
    workplace = place(tmp_path, helper=(["ops.count", "ops.fetch"], {"fetch": DEFER}, asks, {"text": "done"}))
    async with workplace.server() as server:
        waiting = await stopped(server, asking("helper"))
        (session_id,) = [one["session_id"] for one in (await server.call("list_sessions"))["sessions"]]
        refused = await to_thread.run_sync(workplace.wf, "session", "delete", session_id, "--json")
        assert (refused.returncode, json.loads(refused.stdout)["error"]["code"]) == (2, "session_in_use")
        await server.call("inspect_run", run_id=waiting["run_id"])
        await server.call("cancel_run", run_id=waiting["run_id"])
        assert (await to_thread.run_sync(workplace.wf, "session", "delete", session_id)).returncode == 0
    assert lines(workplace, "counted.txt") == ["x"]
