"""Making a held session ready for what somebody wants of it: is all there that it needs, and is that stored."""

from wf_core.sessions import Stop, next_action, open_calls, say
from wf_mcp.execution.sessions import mail
from wf_mcp.execution.sessions.errors import RunnerMissing, SessionBlocked
from wf_mcp.execution.sessions.held import HeldSession
from wf_mcp.execution.sessions.live import Wish
from wf_mcp.execution.sessions.making import is_isolated, runner_of


async def prepare(held: HeldSession, wish: Wish, *, anew: bool) -> None:
    """Make a held session ready to go on, and store what was asked for. `anew`: it was read from the store just now.

    Raises:
        SessionBlocked, RunnerMissing: nothing was changed.
        StoreFull, StoreUnavailable: it stands as it was last stored.
    """
    if wish.goal != "rest" and (wish.says or await _has_more_to_do(held)):
        missing = await held.means.missing(held.session.agent)
        if missing:
            raise SessionBlocked(held.session_id, missing)
    if wish.goal == "isolated":
        _require_runner(held)
    if anew:
        await mail.restore(held)
    await mail.take_over(held)
    if wish.says:
        say(held.session, wish.prompt or "", wish.attachments, joins=True)
    if wish.says or wish.auto not in {None, held.record.auto}:
        await held.store("running", auto=wish.auto)


async def _has_more_to_do(held: HeldSession) -> bool:
    """Tell whether a session goes on without a new word of the user."""
    if not isinstance(next_action(held.session), Stop):
        return True
    return any(call.state == "running" for call in open_calls(held.session)) or await mail.has_come(held)


def _require_runner(held: HeldSession) -> None:
    isolated = [call for call in open_calls(held.session) if call.state == "deferred" and is_isolated(call)]
    if isolated and all(runner_of(held.means, held.session, call) is None for call in isolated):
        raise RunnerMissing(held.session_id)
