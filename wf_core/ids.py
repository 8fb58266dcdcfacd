"""Names of stored things: what may be one, which was probably meant, and how runs and sessions get theirs."""

import difflib
import hashlib
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final, NewType

RunId = NewType("RunId", str)
SessionId = NewType("SessionId", str)
ArtifactId = NewType("ArtifactId", str)
DeploymentId = NewType("DeploymentId", str)

RUN_ID_RANDOM_BITS: Final = 128
"""How many of them the id of a run or a session holds."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_DATED_LENGTH = 36  # base32 characters for 48 bits of time and 128 random bits
_DATED = rf"[0-9A-F][{_CROCKFORD}]{{{_DATED_LENGTH - 1}}}"
_RUN_ID = re.compile(f"run_{_DATED}")
_SESSION_ID = re.compile(f"sess_{_DATED}")
_CALL_TOKEN = re.compile(r"call_([0-9A-Z]+)_(c[1-9][0-9]*)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_COMPARED_LENGTH = 128


def is_id(text: object) -> bool:
    """Tell whether something is a text that may name an artifact or a deployment, and so a file."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None


def close_matches(name: str, known: Iterable[object], n: int = 3) -> list[str]:
    """Give up to `n` known names that look like `name`, the closest first, whatever the case of letters.

    What is no text is no name: a damaged row may hold something else.
    """
    lowered: dict[str, list[str]] = {}
    for candidate in sorted(candidate for candidate in known if isinstance(candidate, str)):
        lowered.setdefault(candidate.lower(), []).append(candidate)
    found = difflib.get_close_matches(name[:_COMPARED_LENGTH].lower(), lowered, n=n)
    return [candidate for match in found for candidate in lowered[match]][:n]


def run_id(now: datetime, random_bits: int) -> RunId:
    """Name a run: ids sort by the millisecond of their creation, then by `random_bits`, of which 128 are used."""
    return RunId("run_" + _dated(now, random_bits))


def is_run_id(text: str) -> bool:
    """Tell whether `run_id` can have made a text."""
    return _RUN_ID.fullmatch(text) is not None


def session_id(now: datetime, random_bits: int) -> SessionId:
    """Name a session as `run_id` names a run."""
    return SessionId("sess_" + _dated(now, random_bits))


def derived_session_id(owner: str, key: str, now: datetime) -> SessionId:
    """Name the session that a call of a run or a session stands for: the same for the same key.

    It sorts beside its owner; beside `now`, where the owner's id has no time.
    """
    _, _, dated = owner.partition("_")
    digest = int.from_bytes(hashlib.sha256(key.encode()).digest()[: RUN_ID_RANDOM_BITS // 8], "big")
    if not (is_run_id(owner) or is_session_id(owner)):
        return session_id(now, digest)
    number = 0
    for digit in dated:
        number = number << 5 | _CROCKFORD.index(digit)
    return SessionId("sess_" + base32(number >> RUN_ID_RANDOM_BITS << RUN_ID_RANDOM_BITS | digest, _DATED_LENGTH))


def is_session_id(text: str) -> bool:
    """Tell whether `session_id` can have made a text."""
    return _SESSION_ID.fullmatch(text) is not None


def call_token(run_id: str, call_id: str) -> str:
    """Name a call of a run to the outside. Tokens of sessions have no second underscore."""
    return f"call_{run_id.removeprefix('run_')}_{call_id}"


def read_call_token(token: str) -> tuple[RunId, str] | None:
    """Give the run and the call that a token names; None where `call_token` cannot have made it."""
    match = _CALL_TOKEN.fullmatch(token)
    if match is None or not is_run_id(f"run_{match[1]}"):
        return None
    return RunId(f"run_{match[1]}"), match[2]


def base32(number: int, length: int) -> str:
    """Write the lowest `5 * length` bits of a number in Crockford's base 32."""
    return "".join(_CROCKFORD[(number >> shift) & 31] for shift in range(5 * (length - 1), -1, -5))


def _dated(now: datetime, random_bits: int) -> str:
    milliseconds = (now - _EPOCH) // _MILLISECOND
    number = (milliseconds << RUN_ID_RANDOM_BITS) | (random_bits & ((1 << RUN_ID_RANDOM_BITS) - 1))
    return base32(number, _DATED_LENGTH)
