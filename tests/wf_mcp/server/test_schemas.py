"""The schemas that tools publish."""

from typing import Any

from pydantic import BaseModel, Field

from wf_mcp.server import schemas


class Inner(BaseModel):
    """Words about it."""

    title: str
    when: str | None = None


class Answer(BaseModel):
    """Words about it."""

    inner: Inner | None = None
    """More words."""
    inners: list[Inner] = Field(default=[], description="words")
    anything: Any = None
    text: str | None = None


class Arguments(BaseModel):
    name: str = Field(description="Which one.")
    version: int | None = Field(default=None, ge=1, description="The newest when left out.")
    given: dict[str, Any] = {}


def test_an_answer_is_published_without_words() -> None:
    published = schemas.of_answer(Answer, whole=False)

    assert published == {
        "type": "object",
        "properties": {
            "inner": {"type": ["object", "null"]},
            "inners": {"type": "array"},
            "anything": {},
            "text": {"type": ["string", "null"]},
        },
    }


def test_a_whole_answer_shows_its_records_and_a_property_called_title_stays() -> None:
    published = schemas.of_answer(Answer, whole=True)

    assert published["$defs"]["Inner"] == {
        "type": "object",
        "properties": {"title": {"type": "string"}, "when": {"type": ["string", "null"]}},
    }
    assert published["properties"]["inners"] == {"type": "array", "items": {"$ref": "#/$defs/Inner"}}


def test_an_optional_argument_is_published_as_what_may_be_sent() -> None:
    published = schemas.of_arguments(Arguments.model_json_schema())

    assert published == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Which one."},
            "version": {"type": "integer", "minimum": 1, "description": "The newest when left out."},
            "given": {"type": "object", "default": {}},
        },
        "required": ["name"],
        "additionalProperties": False,
    }


class Other(BaseModel):
    inner: int
    text: str | None = None
    more: bool = False


def test_of_an_answer_that_is_one_of_several_their_common_members_are_published() -> None:
    """What they do not agree on may be anything."""
    published = schemas.of_answer(Answer | Other, whole=False)

    assert published == {"type": "object", "properties": {"inner": {}, "text": {"type": ["string", "null"]}}}
    assert schemas.of_answer(Answer, whole=False)["properties"]["inner"] == {"type": ["object", "null"]}
