"""What every capability source is to the rest of the program."""

from wf_mcp.sources.errors import SourceUnavailable
from wf_mcp.sources.protocol import Diagnostic


def test_a_source_that_is_switched_off_is_no_error() -> None:
    off = SourceUnavailable("ops", "Off.", code="source_disabled", hint="Switch it on.")
    broken = SourceUnavailable("ops", "Broken.")

    assert Diagnostic.of(off) == Diagnostic("warning", "source_disabled", "Off.", "Switch it on.")
    assert Diagnostic.of(broken) == Diagnostic("error", "source_unavailable", "Broken.")
