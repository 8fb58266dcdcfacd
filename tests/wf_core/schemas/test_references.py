"""References are resolved inside the document, and nowhere else."""

from typing import Any

import jsonschema_rs as js
import pytest

from wf_core.schemas.references import resolver_at, resolver_of

DOCUMENT: dict[str, Any] = {
    "$defs": {"inner": {"$id": "https://example.test/inner", "$defs": {"deep": {}}}, "a/é": {"type": "null"}},
    "$ref": "#/$defs/inner",
}


def test_a_place_inside_a_schema_with_a_name_has_the_address_of_that_schema() -> None:
    root = resolver_of(DOCUMENT)
    assert resolver_at("/$defs/inner/$defs/deep", root).base_uri == "https://example.test/inner"
    assert resolver_at("/$defs/a~1é", root).base_uri == resolver_at("", root).base_uri == root.base_uri


def test_what_lies_outside_is_an_empty_schema() -> None:
    elsewhere = "https://example.invalid/elsewhere"
    assert resolver_of({"$ref": elsewhere}).lookup(elsewhere).contents is True


def test_a_place_that_is_not_there_has_no_resolver() -> None:
    with pytest.raises(js.ReferencingError):
        resolver_at("/$defs/nothing", resolver_of(DOCUMENT))
