"""Keeping secrets out of what is stored or shown."""

import logging

import pytest

from wf_core.jsonvalue import JsonValue
from wf_mcp.config.redaction import Redactor, redacted_logs


@pytest.fixture
def redactor() -> Redactor:
    redactor = Redactor()
    redactor.add("sesame")
    redactor.add("sesame street")
    redactor.add('a/b c"d')
    return redactor


def test_secrets_are_replaced_in_texts_keys_and_depths(redactor: Redactor) -> None:
    value: JsonValue = {"sesame": ["x sesame street y", 1, None, {"k": "sesame"}], "n": 1.5}

    assert redactor.json(value) == {"[redacted]": ["x [redacted] y", 1, None, {"k": "[redacted]"}], "n": 1.5}
    assert "sesame" in value


def test_a_secret_is_found_as_json_and_urls_spell_it(redactor: Redactor) -> None:
    assert redactor.text('{"k": "a/b c\\"d"}') == '{"k": "[redacted]"}'
    assert redactor.text("https://x/?k=a%2Fb%20c%22d") == "https://x/?k=[redacted]"


@pytest.mark.parametrize(
    "spelled",
    [
        "clé d'été",
        r"cl\u00e9 d'\u00e9t\u00e9",
        r"cl\u00E9 d'\u00E9t\u00E9",
        r"cl\xe9 d'\xe9t\xe9",
        r"cl\xc3\xa9 d'\xc3\xa9t\xc3\xa9",
        "cl%C3%A9%20d%27%C3%A9t%C3%A9",
        "cl%c3%a9%20d%27%c3%a9t%c3%a9",
        "cl%E9%20d%27%E9t%E9",
        "cl\u00c3\u00a9 d'\u00c3\u00a9t\u00c3\u00a9",
        r"cl\u00c3\u00a9 d'\u00c3\u00a9t\u00c3\u00a9",
        "cl? d'?t?",
        "cl\ufffd\ufffd d'\ufffd\ufffdt\ufffd\ufffd",
    ],
)
def test_a_secret_outside_ascii_is_found_in_whatever_encoding(spelled: str) -> None:
    redactor = Redactor()
    redactor.add("clé d'été")
    assert redactor.text(f"<{spelled}>") == "<[redacted]>"


def test_what_is_lost_of_a_secret_outside_ascii_hides_no_other_text() -> None:
    redactor = Redactor()
    redactor.add("пароль")
    redactor.add("éclé")
    assert redactor.text("really?????? ?cl? Ð¿Ð°Ñ\x80Ð¾Ð»Ñ\x8c") == "really?????? ?cl? [redacted]"


def test_a_secret_that_is_no_unicode_is_one() -> None:
    """Variables of the environment are bytes."""
    redactor = Redactor()
    redactor.add("gate\udce9gate")
    assert redactor.text("x gate\udce9gate %67 gate%E9gate") == "x [redacted] %67 [redacted]"


@pytest.mark.parametrize(
    ("secret", "hidden", "kept"),
    [
        ("7766554433", [7766554433, -7766554433, 7766554433.0, 177665544330], [776655443, 0.5, True, None]),
        ("0012345", [12345, 12345.0, 9123450], [1234, 2345]),
        ("12345678901234567890123", [12345678901234567890123, 12345678901234567890123.0], [1.2345]),
        ("3.14150", [3.1415], [3.14, 31415]),
        ("1234\nabcdef", [12345], [234]),
        ("1e9", [], [1e9, 1000000000]),
        ("1", [], [1, 1.0, True]),
    ],
)
def test_a_number_that_holds_a_secret_is_hidden(secret: str, hidden: list[JsonValue], kept: list[JsonValue]) -> None:
    """Under the rule that holds for texts: what is shorter than four characters is none."""
    redactor = Redactor()
    redactor.add("other")
    redactor.add(secret)

    assert redactor.json({"hidden": hidden}) == {"hidden": ["[redacted]"] * len(hidden)}
    assert repr(redactor.json(kept)) == repr(kept)


def test_keys_that_hold_secrets_stay_apart(redactor: Redactor) -> None:
    value: JsonValue = {"sesame": 1, "sesame street": 2, "[redacted 2]": 3, "the sesame": 4, "the sesame street": 5}

    assert redactor.json(value) == {
        "[redacted]": 1,
        "[redacted 3]": 2,
        "[redacted 2]": 3,
        "the [redacted]": 4,
        "the [redacted 2]": 5,
    }


def test_each_line_of_a_secret_is_one_and_what_surrounds_it_is_not() -> None:
    redactor = Redactor()
    redactor.add(" first line \r\nab\nsecond line\n")

    assert redactor.text("first line") == "[redacted]"
    assert redactor.text("> second line <") == "> [redacted] <"
    assert redactor.text("ab") == "ab"


def test_what_is_too_short_to_be_a_secret_stays() -> None:
    redactor = Redactor()
    redactor.add("abc")
    redactor.add("")
    value: JsonValue = ["abcdef"]

    assert redactor.text("abcdef") == "abcdef"
    assert redactor.json(value) is value


def test_log_records_lose_secrets_and_tracebacks(redactor: Redactor, caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("test.redaction")
    with redacted_logs(redactor, ["test.redaction"]):
        try:
            raise ValueError("sesame")
        except ValueError:
            logger.exception("of %s", "sesame")

    assert "of [redacted] (ValueError)" in caplog.text
    assert "sesame" not in caplog.text
    assert logger.filters == []
