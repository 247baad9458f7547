# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""An import hook by which the name of another library imports a package of Spanwise's."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

# The classes do not derive from those of importlib.abc, whose import takes several milliseconds.


class _Loader:
    """Loads the module `target`, which keeps its own spec, as the module of another name."""

    def __init__(self, target: str, after_load: Callable[[], None] | None) -> None:
        self.target, self.after_load = target, after_load

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.target)
        self.target_spec = module.__spec__
        if self.after_load is not None:
            self.after_load()
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.target_spec


class _Finder:
    """Finds the modules of `package` under the name `name`."""

    def __init__(self, name: str, package: str, after_load: Callable[[], None] | None) -> None:
        self.name, self.package, self.after_load = name, package, after_load

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] != self.name:
            return None
        spec = importlib.util.find_spec(self.package + fullname.removeprefix(self.name))
        if spec is None:
            return None
        loader: Any = _Loader(spec.name, self.after_load if fullname == self.name else None)
        is_package = spec.submodule_search_locations is not None
        return ModuleSpec(fullname, loader, is_package=is_package)


def alias_package(name: str, package: str, after_load: Callable[[], None] | None = None) -> None:
    """Makes ``import name`` and ``import name.x`` import `package` and its modules, also where a
    package `name` is installed; modules of that package that are imported already stay as they are.
    `after_load` is called when `package` is first imported by the name."""
    sys.meta_path.insert(0, _Finder(name, package, after_load))
