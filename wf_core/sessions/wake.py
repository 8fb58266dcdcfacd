"""What the outside delivers: results, approvals, and a person's word about what is in doubt."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from wf_core.calls.results import ToolResult
from wf_core.calls.tracked import TrackedCall
from wf_core.sessions.models import Session


@dataclass(frozen=True, slots=True)
class Delivered:
    """The call's result. One with `error` also refuses an approval."""

    result: ToolResult


@dataclass(frozen=True, slots=True)
class Approved:
    """A person allows the call: it is carried out here."""


@dataclass(frozen=True, slots=True)
class Retried:
    """A person says that a call in doubt is to be made again; or a deferred isolated call is to be run here."""


Delivery: TypeAlias = Delivered | Approved | Retried

Awaited: TypeAlias = Literal["result", "approval", "isolation", "word"]


def awaited(call: TrackedCall) -> Awaited | None:
    """Say what an open call waits for: an outside result, an approval, a runner, a person's word; None for nothing."""
    raise NotImplementedError


def check_delivery(call: TrackedCall, delivery: Delivery) -> None:
    """Refuse what does not answer a call: to be asked before a delivery is stored.

    Raises:
        WrongAnswerKind: naming what the call waits for.
    """
    raise NotImplementedError


def call_of_token(session: Session, token: str) -> TrackedCall | None:
    """Give the open call that is answered by a token."""
    raise NotImplementedError


def wake_session(session: Session, deliveries: Sequence[tuple[str, Delivery]]) -> list[str]:
    """Place what was delivered, all of it or nothing, and give the tokens for which there is no open call (any more).

    Of several deliveries for one token the first counts; the others are unused.

    Raises:
        WrongAnswerKind, SessionResultInvalid: nothing was changed.
    """
    raise NotImplementedError
