"""A key stands for one run of one principal and deployment."""

import json
from pathlib import Path

import pytest

from tests.wf_artifacts.samples import new_run_id, record
from wf_artifacts.runs.files.keys import Keys
from wf_artifacts.storage.home import Home
from wf_core.errors import StateCorrupt

BEGUN = record(idempotency_key="k")


@pytest.fixture
def keys(home: Path) -> Keys:
    return Keys(Home(home))


def test_a_key_stands_for_its_run_until_it_is_freed(keys: Keys) -> None:
    with keys.changing(BEGUN):
        assert keys.run_of(BEGUN) is None
        keys.reserve(BEGUN)
        assert keys.run_of(record(new_run_id(9), idempotency_key="k")) == BEGUN.run_id
        keys.free(BEGUN)
        assert keys.run_of(BEGUN) is None


def test_principal_deployment_and_key_are_told_apart(keys: Keys) -> None:
    with keys.changing(BEGUN):
        keys.reserve(BEGUN)
    for other in ({"principal": "other"}, {"deployment_id": "other"}, {"idempotency_key": "other"}):
        assert keys.run_of(BEGUN.model_copy(update=other)) is None


def test_the_key_itself_is_no_file_name(home: Path, keys: Keys) -> None:
    climbing = record(idempotency_key="../../../../climbed")
    with keys.changing(climbing):
        keys.reserve(climbing)
    files = [path.relative_to(home).as_posix() for path in home.rglob("*.json")]
    assert len(files) == 1
    assert files[0].startswith("keys/")


def test_a_damaged_key_is_told_and_never_taken_for_a_free_one(home: Path, keys: Keys) -> None:
    with keys.changing(BEGUN):
        keys.reserve(BEGUN)
    path = next(home.rglob("*.json"))
    other = json.loads(path.read_bytes())
    other["body"]["key"] = "other"
    for damaged in (b"", json.dumps(other).encode()):
        path.write_bytes(damaged)
        with pytest.raises(StateCorrupt, match="keys/"):
            keys.run_of(BEGUN)
