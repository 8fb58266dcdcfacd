"""Hypothesis strategies that several tests draw from."""

from hypothesis import strategies as st

from wf_core.jsonvalue import JsonValue

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
"""Any text without lone surrogates."""

numbers = st.integers() | st.integers(-(2**80), 2**80) | st.floats(allow_nan=False, allow_infinity=False)

json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
"""Any strict JSON value, small."""
