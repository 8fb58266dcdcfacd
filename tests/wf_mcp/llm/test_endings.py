"""Which answers are whole."""

from typing import get_args

from wf_mcp.llm.endings import CUTS, Ending


def test_an_answer_is_whole_only_where_the_model_had_said_everything() -> None:
    assert set(get_args(Ending)) - set(CUTS) == {"stop", "tool_call"}


def test_only_what_the_model_could_not_help_is_asked_again_at_once() -> None:
    assert [ending for ending, cut in CUTS.items() if cut.passing] == ["error"]


def test_who_cannot_have_an_answer_by_asking_again_is_told_what_to_do() -> None:
    assert [ending for ending, cut in CUTS.items() if cut.hint is None] == ["error"]


def test_an_answer_cut_at_the_limit_says_what_to_do() -> None:
    cut = CUTS["length"]
    assert cut.code == "model_answer_cut"
    assert "limit of its tokens" in cut.message
    assert cut.hint is not None
    assert "shorter" in cut.hint
    assert "raise the limit" in cut.hint
