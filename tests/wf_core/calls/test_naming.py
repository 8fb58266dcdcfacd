"""Names of tools as every vendor takes them."""

from wf_core.calls.naming import spelled


def test_what_a_vendor_may_refuse_becomes_an_underscore() -> None:
    assert spelled("ops.word-count_2 é") == "ops_word-count_2__"
