"""What this process prints, without secrets: logs, tracebacks, and whatever a user's Python module says.

What a module writes to a file descriptor itself, and what a process that it starts writes, never comes by here.
"""

import sys
import threading
from collections.abc import Iterable
from typing import Any, TextIO, cast

from wf_mcp.config.redaction import Redactor


def redact_streams(redactor: Redactor) -> None:
    """Keep secrets out of what is printed on stdout and stderr, until the program ends."""
    for name in ("stdout", "stderr"):
        stream: TextIO | None = getattr(sys, name)
        if stream is not None:  # as it is where it was closed before the start
            setattr(sys, name, cast("TextIO", RedactedStream(stream, redactor)))


class RedactedStream:
    """A text stream that passes whole lines on, and what is left when it is flushed, without secrets.

    In everything else it is the stream that it writes to. Any thread may use it.
    """

    def __init__(self, stream: TextIO, redactor: Redactor) -> None:
        self._stream = stream
        self._redactor = redactor
        self._begun = ""
        self._writing = threading.RLock()

    def write(self, text: str) -> int:
        """Write text; a line that has not ended waits for its end."""
        with self._writing:
            whole, end, self._begun = (self._begun + text).rpartition("\n")
            if end:
                self._stream.write(self._redactor.text(whole) + end)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write some texts."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Bring everything out, the line that was begun too."""
        with self._writing:
            begun, self._begun = self._begun, ""
            if begun:
                self._stream.write(self._redactor.text(begun))
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
