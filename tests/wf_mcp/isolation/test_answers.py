"""What a worker's end and its words come to."""

import pytest

from wf_core.calls.results import JsonContent, MediaContent, MixedContent, TextContent
from wf_core.jsonvalue import JsonValue, dumps
from wf_mcp.config import Redactor
from wf_mcp.isolation import IsolationError
from wf_mcp.isolation.answers import read_answer, read_envelope
from wf_mcp.isolation.supervised import Ended

SECRET = "hush-hush-1"


def envelope(result: JsonValue, token: str = "t") -> bytes:
    return dumps({"token": token, "status": "success", "result": result})


@pytest.fixture
def redactor() -> Redactor:
    redactor = Redactor()
    redactor.add(SECRET)
    return redactor


def test_no_secret_comes_back_in_a_result(redactor: Redactor) -> None:
    """Whatever the form; data of media is left as it is."""
    parts: list[JsonValue] = [
        {"type": "text", "content": f"a {SECRET}"},
        {"type": "json", "content": {SECRET: [SECRET]}},
        {"type": "media", "mime_type": "text/plain", "base64_data": "aHVzaA==", "filename": SECRET},
    ]
    result = read_envelope(envelope({"type": "mixed", "parts": parts}), "t", redactor)
    assert result.content == MixedContent(
        (
            TextContent("a [redacted]"),
            JsonContent({"[redacted]": ["[redacted]"]}),
            MediaContent("text/plain", "aHVzaA==", "[redacted]"),
        )
    )


def test_what_a_worker_says_of_its_failure_is_a_result(redactor: Redactor) -> None:
    printed = dumps({"token": "t", "status": "error", "error": {"code": "no_luck", "message": f"not {SECRET}"}})
    result = read_envelope(printed, "t", redactor)
    assert (result.error, result.content) == (True, TextContent("no_luck: not [redacted]"))


def test_noise_is_quoted_without_a_secret_that_the_quotation_cuts(redactor: Redactor) -> None:
    for padding in range(90, 130):
        with pytest.raises(IsolationError) as caught:
            read_envelope(b"x" * padding + SECRET.encode() + b" more words", "t", redactor)
        assert "hush" not in str(caught.value)
        assert caught.value.details == {"reason": "envelope_noise"}


@pytest.mark.parametrize(
    ("ended", "says"),
    [
        (Ended(b"", 2, None), "ended with exit status 2, saying: last words."),
        (Ended(b"", 137, None), "ended with exit status 137, perhaps for its memory, saying: last words."),
        (Ended(b"", None, 15), "was ended by SIGTERM, saying"),
        (Ended(b"", None, 9), "was ended by SIGKILL, perhaps for its memory, saying"),
        (Ended(b"", None, 60), "was ended by signal 60, saying"),
        (Ended(b"{}", 1, None), "ended with exit status 1 after it had answered, saying"),
    ],
)
def test_a_bad_end_is_told_with_the_last_words(ended: Ended, says: str, redactor: Redactor) -> None:
    with pytest.raises(IsolationError, match=says) as caught:
        read_answer(ended, "t", "last words", redactor, killed=", perhaps for its memory")
    assert (caught.value.code, caught.value.executed) == ("isolation_failed", True)


def test_a_good_end_gives_the_answer(redactor: Redactor) -> None:
    assert read_answer(Ended(envelope("yes"), 0, None), "t", "", redactor).content == TextContent("yes")
