"""The grammar of paths and templates, and reading a value through a path."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.strategies import json_values, texts
from wf_core.errors import InvalidPath, InvalidTemplate
from wf_core.jsonvalue import JsonValue
from wf_core.paths import (
    MAX_SEGMENTS,
    MISSING,
    GraphPath,
    Missing,
    Root,
    Segments,
    format_path,
    lookup,
    overlaps,
    parse_graph_path,
    parse_local_path,
    parse_state_target,
    parse_template,
)

segments = st.lists(texts, max_size=4).map(tuple)
some_segments = st.lists(texts, min_size=1, max_size=4).map(tuple)
roots: st.SearchStrategy[Root] = st.sampled_from(["input", "state", "context"])


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("state", GraphPath("state")),
        ("input", GraphPath("input")),
        ("context.run_id", GraphPath("context", ("run_id",))),
        ("state.person.name", GraphPath("state", ("person", "name"))),
        ("state.rows.0.id", GraphPath("state", ("rows", "0", "id"))),
        ('state."a.b"', GraphPath("state", ("a.b",))),
        ('input."first name".x', GraphPath("input", ("first name", "x"))),
        (r'input."say \"hi\"\u0041"', GraphPath("input", ('say "hi"A',))),
        ('state.""', GraphPath("state", ("",))),
        ("state.a-b_c", GraphPath("state", ("a-b_c",))),
    ],
)
def test_graph_paths_start_at_a_root(text: str, path: GraphPath) -> None:
    assert parse_graph_path(text) == path


NO_PATHS = [
    "",
    ".",
    " state",
    "state ",
    "state.",
    ".state",
    "state..a",
    "state.a b",
    "state.a.",
    "state[0]",
    "state.größe",
    "$.state",
    'state."a',
    'state."a"b',
    'state."a\nb"',
    r'state."\x"',
    r'state."\ud800"',
    "state.a\u2502b",
    "state.{{a}}",
]


@pytest.mark.parametrize("text", [*NO_PATHS, "stat.x", "name", "State.x", '"state".x', "0"])
def test_text_that_is_no_graph_path_is_refused(text: str) -> None:
    with pytest.raises(InvalidPath) as refused:
        parse_graph_path(text)
    assert refused.value.code == "invalid_path"


@pytest.mark.parametrize("text", [text for text in NO_PATHS if text != "."])
def test_text_that_is_no_local_path_is_refused(text: str) -> None:
    with pytest.raises(InvalidPath):
        parse_local_path(text)


def test_a_refusal_names_the_place_and_what_to_write() -> None:
    with pytest.raises(InvalidPath) as refused:
        parse_graph_path("state.first name")
    assert refused.value.message == '"state.first name" is no path: unexpected " " at character 11.'
    assert 'state."first name"' in str(refused.value)


def test_a_path_without_end_is_refused() -> None:
    """Writing through it would build a state too deep to be stored."""
    assert len(parse_graph_path("state" + ".a" * (MAX_SEGMENTS - 1)).segments) == MAX_SEGMENTS - 1
    with pytest.raises(InvalidPath, match="more than 32 segments"):
        parse_state_target("state" + ".a" * MAX_SEGMENTS)


def test_a_forgotten_root_is_suggested() -> None:
    with pytest.raises(InvalidPath, match=r"Did you mean state\.name\?"):
        parse_graph_path("name")


def test_a_long_text_is_not_repeated_in_full() -> None:
    with pytest.raises(InvalidPath) as refused:
        parse_graph_path("state." + "x " * 100_000)
    assert len(str(refused.value)) < 500


@pytest.mark.parametrize(
    ("text", "path"), [(".", ()), ("content", ("content",)), ("user.name", ("user", "name")), ("state", ("state",))]
)
def test_local_paths_are_inside_the_payload(text: str, path: Segments) -> None:
    assert parse_local_path(text) == path


@pytest.mark.parametrize(
    ("text", "path"), [("state.a", ("a",)), ("state.rows.0", ("rows", "0")), ('state."a.b".c', ("a.b", "c"))]
)
def test_state_targets_are_given_without_their_root(text: str, path: Segments) -> None:
    assert parse_state_target(text) == path


@pytest.mark.parametrize("text", ["state", "input", "input.a", "context.run_id", "a", "", "."])
def test_only_fields_of_state_are_writable(text: str) -> None:
    with pytest.raises(InvalidPath):
        parse_state_target(text)


@given(roots, segments)
def test_a_written_graph_path_reads_back(root: Root, below: Segments) -> None:
    path = GraphPath(root, below)
    assert parse_graph_path(str(path)) == path


@given(segments)
def test_a_written_local_path_reads_back(path: Segments) -> None:
    assert parse_local_path(format_path(path)) == path


@given(some_segments)
def test_a_written_target_reads_back(path: Segments) -> None:
    assert parse_state_target(format_path(("state", *path))) == path


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ()),
        ("plain } }} text", ("plain } }} text",)),
        ("{{input.file}}.published", (GraphPath("input", ("file",)), ".published")),
        (
            "a {{state.x}}{{input}} b",
            ("a ", GraphPath("state", ("x",)), GraphPath("input"), " b"),
        ),
        ('{{"{{"}}', ("{{",)),
        ('a{{"{{"}}b{{state.x}}', ("a{{b", GraphPath("state", ("x",)))),
        ('{{state."}}"}}', (GraphPath("state", ("}}",)),)),
        ("{ {state.x} }", ("{ {state.x} }",)),
        ('{{""}}', ()),
        ("{{state.x}}}}", (GraphPath("state", ("x",)), "}}")),
    ],
)
def test_templates_split_into_texts_and_paths(text: str, parts: tuple[str | GraphPath, ...]) -> None:
    assert parse_template(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        "{{input.x",
        "{{",
        "{{}}",
        "{{ state.x }}",
        "{{state.x }}",
        "{{x}}",
        "{{{state.x}}}",
        "{{state..x}}",
        '{{"a}}',
        "{{1}}",
    ],
)
def test_a_placeholder_holds_a_path_or_a_json_string_and_ends(text: str) -> None:
    with pytest.raises(InvalidTemplate) as refused:
        parse_template("before " + text)
    assert refused.value.code == "invalid_template"
    assert "character 7" in refused.value.message


@given(st.lists(texts.filter(lambda text: "{" not in text) | roots.map(GraphPath), max_size=6))
def test_a_template_put_together_from_parts_splits_into_them(parts: list[str | GraphPath]) -> None:
    text = "".join(part if isinstance(part, str) else "{{" + str(part) + "}}" for part in parts)
    split = parse_template(text)
    assert "".join(part if isinstance(part, str) else "{{" + str(part) + "}}" for part in split) == text
    assert [part for part in split if isinstance(part, GraphPath)] == [
        part for part in parts if isinstance(part, GraphPath)
    ]


@given(st.text())
def test_any_text_is_a_path_or_refused(text: str) -> None:
    for parse in (parse_graph_path, parse_local_path, parse_state_target, parse_template):
        try:
            parse(text)
        except InvalidPath as refused:
            str(refused).encode()


ROWS: JsonValue = {"rows": [{"id": 7}, None], "a.b": {"": 0}, "0": "zero", "text": "abc"}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ((), ROWS),
        (("rows", "0", "id"), 7),
        (("rows", "1"), None),
        (("a.b", ""), 0),
        (("0",), "zero"),
        (("nothing",), MISSING),
        (("rows", "2"), MISSING),
        (("rows", "-1"), MISSING),
        (("rows", "00"), MISSING),
        (("rows", "1.0"), MISSING),
        (("rows", "\N{ARABIC-INDIC DIGIT ZERO}"), MISSING),
        (("rows", "9" * 5000), MISSING),
        (("rows", "id"), MISSING),
        (("rows", "1", "id"), MISSING),
        (("text", "0"), MISSING),
    ],
)
def test_lookup_follows_keys_and_whole_numbers(path: Segments, found: JsonValue | Missing) -> None:
    assert lookup(ROWS, path) == found


@given(some_segments, json_values)
def test_lookup_finds_what_stands_at_a_path(path: Segments, value: JsonValue) -> None:
    outer: JsonValue = value
    for segment in reversed(path):
        outer = {segment: outer}
    assert lookup(outer, path) is value


@pytest.mark.parametrize(
    ("one", "other", "answer"),
    [
        (("a",), ("a",), True),
        (("a",), ("a", "b"), True),
        ((), ("a",), True),
        (("a", "b"), ("a", "c"), False),
        (("ab",), ("a",), False),
    ],
)
def test_paths_overlap_where_one_leads_into_the_other(one: Segments, other: Segments, answer: bool) -> None:
    assert overlaps(one, other) is answer
    assert overlaps(other, one) is answer


@given(segments, segments)
def test_siblings_never_overlap(one: Segments, other: Segments) -> None:
    assume(one != other)
    assert not overlaps(("a", *one), ("b", *other))
