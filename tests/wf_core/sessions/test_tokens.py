"""A token is told by nothing but the seed and the call."""

import re

from tests.wf_core.conversations import start
from wf_core.sessions import Session, token_of


def test_a_token_is_call_and_26_characters_of_base32() -> None:
    assert re.fullmatch(r"call_[0-9A-HJKMNP-TV-Z]{26}", token_of(start(), "t2.0"))


def test_the_same_state_gives_the_same_token_and_another_seed_another() -> None:
    one, other = start(), Session("sess_2", "another", start().agent)
    assert token_of(one, "t2.0") == token_of(start(), "t2.0") == "call_623CF69P522PF97G9Q27A0C2M3"
    tokens = {
        token_of(session, f"t{turn}.{index}") for session in (one, other) for turn in range(30) for index in range(30)
    }
    assert len(tokens) == 1800


def test_a_seed_is_not_shown() -> None:
    assert start().seed not in repr(start())
