"""Names of stored things: what may be one, which was probably meant, and how a run gets its own."""

import difflib
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final, NewType

RunId = NewType("RunId", str)
ArtifactId = NewType("ArtifactId", str)
DeploymentId = NewType("DeploymentId", str)

RUN_ID_RANDOM_BITS: Final = 128

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_RUN_ID_LENGTH = 36  # base32 characters for 48 bits of time and 128 random bits
_RUN_ID = re.compile(rf"run_[0-9A-F][{_CROCKFORD}]{{{_RUN_ID_LENGTH - 1}}}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_COMPARED_LENGTH = 128


def is_id(text: str) -> bool:
    """Tell whether a text may name an artifact or a deployment, and so a file."""
    return _ID.fullmatch(text) is not None


def close_matches(name: str, known: Iterable[str], n: int = 3) -> list[str]:
    """Give up to `n` known names that look like `name`, the closest first, whatever the case of letters."""
    lowered: dict[str, list[str]] = {}
    for candidate in sorted(known):
        lowered.setdefault(candidate.lower(), []).append(candidate)
    found = difflib.get_close_matches(name[:_COMPARED_LENGTH].lower(), lowered, n=n)
    return [candidate for match in found for candidate in lowered[match]][:n]


def run_id(now: datetime, random_bits: int) -> RunId:
    """Name a run: ids sort by the millisecond of their creation, then by `random_bits`, of which 128 are used."""
    milliseconds = (now - _EPOCH) // _MILLISECOND
    number = (milliseconds << RUN_ID_RANDOM_BITS) | (random_bits & ((1 << RUN_ID_RANDOM_BITS) - 1))
    digits = [_CROCKFORD[(number >> shift) & 31] for shift in range(5 * (_RUN_ID_LENGTH - 1), -1, -5)]
    return RunId("run_" + "".join(digits))


def is_run_id(text: str) -> bool:
    """Tell whether `run_id` can have made a text."""
    return _RUN_ID.fullmatch(text) is not None
