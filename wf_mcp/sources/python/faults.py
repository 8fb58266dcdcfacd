"""What is told of exceptions that a user's code raises: their kind and text, and for a failed import, file and line.

Never a stack, a folder of the host, or a secret.
"""

import traceback
from pathlib import Path

from wf_mcp.config import Redactor
from wf_mcp.sources.boundary import presentable
from wf_mcp.sources.python.modules import PrivateModules


def describe(error: BaseException, redactor: Redactor) -> str:
    """Give kind and text of an exception, as in `ValueError: not a date`."""
    try:
        text = presentable(str(error), redactor)
    except BaseException:  # noqa: BLE001  # `__str__` is user code too
        text = ""
    kind = redactor.text(kind_of(error))
    return f"{kind}: {text}" if text else kind


def kind_of(error: BaseException) -> str:
    """Give the name of an exception's class, of which a metaclass could say anything."""
    return type.__dict__["__name__"].__get__(type(error))


def describe_import(error: BaseException, modules: PrivateModules, redactor: Redactor) -> str:
    """Say why a module could not be imported, and in which file and line, relative to its folder."""
    text = describe(error, redactor).replace(f"{modules.package}.", "")
    if isinstance(error, SyntaxError) and error.filename:
        # Its own text ends in file and line already, in another form.
        text = f"{kind_of(error)}: {error.msg}"
        spots = [(error.filename, error.lineno)]
    else:
        spots = [(frame.filename, frame.lineno) for frame in reversed(traceback.extract_tb(error.__traceback__))]
    folder = modules.folder.resolve()
    for file, line in spots:
        path = Path(file).resolve()
        # What the import system brings along, `<frozen importlib._bootstrap>`, is no file, here or anywhere.
        if path.is_relative_to(folder) and path.is_file():
            return f"{text} ({path.relative_to(folder)}, line {line})"
    return text
