"""A checkpoint is found again as it was stored, or told to be damaged."""

import pytest

from tests.wf_artifacts.samples import checkpoint, record
from wf_artifacts.runs.checkpoints import named, whole
from wf_core.errors import FormatTooNew, StateCorrupt

KEPT = checkpoint(record(), b'{"at":"start"}')


def test_a_checkpoint_is_put_together_again() -> None:
    assert whole(KEPT.run_id, named(KEPT), KEPT.state, "state") == KEPT


def test_another_state_is_damage_that_is_named() -> None:
    with pytest.raises(StateCorrupt, match="document the state is damaged"):
        whole(KEPT.run_id, named(KEPT), b'{"at":"end"}', "the state")


def test_a_state_of_a_newer_version_is_told_as_such() -> None:
    newer = b'{"format":"wf.run","version":999,"body":{}}'
    with pytest.raises(FormatTooNew) as refused:
        whole(KEPT.run_id, named(KEPT), newer, "the state")
    assert refused.value.found == 999
