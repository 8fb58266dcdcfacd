"""What is told of exceptions that user code raises."""

from pathlib import Path

import pytest

from wf_mcp.config import Redactor
from wf_mcp.sources.python.faults import describe, describe_import
from wf_mcp.sources.python.modules import PrivateModules


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def test_kind_and_text_are_told_without_secrets_and_folders(redactor: Redactor, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="missing") as missing:
        (tmp_path / "missing.txt").read_text()
    assert describe(missing.value, redactor) == "FileNotFoundError: [Errno 2] No such file or directory: 'missing.txt'"
    assert describe(ValueError("key sesame-street"), redactor) == "ValueError: key [redacted]"
    assert describe(ValueError(), redactor) == "ValueError"
    assert describe(Mute(), redactor) == "Mute"


def test_a_module_that_is_missing_is_missing_at_no_line(
    redactor: Redactor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The import system's own code has no file: its names would be taken for files of the working directory."""
    monkeypatch.chdir(tmp_path)
    modules = PrivateModules(tmp_path)
    with pytest.raises(ModuleNotFoundError) as failed:
        modules.load("ops")
    modules.close()
    assert describe_import(failed.value, modules, redactor) == "ModuleNotFoundError: No module named 'ops'"


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"ops.py": "\n\nx = (1\n"}, "SyntaxError: '(' was never closed (ops.py, line 3)"),
        ({"ops.py": "x = 1\n\nimport no_such_library\n"}, "No module named 'no_such_library' (ops.py, line 3)"),
        (
            {"ops.py": "from pkg import a", "pkg/a.py": "\n1 / 0"},
            "ZeroDivisionError: division by zero (pkg/a.py, line 2)",
        ),
        ({"ops.py": "from pkg import a", "pkg/a.py": "def f(:"}, "SyntaxError: invalid syntax (pkg/a.py, line 1)"),
        ({"ops.py": "import json\njson.loads('{')"}, "(ops.py, line 2)"),
        ({"ops.py": "import sys\nsys.exit('enough')"}, "SystemExit: enough (ops.py, line 2)"),
        ({"ops.py": "import pkg.none", "pkg/__init__.py": ""}, "No module named 'pkg.none' (ops.py, line 1)"),
        ({"ops.py": b"x = '\xff'"}, "ops.py"),
        ({}, "ModuleNotFoundError: No module named 'ops'"),
    ],
)
def test_a_failed_import_is_told_with_file_and_line(
    files: dict[str, str | bytes], told: str, redactor: Redactor, tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    modules = PrivateModules(tmp_path)

    with pytest.raises(BaseException) as failed:  # noqa: PT011  # SystemExit is one of them
        modules.load("ops")
    modules.close()
    message = describe_import(failed.value, modules, redactor)

    assert told in message
    assert str(tmp_path) not in message
    assert modules.package not in message
