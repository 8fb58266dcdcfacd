"""Opening a document to read it, whatever stands in its place."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from wf_artifacts.storage.documents import corrupt
from wf_artifacts.storage.faults import refusal


def open_document(path: Path, document: str) -> BinaryIO:
    """Open a file to read it; `document` names it in errors. A pipe is not waited for.

    Raises:
        FileNotFoundError: there is none.
        StateCorrupt: something stands there that is no file.
        StoreUnavailable: it cannot be opened; DocumentUnreadable when it alone cannot.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        # ENXIO is what opening a socket gives.
        raise (_no_file(document) if error.errno == errno.ENXIO else refusal(document, error)) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _no_file(document)
    return os.fdopen(descriptor, "rb")


def _no_file(document: str) -> Exception:
    return corrupt(document, "what stands there is no file")
