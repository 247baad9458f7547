# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Modules with the names and arguments of older ones, of Theano (theano.misc, theano.sandbox.cuda)
and of pygpu; and ``alias_package``, by which the name of another library imports a package."""

import sys as _sys
from collections.abc import Callable as _Callable
from importlib import import_module as _import_module, util as _util
from importlib.machinery import ModuleSpec as _ModuleSpec
from types import ModuleType as _ModuleType

from .. import _core


def _our_array(x: object, caller: str, error: type[Exception]) -> _core.Array:
    """``x`` if it is a spanwise.Array, else raises `error`, as Theano's functions did for other
    arrays than their own."""
    if isinstance(x, _core.Array):
        return x
    raise error(
        f"{caller}: expected a spanwise.Array, got {type(x).__name__}; pass spanwise.asarray(x)"
    )


# The classes do not derive from those of importlib.abc, whose import takes several milliseconds.


class _Loader:
    """Loads the module `target`, which keeps its own spec, as the module of another name."""

    def __init__(self, target: str, after_load: _Callable[[], None] | None) -> None:
        self.target, self.after_load = target, after_load

    def create_module(self, spec: _ModuleSpec) -> _ModuleType:
        module = _import_module(self.target)
        self.target_spec = module.__spec__
        if self.after_load is not None:
            self.after_load()
        return module

    def exec_module(self, module: _ModuleType) -> None:
        module.__spec__ = self.target_spec


class _Finder:
    """Finds the modules of `package` under the name `name`."""

    def __init__(self, name: str, package: str, after_load: _Callable[[], None] | None) -> None:
        self.name, self.package, self.after_load = name, package, after_load

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> _ModuleSpec | None:
        if fullname.partition(".")[0] != self.name:
            return None
        spec = _util.find_spec(self.package + fullname.removeprefix(self.name))
        if spec is None:
            return None
        loader = _Loader(spec.name, self.after_load if fullname == self.name else None)
        is_package = spec.submodule_search_locations is not None
        return _ModuleSpec(fullname, loader, is_package=is_package)  # type: ignore[arg-type]


def alias_package(name: str, package: str, after_load: _Callable[[], None] | None = None) -> None:
    """Makes ``import name`` and ``import name.x`` import `package` and its modules, also where a
    package `name` is installed; modules of that package that are imported already stay as they are.
    `after_load` is called when `package` is first imported by the name."""
    _sys.meta_path.insert(0, _Finder(name, package, after_load))
