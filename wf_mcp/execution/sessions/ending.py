"""Ending a session for good whose answer nobody wants any more. What it did stays; it waits for nobody."""

from collections.abc import Mapping

from wf_core.calls.results import text_result
from wf_core.calls.tracked import TrackedCall
from wf_core.sessions import Stop, complete, next_action, open_calls, token_of
from wf_mcp.execution.sessions import mail
from wf_mcp.execution.sessions.held import HeldSession

MAY_HAVE_HAPPENED = "It had begun: whether it was carried out is not known."


async def end(held: HeldSession, error: Mapping[str, str]) -> None:
    """Give every open call of a held session up, and store that it has failed, and why: `code` and `message`.

    What was delivered before counts; nothing is taken after. A session that has come to an end by itself keeps it.
    """
    await mail.collect(held)
    if isinstance(next_action(held.session), Stop):
        await held.rest()
        return
    now = held.means.clock.now()
    for call in open_calls(held.session):
        await held.means.continuations.close(token_of(held.session, call.id), now=now)
    await mail.collect(held)  # of what came before its call was closed
    for call in list(open_calls(held.session)):
        complete(held.session, call.id, text_result(_given_up(call, error["message"]), error=True))
    await held.store("failed", error=dict(error), auto=False)


def _given_up(call: TrackedCall, why: str) -> str:
    begun = f" {MAY_HAVE_HAPPENED}" if call.state in {"running", "in_doubt"} else ""
    return f"The call was given up.{begun} {why}"
