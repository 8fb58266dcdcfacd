"""The calls of a session in this process: which begin now, which are put off, and when the model is asked without them.

Calls that run at once do so one after another, or up to `max_concurrency` together, in call order; calls in the
background run beside them. A call whose callee may put it off is made while the session still has it ready, for a call
that runs cannot be put off any more; such callees can be asked again.
"""

import logging
from dataclasses import dataclass

import anyio
from anyio.abc import TaskGroup

from wf_core.calls.policy import RunAsync, bare
from wf_core.calls.tracked import FINAL, TrackedCall
from wf_core.errors import WfError
from wf_core.sessions import PartialUserTurn, Wait, begin, complete, open_calls, release, token_of
from wf_mcp.execution.calls.protocol import CallComplete, CallYield
from wf_mcp.execution.calls.rendering import failed
from wf_mcp.execution.sessions import mail
from wf_mcp.execution.sessions.live import CallEnded, LiveSession
from wf_mcp.execution.sessions.making import executor_of, is_put_off, may_defer, request_of, runner_of, tool_of
from wf_mcp.sources.protocol import CALLEE_GONE, CallDeferred

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Flight:
    """A call that is made right now."""

    call: TrackedCall
    token: str
    background: bool = False
    callee: bool = False
    """Whether it is made while it is ready, or deferred already, because its callee may put it off."""


class Scheduler:
    """Begins calls, and takes their ends."""

    def __init__(self, live: LiveSession, tasks: TaskGroup) -> None:
        self.began = False
        """Whether any call was begun or put off in this stretch."""
        self.yields_at: float | None = None
        """When the model is to be asked although calls in the background run."""
        self._live = live
        self._held = live.held
        self._means = live.held.means
        self._session = live.held.session
        self._tasks = tasks
        self._flights: dict[str, _Flight] = {}
        self._queued: set[str] = set()
        """Calls, by id, that are made here and wait for room: looked at once, however long they wait."""
        self._only: frozenset[str] | None = None
        """Which calls may begin; None: all."""
        self._yielding_turn: str | None = None

    @property
    def in_flight(self) -> bool:
        return bool(self._flights)

    async def schedule(self, calls: tuple[TrackedCall, ...]) -> bool:
        """Begin or put off those ready calls whose turn it is, and tell whether there were any."""
        free = self._session.agent.max_concurrency - sum(not one.background for one in self._flights.values())
        starts: list[_Flight] = []
        changed = False
        for call in calls:
            if free <= 0 and call.id in self._queued:
                continue
            if call.id in self._flights or (self._only is not None and call.id not in self._only):
                continue
            if is_put_off(call.policy.disposition) and not call.released:
                await self._put_off(call)
                changed = True
                continue
            background = self._in_background(call)
            if not background:
                if free <= 0:
                    self._queued.add(call.id)
                    continue
                self._queued.discard(call.id)
                free -= 1
            starts.append(self._flight(call, background=background))
        if starts:
            await self._begin(starts)
        self.began = self.began or changed or bool(starts)
        return changed or bool(starts)

    def yields(self, wait: Wait) -> bool:
        """Tell whether the model is to be asked now, although calls have no result yet."""
        turn = self._session.turns[-1]
        if not wait.holdable or not isinstance(turn, PartialUserTurn):
            return False
        if not any(call.state == "running" for call in turn.calls):
            return True  # only calls in doubt are left
        if any(not one.background for one in self._flights.values()):
            return False
        strategy = self._session.agent.yield_strategy
        match strategy.when:
            case "yieldWhenAllDone":
                return False
            case "yieldOnAnyProgress":
                return any(call.state in FINAL for call in turn.calls)
            case "yieldOnTimeout":
                return self._is_time(turn.id, (strategy.milliseconds or 0) / 1000)

    def _is_time(self, turn_id: str, seconds: float) -> bool:
        if self._yielding_turn != turn_id:
            self._yielding_turn, self.yields_at = turn_id, anyio.current_time() + seconds
        if self.yields_at is None or anyio.current_time() < self.yields_at:
            return False
        self.yields_at = None
        return True

    async def take(self, call_id: str, ended: CallComplete | CallYield | WfError) -> None:
        """Take the end of a call that was in flight.

        Raises:
            WfError: it cannot be told what came of the call, or the store failed.
        """
        flight = self._flights.pop(call_id)
        if isinstance(ended, WfError):
            raise ended
        call = flight.call
        if not flight.callee:
            if isinstance(ended, CallYield):
                message = f"{tool_of(self._session, call).capability} put off what it may not put off."
                ended = failed("internal_error", message, executed=True)
            complete(self._session, call_id, ended.result)
        elif isinstance(ended, CallYield):
            if call.state == "ready":
                await mail.put_off(self._held, call, ended)
        elif call.state == "ready":
            # First delivered, so that a crash finds it, and who was quicker is heard.
            await mail.settle(self._held, call, flight.token, ended.result, channel="callee")
            await mail.complete_delivered(self._held, call, flight.token)
        elif call.state == "deferred" and ended.code == CALLEE_GONE:
            await mail.doubt_of(self._held, call, f"{ended.message} ({call.reason})" if call.reason else ended.message)
        elif call.state == "deferred" and ended.code is None:
            await mail.settle(self._held, call, flight.token, ended.result, channel="callee")
            await mail.collect(self._held)

    def release_isolated(self) -> None:
        """Take the calls that wait for a runner back, to make them here and nothing else."""
        taken: set[str] = set()
        for call in open_calls(self._session):
            if runner_of(self._means, self._session, call) is None:
                continue  # it is not to be isolated, or nobody here can
            if call.state == "deferred":
                release(self._session, call.id)
            if call.state == "ready" and call.released:
                taken.add(call.id)
        self._only = frozenset(taken)

    def ask_again(self) -> None:
        """Ask the callees that put their calls off."""
        for call in open_calls(self._session):
            put_off_by_policy = is_put_off(call.policy.disposition) and not call.released
            if call.state == "deferred" and not put_off_by_policy and may_defer(self._means, self._session, call):
                self._start(_Flight(call, token_of(self._session, call.id), background=True, callee=True))

    def _flight(self, call: TrackedCall, *, background: bool) -> _Flight:
        callee = may_defer(self._means, self._session, call)
        return _Flight(call, token_of(self._session, call.id), background, callee)

    def _in_background(self, call: TrackedCall) -> bool:
        if self._session.agent.execution_mode != "asynchronous":
            return False
        return isinstance(bare(call.policy.disposition), RunAsync)

    async def _put_off(self, call: TrackedCall) -> None:
        how = await executor_of(self._held, call).exec_async(request_of(self._session, call))
        if isinstance(how, CallYield):
            await mail.put_off(self._held, call, how)
        else:
            complete(self._session, call.id, how.result)

    async def _begin(self, flights: list[_Flight]) -> None:
        """Store that calls begin, then begin them."""
        if any(flight.call.released for flight in flights):
            await self._held.store("running")  # an approval is used up by what comes next
        begun = [flight for flight in flights if await self._is_ours(flight)]
        named = [flight.call.id for flight in begun if not flight.callee]
        if named:
            begin(self._session, named)
        asked = any(not tool_of(self._session, one.call).repeatable for one in begun)
        await self._held.store("running", sync=asked)
        for flight in begun:
            self._start(flight)

    async def _is_ours(self, flight: _Flight) -> bool:
        """Let nobody outside answer a call before it begins, or learn that somebody has."""
        call = flight.call
        if flight.callee:
            waiting = await mail.announce(self._held, call, "callee")
            if waiting.continuation.kind != "callee" and await mail.withdraw(self._held, call):
                # That it may be made was what it waited for; now it waits for its callee.
                waiting = await mail.announce(self._held, call, "callee")
            ours = waiting.state != "delivered"
        else:
            ours = await mail.withdraw(self._held, call)
        if not ours:
            await mail.complete_delivered(self._held, call, flight.token)
        return ours

    def _start(self, flight: _Flight) -> None:
        self._flights[flight.call.id] = flight
        self._tasks.start_soon(self._make, flight)

    async def _make(self, flight: _Flight) -> None:
        try:
            ended = await self._made(flight)
        except WfError as error:
            ended = error
        except Exception:
            capability = tool_of(self._session, flight.call).capability
            logger.exception("The call %s of %s ended in a fault", flight.call.id, capability)
            ended = failed("internal_error", f"{capability} failed inside wf-mcp.", executed=True)
        self._live.post(CallEnded(flight.call.id, ended))

    async def _made(self, flight: _Flight) -> CallComplete | CallYield:
        call, request = flight.call, request_of(self._session, flight.call)
        executor = executor_of(self._held, call)
        seconds = self._session.agent.call_timeout_seconds if flight.background else None
        with anyio.move_on_after(seconds):
            try:
                return await (executor.exec_sync(request) if call.released else executor.exec_async(request))
            except CallDeferred as deferred:
                return CallYield(request.token, kind="callee", reason=deferred.reason)
        message = f"{request.target.capability} did not end within {seconds:g} seconds."
        return failed("timeout", message, executed=True, read_only=request.target.read_only)
