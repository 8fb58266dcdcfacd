"""The context of a deferred call: everything that can be written down, and read again strictly."""

import dataclasses
from typing import Any

import pytest

from wf_core.calls.continuations import ContinuationContext, context_to_json, read_context
from wf_core.errors import StateCorrupt

CONTEXT = ContinuationContext(
    session_id="sess_1",
    run_id="run_1",
    turn_id="t2",
    conversation_id="sess_0",
    call_stack=("planner", "helper"),
    allowed_tools=("count", "write"),
    parent="sess_0",
)


@pytest.mark.parametrize("context", [CONTEXT, ContinuationContext()])
def test_a_context_is_read_as_it_was_written(context: ContinuationContext) -> None:
    assert read_context(context_to_json(context)) == context


def test_every_field_is_written() -> None:
    assert list(context_to_json(CONTEXT)) == [field.name for field in dataclasses.fields(ContinuationContext)]


@pytest.mark.parametrize(
    ("damage", "where"),
    [
        ({"session_id": 1}, "context.session_id"),
        ({"call_stack": None}, "context.call_stack"),
        ({"allowed_tools": [1]}, "context.allowed_tools"),
        ({"portal": "x"}, "context"),
    ],
)
def test_damage_is_named(damage: dict[str, Any], where: str) -> None:
    with pytest.raises(StateCorrupt) as caught:
        read_context({**context_to_json(CONTEXT), **damage})
    assert caught.value.details["where"] == where


def test_a_missing_key_and_no_object_are_refused() -> None:
    short = context_to_json(CONTEXT)
    del short["parent"]
    with pytest.raises(StateCorrupt, match="'parent'"):
        read_context(short)
    with pytest.raises(StateCorrupt, match="is no object"):
        read_context([])
