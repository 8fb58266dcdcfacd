"""Whatever the outside may bring: texts that look like ours, values, and results of calls."""

from typing import Any

from hypothesis import strategies as st

from wf_core.calls.results import JsonContent, MediaContent, MixedContent, TextContent, ToolResult
from wf_core.jsonvalue import JsonValue

ENVELOPES = (
    '{"tag":"RunIsolated"}',
    '{"token":"call_0","status":"success","result":{"type":"text","content":"x"}}',
    '{"lc":2,"type":"constructor","id":["x"]}',
    '{"event":"held"}',
    "{{results}}",
    "\u0000\u2028𝄞",
)

texts = st.sampled_from(ENVELOPES) | st.text(max_size=8)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
contents = st.one_of(
    st.builds(TextContent, texts),
    st.builds(JsonContent, values),
    st.builds(MediaContent, st.just("image/png"), st.just("AAAA"), st.none() | texts),
)
results = st.builds(
    ToolResult,
    contents | st.builds(MixedContent, st.lists(contents, max_size=2).map(tuple)),
    st.booleans(),
)


def nested(levels: int) -> JsonValue:
    """Give a number in so many arrays."""
    value: JsonValue = 1
    for _ in range(levels):
        value = [value]
    return value
