"""The pinned definitions are read exactly as they were written, or not at all."""

import json
from typing import Any

import pytest

from tests.documents import resealed
from tests.wf_artifacts.samples import artifact, environment
from wf_artifacts.runs.environment import ENVIRONMENT
from wf_core.calls.contract import Contract, Hints
from wf_core.errors import StateCorrupt


def test_an_environment_comes_back_with_its_contracts() -> None:
    pinned = environment().model_copy(update={"children": (artifact("child", 3),)})
    read = ENVIRONMENT.decode(ENVIRONMENT.encode(pinned), "environment")
    assert read == pinned
    assert read.capabilities["files.read"].contract == Contract(
        input_schema={"type": "object"}, outcomes=("ok", "error"), hints=Hints(read_only=True)
    )


@pytest.mark.parametrize(
    "change",
    [
        {"hints": {"read_only": "yes", "idempotent": False, "destructive": True}},
        {"hints": {}},
        {"outcomes": [1]},
        {"input_schema": None},
        {"more": 1},
    ],
)
def test_a_contract_that_is_not_whole_is_damage(change: dict[str, Any]) -> None:
    document = json.loads(ENVIRONMENT.encode(environment()))
    document["body"]["capabilities"]["files.read"]["contract"].update(change)
    with pytest.raises(StateCorrupt, match=r"body\.capabilities\.files\.read\.contract"):
        ENVIRONMENT.decode(resealed(json.dumps(document).encode()), "environment")


def test_a_contract_is_never_filled_up_with_what_is_assumed_today() -> None:
    document = json.loads(ENVIRONMENT.encode(environment()))
    del document["body"]["capabilities"]["files.read"]["contract"]["deferred"]
    with pytest.raises(StateCorrupt, match="deferred: Field required"):
        ENVIRONMENT.decode(resealed(json.dumps(document).encode()), "environment")


def test_an_environment_that_many_runs_share_is_written_once() -> None:
    pinned = environment()
    assert ENVIRONMENT.encode(pinned) is ENVIRONMENT.encode(pinned)


def test_each_environment_is_written_as_it_is() -> None:
    """Also one that is where another was in memory."""
    for number in range(1_000):
        pinned = environment().model_copy(update={"children": (artifact("child", number + 1),)})
        document = json.loads(ENVIRONMENT.encode(pinned))
        assert document["body"]["children"][0]["version"] == number + 1


def test_what_is_stored_of_many_runs_is_read_once_and_damage_every_time() -> None:
    data = ENVIRONMENT.encode(environment())
    other = ENVIRONMENT.encode(environment().model_copy(update={"children": (artifact("child"),)}))
    first = ENVIRONMENT.decode(data, "one")
    assert ENVIRONMENT.decode(bytes(bytearray(data)), "another") is first
    assert ENVIRONMENT.decode(other, "one").children == (artifact("child"),)
    for document in ("one", "another"):
        with pytest.raises(StateCorrupt, match=document):
            ENVIRONMENT.decode(data.replace(b"Publishes", b"publishes"), document)
    assert ENVIRONMENT.decode(data, "one") == environment()
