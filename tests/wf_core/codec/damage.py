"""Ways in which a stored run may be damaged: every place of the golden run, and what to put there instead."""

import json
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, cast

from wf_core.codec import envelope
from wf_core.codec.runs import VERSION

GOLDEN = Path(__file__).parent / "golden" / f"run_v{VERSION}.json"

Place = tuple[str | int, ...]

FREE = frozenset({"input", "state", "items", "payload", "output", "details"})
"""Keys under which any JSON may stand."""

SCHEMAS = frozenset({"request_schema", "resume_schema", "outcome_schemas"})


def golden(file: Path = GOLDEN) -> dict[str, Any]:
    """Give a golden run, as it is before its checksum is added."""
    document = json.loads(file.read_bytes())
    document["body"].pop("crc32", None)
    return document


def damaged(place: Place, change: Callable[[Any], Any], file: Path = GOLDEN) -> bytes:
    """Give a golden run with the value at a place changed; `...` removes it. It has the checksum of what it says."""
    document = golden(file)
    holder: Any = document
    for step in place[:-1]:
        holder = holder[step]
    changed = change(deepcopy(holder[place[-1]]))
    if changed is ...:
        del holder[place[-1]]
    else:
        holder[place[-1]] = changed
    if file == GOLDEN and len(place) > 1:
        return envelope.dump(document["format"], document["version"], document["body"])
    return json.dumps(document).encode()


def places(value: Any, place: Place = ("body",)) -> Iterator[tuple[Place, Any]]:
    """Yield every place of the record itself, not those inside values that may be any JSON."""
    yield place, value
    members: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        record = cast("dict[str, Any]", value)
        members = [(key, inner) for key, inner in record.items() if key not in FREE | SCHEMAS]
    elif isinstance(value, list) and not is_write(cast("list[Any]", value)):
        members = enumerate(cast("list[Any]", value))
    for key, inner in members:
        yield from places(inner, (*place, key))


def is_write(value: list[Any]) -> bool:
    return len(value) == 3 and isinstance(value[0], list) and isinstance(value[1], str)
