"""Importing a source's module from its folder, out of sight of every other module of the process.

The folder becomes a private package. A module in it imports what lies beside it by plain name, at import time or
later, whatever else has that name; `sys.path` stays as it is, and nobody else sees these modules. Code is always
compiled from its text: a cached file is trusted by the second, and would hide a change within one.
"""

import builtins
import importlib
import itertools
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
)
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

OURS = frozenset({"wf_core", "wf_artifacts", "wf_mcp"})
"""Never taken from a source's folder: a second `wf_core` would have another `capability`."""

_numbers = itertools.count(1)


class PrivateModules:
    """The modules of one folder. `close` forgets them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.package = f"_wf_source_{next(_numbers)}"
        self._finder = _Finder(self)

    def load(self, module: str) -> ModuleType:
        """Import `module` (dots allowed) from the folder.

        Raises whatever the module raises, `SystemExit` included, and `ModuleNotFoundError` where there is none.
        """
        sys.meta_path.insert(0, self._finder)
        sys.modules[self.package] = module_from_spec(_package_spec(self.package, self.folder))
        return importlib.import_module(f"{self.package}.{module}")

    def holds(self, name: str) -> bool:
        """Tell whether `import name` inside the folder means a module of the folder."""
        if name in OURS:
            return False
        if any((self.folder / f"{name}{suffix}").is_file() for suffix in (*SOURCE_SUFFIXES, *EXTENSION_SUFFIXES)):
            return True
        if not (self.folder / name).is_dir():
            return False
        # As everywhere in Python, a folder that is no package gives way to a module found elsewhere.
        return (self.folder / name / "__init__.py").is_file() or find_spec(name) is None

    def import_from(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """Do what an `import` statement in one of the modules asks for; `__import__` to them."""
        first = name.partition(".")[0]
        if level or not self.holds(first):
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        module = builtins.__import__(f"{self.package}.{name}", globals, locals, fromlist or (), 0)
        return module if fromlist else sys.modules[f"{self.package}.{first}"]

    def close(self) -> None:
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        for name in [name for name in sys.modules if name.partition(".")[0] == self.package]:
            del sys.modules[name]


class _Finder(MetaPathFinder):
    """Finds the modules of one private package."""

    def __init__(self, modules: PrivateModules) -> None:
        self._package = modules.package
        loader = partial(_SourceLoader, modules)
        self._loaders: list[tuple[Any, list[str]]] = [
            (ExtensionFileLoader, EXTENSION_SUFFIXES),
            (loader, SOURCE_SUFFIXES),
        ]

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != self._package:
            return None
        found = (FileFinder(folder, *self._loaders).find_spec(fullname, target) for folder in path or ())
        return next((spec for spec in found if spec is not None), None)


class _SourceLoader(SourceFileLoader):
    """Compiles from the text, and lets the module's own `import` and `print` be those of a source."""

    def __init__(self, modules: PrivateModules, fullname: str, path: str) -> None:
        super().__init__(fullname, path)
        self._modules = modules

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002  # as the import system calls it
        return self.source_to_code(self.get_data(self.path), self.path)

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__builtins__"] = {
            **vars(builtins),
            "__import__": self._modules.import_from,
            "print": _print,
        }
        super().exec_module(module)


def _package_spec(name: str, folder: Path) -> ModuleSpec:
    spec = ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = [str(folder)]
    return spec


def _print(*values: object, file: Any = None, **options: Any) -> None:
    """Print to stderr unless told otherwise: stdout belongs to the protocol."""
    print(*values, file=sys.stderr if file is None else file, **options)
