"""Ids are checked before they name a file."""

import pytest

from wf_artifacts.errors import InvalidId
from wf_artifacts.storage.identifiers import require_id


def test_an_id_passes() -> None:
    require_id("an artifact", "publish_note-2.1")


@pytest.mark.parametrize("text", ["", "..", "../x", "a/b", ".lock", "x" * 129, "a\n", "a\u0000"])
def test_anything_else_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidId, match="cannot be the id of an artifact"):
        require_id("an artifact", text)
