# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""An import hook that makes ``import theano`` import ``spanwise.theano``."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

# The classes do not derive from those of importlib.abc, whose import takes several milliseconds.

_HERE = __name__.rpartition(".")[0]
_PYCUDA = f"{_HERE.rpartition('.')[0]}.pycuda"


class _Alias:
    """Loads ``theano.x`` as the module ``spanwise.theano.x``, which keeps its own spec."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(_own_name(spec.name))
        if spec.name == "theano":
            # Not before: scripts that only use NumPy or PyCUDA start sooner without graphs.
            importlib.import_module(f"{_HERE}._adapt").adapt_variables()
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec


class _Finder:
    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] != "theano":
            return None
        found = importlib.util.find_spec(_own_name(fullname))
        if found is None:
            return None
        is_package = found.submodule_search_locations is not None
        loader: Any = _Alias()  # duck-typed
        return ModuleSpec(fullname, loader, is_package=is_package)


def _own_name(fullname: str) -> str:
    return _HERE + fullname.removeprefix("theano")


def has_pycuda() -> bool:
    """Whether the package spanwise.pycuda is installed."""
    return importlib.util.find_spec(_PYCUDA) is not None


def is_importable(name: str) -> bool:
    """Whether the package `name` is imported or installed."""
    return name in sys.modules or importlib.util.find_spec(name) is not None


def install() -> bool:
    """Adds the hook, and PyCUDA's. Returns False, and adds none for Theano, if Theano itself is
    installed."""
    if has_pycuda():
        importlib.import_module(f"{_PYCUDA}.install")
    if is_importable("theano"):
        return any(isinstance(finder, _Finder) for finder in sys.meta_path)
    sys.meta_path.insert(0, _Finder())
    return True
