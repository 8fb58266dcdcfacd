"""Whether a history may be shown to a model, and whether turns are such as events can have made them.

Both read every turn; they are for tests, for fake models, and for a fork that is read again.
"""

from collections.abc import Sequence

from wf_core.calls.policy import ToolCall
from wf_core.errors import BrokenHistory
from wf_core.sessions.models import LlmTurn, PartialUserTurn, Turn, UserTurn


def check_history(turns: Sequence[Turn]) -> None:
    """Demand that turns alternate, begin and end with the user's, and that each call has exactly one result.

    Results stand in the turn after their calls, in call order and nowhere else; provider ids are not empty and each is
    used once; a notice follows its placeholder, once, and before it at most one that says that nobody knows. Meant for
    tests and for fake models: it reads the whole history.

    Raises:
        BrokenHistory: naming the first place.
    """
    check_turns(turns)
    if not turns or not isinstance(turns[-1], UserTurn):
        raise _broken(len(turns) - 1, "a model is asked with a user turn")


def check_turns(turns: Sequence[Turn]) -> dict[str, bool]:
    """Demand the same of turns that may end with an answer or a partial turn.

    Gives the ids of the calls whose placeholder was shown and whose result was not, in order, and for each whether a
    notice said that nobody knows what became of it.

    Raises:
        BrokenHistory: naming the first place.
    """
    seen: set[str] = set()
    promised: dict[str, bool] = {}
    asked: tuple[ToolCall, ...] = ()
    for index, turn in enumerate(turns):
        if turn.id != f"t{index}":
            raise _broken(index, f"its id is {turn.id}")
        if isinstance(turn, LlmTurn) != (index % 2 == 1):
            raise _broken(index, "the user's turns and the model's do not alternate")
        match turn:
            case LlmTurn(tool_calls=calls):
                asked = calls
                _check_ids(index, calls, seen)
            case UserTurn():
                _check_user_turn(index, turn, asked, promised)
            case PartialUserTurn():
                _check_partial(index, turn, asked, last=index == len(turns) - 1)
    if turns and isinstance(turns[-1], LlmTurn) and asked:
        raise _broken(len(turns) - 1, "its calls have no turn")
    return promised


def _check_ids(index: int, calls: tuple[ToolCall, ...], seen: set[str]) -> None:
    for call in calls:
        if not call.provider_call_id or call.provider_call_id in seen:
            raise _broken(index, f"the provider's call id {call.provider_call_id!r} is empty or not new")
        seen.add(call.provider_call_id)


def _check_user_turn(index: int, turn: UserTurn, asked: tuple[ToolCall, ...], promised: dict[str, bool]) -> None:
    given = [(placed.call_id, placed.provider_call_id, placed.name) for placed in turn.results]
    if given != _named(index, asked):
        raise _broken(index, "its results are not those of the calls before it, one each, in call order")
    for notice in turn.notices:
        if notice.call_id not in promised:
            raise _broken(index, f"nobody was promised the notice of {notice.call_id}")
        if not notice.held:
            del promised[notice.call_id]
        elif promised[notice.call_id]:
            raise _broken(index, f"it says again that nobody knows what became of {notice.call_id}")
        else:
            promised[notice.call_id] = True
    promised |= {placed.call_id: False for placed in turn.results if placed.held}


def _check_partial(index: int, turn: PartialUserTurn, asked: tuple[ToolCall, ...], *, last: bool) -> None:
    if not last:
        raise _broken(index, "a partial turn is the last one")
    given = [(call.id, call.provider_call_id, call.name) for call in turn.calls]
    if not given or given != _named(index, asked):
        raise _broken(index, "its calls are not those of the turn before it")


def _named(index: int, asked: tuple[ToolCall, ...]) -> list[tuple[str, str, str]]:
    return [(f"t{index}.{number}", call.provider_call_id, call.name) for number, call in enumerate(asked)]


def _broken(index: int, reason: str) -> BrokenHistory:
    return BrokenHistory(f"turns[{index}]: {reason}.", details={"where": f"turns[{index}]", "reason": reason})
