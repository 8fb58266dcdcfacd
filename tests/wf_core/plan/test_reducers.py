"""Which reducers join writes."""

from wf_core.plan.reducers import MERGEABLE, REDUCERS


def test_only_replace_keeps_items_from_writing_beside_each_other() -> None:
    assert {"replace"} == REDUCERS - MERGEABLE
