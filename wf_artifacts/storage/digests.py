"""Short names of JSON values: equal values, and only those, have the same digest."""

from hashlib import sha256
from typing import Any

from wf_core.jsonvalue import canonical


def json_digest(value: Any) -> str:
    """Give the digest of a JSON value: key order and the spelling of numbers do not matter.

    Raises:
        NotJson: the value is no strict JSON.
    """
    return bytes_digest(canonical(value))


def bytes_digest(data: bytes) -> str:
    """Give the digest of stored bytes as they are."""
    return f"sha256:{sha256(data).hexdigest()}"


def column_digest(value: Any) -> bytes:
    """Give the digest of a JSON value as rows hold it where it is looked up: the value itself may be any text."""
    return sha256(canonical(value)).digest()


def principal_digest(principal: str | None) -> bytes | None:
    """Give what rows of runs and sessions hold of whose they are; None stays None."""
    return None if principal is None else column_digest(principal)
