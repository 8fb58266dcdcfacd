"""Where the references in a schema lead. Nothing is ever fetched."""

from typing import Any

import jsonschema_rs as js

from wf_core.schemas.pointers import to_fragment

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
"""Keywords that name another schema."""

_BASE = "json-schema:///"
"""Stands for the address of a document that names none: nothing can be fetched from there."""


def resolver_of(document: dict[str, Any]) -> js.Resolver:
    """Give what resolves references at the root of a document. What it names outside is taken for an empty schema.

    Raises:
        ValueError: the document cannot be read as a schema.
    """
    return js.Registry([(_BASE, document)], retriever=lambda _: True).resolver(_BASE)


def resolver_at(place: str, root: js.Resolver) -> js.Resolver:
    """Give what resolves references that stand at a place, a JSON Pointer, of the document of `root`.

    Raises:
        jsonschema_rs.ReferencingError: the identities of schemas do not allow it.
    """
    return root.lookup("#" + to_fragment(place)).resolver
