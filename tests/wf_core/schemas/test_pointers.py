"""Pointers are written and read as RFC 6901 says, in addresses too."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wf_core.schemas.pointers import from_fragment, pointer_to, split_pointer, to_fragment

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


def test_steps_are_escaped() -> None:
    assert pointer_to(["a/b", 0, "c~d", ""]) == "/a~1b/0/c~0d/"
    assert pointer_to([]) == ""


@given(st.lists(TEXTS))
def test_steps_are_read_as_they_were_written(steps: list[str]) -> None:
    assert split_pointer(pointer_to(steps)) == tuple(steps)


@given(TEXTS)
def test_a_fragment_stands_in_an_address_and_is_read_back(pointer: str) -> None:
    fragment = to_fragment(pointer)
    assert fragment.isascii()
    assert not set(fragment) & set('#" <>')
    assert from_fragment(fragment) == pointer


@pytest.mark.parametrize(
    ("fragment", "read"), [("/a%2fb", "/a/b"), ("caf%C3%A9", "café"), ("100%", "100%"), ("é", "é")]
)
def test_fragments_of_others_are_read(fragment: str, read: str) -> None:
    assert from_fragment(fragment) == read
