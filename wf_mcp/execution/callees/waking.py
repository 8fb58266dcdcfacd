"""Who called an agent or a workflow hears when it has ended; and where that was lost, the callee is asked again."""

import logging
import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

import anyio
from anyio.abc import TaskGroup

from wf_artifacts.calls.models import Delivery
from wf_artifacts.errors import RunBusy
from wf_artifacts.runs.environment import PinnedEnvironment
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.stores import Stores
from wf_core.calls.contract import ERROR_OUTCOME
from wf_core.calls.results import JsonContent, ToolResult, as_text, result_to_json
from wf_core.codec import load_run
from wf_core.errors import CallAlreadyCompleted, CallExpired, InvalidResult, UnknownCall, WfError
from wf_core.ids import RunId, call_token, is_session_id, read_call_token
from wf_core.jsonvalue import JsonValue
from wf_core.runtime import CallFailure, Invocation, Settlement
from wf_core.sessions import Parent
from wf_core.state import FINAL, Pending
from wf_mcp.execution.callees.ending import Ending
from wf_mcp.execution.callees.family import AGENTS, WORKFLOWS, caller_of
from wf_mcp.execution.callees.workflows import answer
from wf_mcp.execution.calls.rendering import answered, storable
from wf_mcp.execution.invoke import invoke
from wf_mcp.execution.means import Means
from wf_mcp.execution.runs import RunDriver
from wf_mcp.execution.sessions.driver import SessionDriver
from wf_mcp.sources.protocol import CALLEE_GONE, CallResult

logger = logging.getLogger(__name__)

BUSY_SECONDS = 0.2
"""How long after it was busy a run is told again."""

MOST_TRIES = 300

_HEARD = (CallAlreadyCompleted, CallExpired, UnknownCall)
"""It has the answer already, or does not wait yet: then it asks itself."""


def waits_for_callees(record: RunRecord) -> bool:
    """Tell whether a run waits for agents or workflows that it called."""
    return any(call.get("awaits") == "callee" for call in record.pending_calls)


class Callees:
    """Tells callers what became of their calls, in the sessions and runs of one program."""

    def __init__(
        self, means: Means, stores: Stores, runs: RunDriver, sessions: SessionDriver, tasks: TaskGroup
    ) -> None:
        self._means = means
        self._stores = stores
        self._runs = runs
        self._sessions = sessions
        self._tasks = tasks
        self._under_way = 0
        self._idle = anyio.Event()
        self.ending = Ending(stores, runs, sessions)
        """Ends what nobody waits for any more."""

    async def finish(self) -> None:
        """Wait until everybody has heard who is to hear, and the runs that go on because of it have stopped."""
        while self._under_way:
            self._idle = anyio.Event()
            await self._idle.wait()

    def stopped(self, record: RunRecord, environment: PinnedEnvironment) -> None:
        """Note that a run has stopped here: its caller is to hear of its end, or it asks its own callees once more.

        A callee may have ended after it put the call off, and before the run came to wait for it. Those of a run that
        did not come to its own end are not wanted any more.
        """
        if record.status in FINAL:
            caller = caller_of(record.idempotency_key)
            if caller is not None:
                self._spawn(partial(self._tell, *caller, answer(record)))
            calls = any(pinned.source in {AGENTS, WORKFLOWS} for pinned in environment.capabilities.values())
            if calls and record.status != "completed":
                self._spawn(partial(self.ending.callees_of_soon, record.run_id))
        elif waits_for_callees(record):
            self._spawn(partial(self.ask, record.run_id))

    async def ask(self, run_id: RunId) -> None:
        """Ask the callees that a run waits for, and take what they say. What cannot be asked is left as it is."""
        try:
            await self._ask(run_id)
        except WfError as error:
            logger.warning("The callees of the run %s cannot be asked: %s", run_id, error)

    async def answer_run(self, parent: Parent, result: ToolResult) -> None:
        """Tell a run the answer of a session that it called."""
        output: JsonValue = result.content.content if isinstance(result.content, JsonContent) else as_text(result)
        told = CallResult(ERROR_OUTCOME, {"message": as_text(result)}) if result.error else CallResult("ok", output)
        named = read_call_token(parent.token)
        if named is not None:
            await self._settle(*named, told)

    async def _ask(self, run_id: RunId) -> None:
        record = await self._stores.runs.load(run_id)
        if record.status != "interrupted" or not waits_for_callees(record):
            return
        environment = await self._stores.runs.load_environment(run_id)
        run = load_run((await self._stores.runs.load_checkpoint(run_id)).state)
        paths = {call["id"]: tuple(call["path"]) for call in record.pending_calls}
        for frame in run.frames.values():
            waiting = frame.activity
            if not isinstance(waiting, Pending) or waiting.awaits != "callee":
                continue
            call = waiting.call
            invocation = Invocation(
                call_id=call.id,
                capability=call.capability,
                step_id=frame.step_id,
                path=paths[call.id],
                input=call.input,
                attempt=call.attempt,
                timeout_seconds=None,
                repeatable=True,
            )
            said = await invoke(
                self._means.registry.sources(),
                environment.capabilities[call.capability],
                invocation,
                run_id=run_id,
                max_bytes=self._means.max_bytes,
                put_off=True,
            )
            if isinstance(said, CallResult):
                await self._settle(run_id, call.id, said)
            elif isinstance(said, CallFailure) and said.code == CALLEE_GONE:
                known = f" ({waiting.reason})" if waiting.reason else ""
                await self._doubt(run_id, call.id, said.message + known)

    async def _tell(self, owner: str, call_id: str, said: CallResult) -> None:
        """Tell a session or a run what a run says that it called."""
        if not is_session_id(owner):
            named = read_call_token(call_token(owner, call_id))
            if named is not None:
                await self._settle(*named, said)
            return
        now = self._means.clock.now()
        ended = answered(said, ("ok", ERROR_OUTCOME))
        for waiting in await self._stores.continuations.of_session(owner, now=now):
            call = waiting.continuation
            if call.call_id == call_id and call.kind == "callee" and waiting.state == "open":
                told = result_to_json(storable(ended, call.capability).result)
                delivery = Delivery(kind="result", result=told, channel="run", principal="", delivered_at=now)
                with suppress(*_HEARD):
                    await self._sessions.deliver(waiting.token, delivery, principal=None)

    async def _settle(self, run_id: RunId, call_id: str, said: CallResult) -> None:
        settlement = Settlement("completed", said.outcome, said.output, by="callee")
        try:
            await self._settle_with(run_id, call_id, settlement)
        except InvalidResult as bad:
            await self._settle_with(run_id, call_id, _refused(bad))

    async def _settle_with(self, run_id: RunId, call_id: str, settlement: Settlement) -> None:
        """Tell a run what became of its call, now or once it may be told.

        Raises:
            InvalidResult: its step cannot take that.
        """
        try:
            handle = await self._runs.settle(run_id, call_id, settlement)
        except _HEARD:
            return
        except RunBusy:
            self._spawn(partial(self._settle_later, run_id, call_id, settlement))
        except InvalidResult:
            raise
        except WfError as error:
            logger.warning("The run %s cannot take the answer to its call %s: %s", run_id, call_id, error)
        else:
            self._spawn(partial(self._runs.wait, handle, seconds=math.inf))

    async def _doubt(self, run_id: RunId, call_id: str, reason: str) -> None:
        """Let a person say what became of a call. Where the run cannot take that now, its callees are asked again."""
        try:
            handle = await self._runs.doubt(run_id, call_id, reason=reason)
        except WfError as error:
            logger.warning("The call %s of the run %s is not seen to be in doubt: %s", call_id, run_id, error)
        else:
            self._spawn(partial(self._runs.wait, handle, seconds=math.inf))

    async def _settle_later(self, run_id: RunId, call_id: str, settlement: Settlement) -> None:
        """Tell a run that another process advances, once it may be told. That process asks too, when it stops there."""
        for _ in range(MOST_TRIES):
            await anyio.sleep(BUSY_SECONDS)
            try:
                await self._runs.settle(run_id, call_id, settlement)
            except RunBusy:
                continue
            except InvalidResult as bad:
                settlement = _refused(bad)
            except _HEARD:
                return
            else:
                return
        logger.warning("The run %s is busy: its call %s is answered when it is looked at", run_id, call_id)

    def _spawn(self, doing: Callable[[], Awaitable[object]]) -> None:
        self._under_way += 1
        self._tasks.start_soon(self._do, doing)

    async def _do(self, doing: Callable[[], Awaitable[object]]) -> None:
        try:
            await doing()
        except WfError as error:
            logger.warning("Somebody was not told of the end of a call: %s", error)
        except Exception:
            logger.exception("Telling of the end of a call failed")
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._idle.set()


def _refused(bad: InvalidResult) -> Settlement:
    """Give the failure of a call whose callee said what its caller cannot take, as where that is said at once."""
    return Settlement("failed", message=f"output_invalid: {bad.message}", by="callee")
