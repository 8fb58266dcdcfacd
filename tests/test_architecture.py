"""The shape of the house, held by a machine: layers, purity, file sizes, mirrored tests, what no file may contain."""

import ast
import re
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SCRIPTS = Path(sysconfig.get_path("scripts"))
PACKAGES = ("wf_core", "wf_artifacts", "wf_mcp")
BACKENDS = ("memory", "filetree", "sql")
LONGEST_FILE = 400
"""Lines. A longer file holds two concepts."""

FOREIGN = re.compile(r"/(?:root|work)/|(?:pypi|npmjs|pythonhosted|debian)\.(?:org|com)")
"""Paths of one machine, and hosts that package clients find by themselves."""


def modules() -> list[Path]:
    """Give every module of the three packages, by path from the root."""
    return sorted(path.relative_to(ROOT) for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def tracked() -> Iterator[Path]:
    """Give every file that belongs to the project, by path from the root."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    yield from (Path(name) for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file())


def parse(module: Path) -> ast.Module:
    return ast.parse((ROOT / module).read_text(encoding="utf-8"))


def only_declares(module: Path) -> bool:
    """Tell whether a module holds names, types and records but no function that does anything."""
    functions = (node for node in ast.walk(parse(module)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return all(
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        for function in functions
        for statement in function.body
    )


def mirror_of(module: Path) -> Path:
    """Name the mirrored test: wf_mcp/__main__.py has tests/wf_mcp/test_main.py.

    The backends of a store room share the suite that its protocol demands, test_store.py.
    """
    subject = "store" if module.stem in BACKENDS else module.stem.strip("_")
    return Path("tests") / module.with_name(f"test_{subject}.py")


def test_imports_go_downward_and_never_around() -> None:
    """The contracts stand in pyproject.toml; they are exhaustive, so a new module has to choose its layer."""
    linted = subprocess.run(
        [SCRIPTS / "lint-imports", "--no-logo"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert linted.returncode == 0, linted.stdout + linted.stderr


def test_the_kernel_asks_no_clock_and_touches_no_file() -> None:
    """wf_core awaits nothing; what imports cannot show is banned in wf_core/ruff.toml."""
    rules = "TID251,PTH,T20,DTZ,ASYNC"
    checked = subprocess.run(
        [SCRIPTS / "ruff", "check", "--quiet", "--select", rules, "wf_core"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    coroutines = [module for module in modules() if module.parts[0] == "wf_core" and holds_coroutine(module)]
    assert coroutines == []


def holds_coroutine(module: Path) -> bool:
    return any(isinstance(node, ast.AsyncFunctionDef | ast.Await) for node in ast.walk(parse(module)))


def test_no_file_is_too_long_to_hold_in_mind() -> None:
    sources = [path for path in tracked() if path.suffix == ".py"]
    lengths = {path: len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in sources}
    assert {path: length for path, length in lengths.items() if length > LONGEST_FILE} == {}


def test_every_module_opens_by_saying_what_it_owns() -> None:
    assert [module for module in modules() if not ast.get_docstring(parse(module))] == []


def test_every_module_has_its_mirrored_test() -> None:
    """wf_core/paths.py has tests/wf_core/test_paths.py. A module that only declares needs none."""
    untested = [
        module for module in modules() if not only_declares(module) and not (ROOT / mirror_of(module)).is_file()
    ]
    assert untested == []


def test_every_mirrored_test_has_its_module() -> None:
    """A package as a whole may have a test beside its folder: tests/wf_artifacts/runs/test_files.py for runs/files.

    A backend may have one of what its protocol leaves open, and what spans rooms stands beside all of them.
    """
    packages = {module.parent for module in modules()}
    backends = {
        Path("tests") / module.with_name(f"test_{module.name}") for module in modules() if module.stem in BACKENDS
    }
    expected = {mirror_of(subject) for subject in (*modules(), *packages)} | backends
    mirrored = (
        path.relative_to(ROOT) for package in PACKAGES for path in (ROOT / "tests" / package).rglob("test_*.py")
    )
    assert [test for test in mirrored if len(test.parts) > 3 and test not in expected] == []


def test_every_test_folder_is_a_package() -> None:
    """Otherwise `import wf_core` inside a test could find tests/wf_core."""
    folders = {path.parent for path in (ROOT / "tests").rglob("test_*.py")}
    assert sorted(folder for folder in folders if not (folder / "__init__.py").is_file()) == []


def test_no_file_names_one_machine_or_a_package_host() -> None:
    found = [
        f"{path}: {match.group()}"
        for path in tracked()
        for match in FOREIGN.finditer((ROOT / path).read_text(encoding="utf-8", errors="replace"))
    ]
    assert found == []
