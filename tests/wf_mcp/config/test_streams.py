"""What this process prints, without secrets."""

import io
import logging
import sys

import pytest

from wf_mcp.config import Redactor
from wf_mcp.config.streams import RedactedStream, redact_streams


@pytest.fixture
def redactor() -> Redactor:
    redactor = Redactor()
    redactor.add("sesame street")
    return redactor


def test_a_secret_that_is_written_in_pieces_is_found(redactor: Redactor) -> None:
    under = io.StringIO()
    stream = RedactedStream(under, redactor)

    stream.writelines(["of ", "sesame ", "street\nand "])
    assert under.getvalue() == "of [redacted]\n"
    stream.write("sesame street")
    stream.flush()
    assert under.getvalue() == "of [redacted]\nand [redacted]"


def test_it_is_in_everything_else_the_stream_that_it_writes_to(redactor: Redactor) -> None:
    with io.TextIOWrapper(io.BytesIO(), encoding="latin-1") as under:
        stream = RedactedStream(under, redactor)
        assert (stream.encoding, stream.isatty(), stream.buffer) == ("latin-1", False, under.buffer)


@pytest.mark.parametrize("name", ["ops", "asyncio"])
def test_records_of_every_logger_lose_secrets_also_in_arguments_and_tracebacks(
    redactor: Redactor, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    printed = io.StringIO()
    monkeypatch.setattr(sys, "stderr", printed)
    monkeypatch.setattr(sys, "stdout", None)
    redact_streams(redactor)
    handler = logging.StreamHandler()
    logger = logging.getLogger(name)
    logger.addHandler(handler)
    try:
        raise ValueError("no sesame street")
    except ValueError:
        logger.exception("of %s", "sesame street", stack_info=True)
    finally:
        logger.removeHandler(handler)

    assert "of [redacted]\n" in printed.getvalue()
    assert "ValueError: no [redacted]\n" in printed.getvalue()
    assert "Stack (most recent call last)" in printed.getvalue()
    assert "sesame street" not in printed.getvalue()
    assert sys.stdout is None
