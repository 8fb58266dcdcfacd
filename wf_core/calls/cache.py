"""Under which key a call's result is kept, so that an equal call need not be made again."""

import hashlib

from wf_core.jsonvalue import JsonValue, canonical


def cache_key(capability: str, digest: str, arguments: JsonValue, scope: str | None, key: str | None = None) -> str:
    """Name a call's result: 64 hexadecimal digits, the same for calls that are canonically equal and only for those.

    `digest` is that of the contract, `scope` a session's id or None for everybody. `key`, where a policy names one,
    stands for the arguments.
    """
    subject: dict[str, JsonValue] = {"arguments": arguments} if key is None else {"key": key}
    said: dict[str, JsonValue] = {"capability": capability, "digest": digest, "scope": scope, **subject}
    return hashlib.sha256(canonical(said)).hexdigest()
