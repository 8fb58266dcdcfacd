"""The names of the ways in which a write meets the value that is there. What they do is `wf_core.std.reducers`."""

from typing import Literal, get_args

ReducerName = Literal["replace", "append", "extend", "add", "max", "min", "merge_object", "set_union"]

REDUCERS: frozenset[str] = frozenset(get_args(ReducerName))

MERGEABLE: frozenset[str] = REDUCERS - {"replace"}
"""Reducers under which several items of a concurrent loop may write one path."""
