"""Another session that goes on from where one stands."""

from wf_core.sessions.models import Session


def fork(session: Session, *, id: str, seed: str) -> Session:
    """Copy a session. Open calls keep their place and get other tokens; what runs is the original's, here as `recover`.

    The copy has no parent. Its first event holds its whole state; `session` is left as it is.
    """
    raise NotImplementedError
