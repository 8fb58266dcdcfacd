"""Importing modules out of sight of the rest of the process."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import wf_core
from wf_mcp.sources.python.modules import PrivateModules

Write = Callable[[dict[str, str]], PrivateModules]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Write]:
    """Give a function that writes files into a new folder and opens it."""
    opened: list[PrivateModules] = []

    def write(files: dict[str, str]) -> PrivateModules:
        root = tmp_path / str(len(opened))
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        opened.append(PrivateModules(root))
        return opened[-1]

    yield write
    for modules in opened:
        modules.close()


def test_two_folders_may_have_modules_of_the_same_name(folder: Write) -> None:
    one = folder({"ops.py": "import helper\nvalue = helper.value", "helper.py": "value = 1"})
    two = folder({"ops.py": "from helper import value", "helper.py": "value = 2"})

    assert (one.load("ops").value, two.load("ops").value) == (1, 2)


def test_a_function_imports_its_neighbour_when_it_is_called(folder: Write) -> None:
    loaded = folder({"ops.py": "def f():\n    from pkg import late\n    return late.v", "pkg/late.py": "v = 3"}).load(
        "ops"
    )

    assert loaded.f() == 3


def test_packages_import_absolutely_and_relatively(folder: Write) -> None:
    modules = folder(
        {
            "pkg/__init__.py": "",
            "pkg/ops.py": "import pkg.deep.one\nfrom . import side\nvalue = pkg.deep.one.a + side.b + 10",
            "pkg/side.py": "import beside\nb = beside.v",
            "pkg/deep/__init__.py": "",
            "pkg/deep/one.py": "from ..side import b as a",
            "beside.py": "v = 10",
        }
    )

    assert modules.load("pkg.ops").value == 30


def test_nothing_is_left_where_others_would_find_it(folder: Write) -> None:
    path_before, modules_before, finders_before = list(sys.path), set(sys.modules), list(sys.meta_path)
    modules = folder({"ops.py": "import neighbour_of_ops", "neighbour_of_ops.py": ""})

    modules.load("ops")

    added = set(sys.modules) - modules_before
    assert added == {modules.package, f"{modules.package}.ops", f"{modules.package}.neighbour_of_ops"}
    assert sys.path == path_before
    modules.close()
    assert set(sys.modules) == modules_before
    assert sys.meta_path == finders_before
    assert sorted(path.name for path in modules.folder.iterdir()) == ["neighbour_of_ops.py", "ops.py"]


def test_a_neighbour_named_as_a_library_is_taken_only_inside(folder: Write) -> None:
    loaded = folder({"ops.py": "import json\nname = json.mine", "json.py": "mine = True"}).load("ops")

    assert loaded.name is True
    assert not hasattr(json, "mine")


def test_a_mere_folder_does_not_hide_a_library_and_our_packages_are_never_hidden(folder: Write) -> None:
    modules = folder(
        {
            "ops.py": "import json, wf_core\ndumps = json.dumps\nours = wf_core",
            "json/notes.txt": "",
            "wf_core/__init__.py": "",
        }
    )

    assert modules.load("ops").ours is wf_core


def test_a_change_within_the_same_second_is_seen(folder: Write) -> None:
    """A cached file of Python's would be trusted when time in seconds and length are the same."""
    modules = folder({"ops.py": "value = 1"})
    assert modules.load("ops").value == 1

    (modules.folder / "ops.py").write_text("value = 2")
    again = PrivateModules(modules.folder)

    assert again.load("ops").value == 2
    again.close()


def test_what_a_module_prints_never_reaches_stdout(folder: Write, capsys: pytest.CaptureFixture[str]) -> None:
    text = "import sys\nprint('one')\ndef f():\n    print('two', end='')\n    print('three', file=sys.stderr)"
    loaded = folder({"ops.py": text}).load("ops")
    loaded.f()

    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "one\ntwothree\n"


def test_a_module_leaves_by_its_own_exception(folder: Write) -> None:
    with pytest.raises(SystemExit):
        folder({"ops.py": "raise SystemExit(3)"}).load("ops")
    with pytest.raises(ModuleNotFoundError):
        folder({"ops.py": ""}).load("other")
