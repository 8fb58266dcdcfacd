"""Stored documents that a test changes, and what earlier versions wrote in their place."""

import json
from typing import Any

from wf_core.codec import envelope
from wf_core.jsonvalue import dumps


def resealed(data: bytes) -> bytes:
    """Give a document that was changed the checksum of what it says now."""
    document = json.loads(data)
    return envelope.dump(document["format"], document["version"], _without_checksum(document))


def plain(data: bytes, version: int) -> bytes:
    """Give a document as a version wrote it that knew no checksums."""
    document = json.loads(data)
    return dumps({"format": document["format"], "version": version, "body": _without_checksum(document)})


def _without_checksum(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document["body"].items() if key != "crc32"}
