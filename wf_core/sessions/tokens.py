"""By which name the outside knows a call: guessed by nobody, and the same wherever the same state is taken on."""

import hashlib
import hmac

from wf_core.ids import base32
from wf_core.sessions.models import Session

_LENGTH = 26  # base32 characters: 130 bits


def token_of(session: Session, call_id: str) -> str:
    """Give a call's token, `call_` and 26 characters. Calls that look the same have different ones, and forks too."""
    digest = hmac.digest(session.seed.encode(), call_id.encode(), hashlib.sha256)
    return "call_" + base32(int.from_bytes(digest), _LENGTH)
