"""JSON on the command line."""

from pathlib import Path

import pytest

from wf_mcp.cli.documents import read_json, read_object, read_plan
from wf_mcp.errors import InvalidArgument


def test_json_is_written_out_or_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "value.json"
    file.write_text("[1, 18446744073709551616]", encoding="utf-8")

    assert read_json('{"a": null}', name="--input") == {"a": None}
    assert read_json(f"@{file}", name="--input") == [1, 2**64]


@pytest.mark.parametrize("text", ["{", "NaN", '{"a": 1, "a": 2}', "", '"\\ud800"'])
def test_what_is_no_strict_json_is_refused_by_the_name_of_the_argument(text: str) -> None:
    with pytest.raises(InvalidArgument, match=r"^--input is no JSON: "):
        read_json(text, name="--input")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"nothing\.json cannot be read: No such file"):
        read_json(f"@{tmp_path / 'nothing.json'}", name="--input")


def test_an_object_is_asked_for() -> None:
    with pytest.raises(InvalidArgument, match="must be a JSON object"):
        read_object("[]", name="--input")


def test_a_plan_may_be_named_by_its_file(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text('{"name": "x"}', encoding="utf-8")

    assert read_plan(str(file)) == read_plan(f"@{file}") == read_plan('{"name": "x"}') == {"name": "x"}
