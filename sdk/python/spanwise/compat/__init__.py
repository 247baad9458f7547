# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Modules with the names and arguments of older ones, of Theano (theano.misc, theano.sandbox.cuda)
and of pygpu; the backend of einops; ``alias_package``, by which the name of another library imports
a package, and ``alias_modules``, by which modules have names of other modules only."""

import sys as _sys
from collections.abc import Callable as _Callable, Mapping as _Mapping
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

    def __init__(self, target: str, after_load: _Callable[[], object] | None) -> None:
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

    def __init__(self, name: str, package: str, after_load: _Callable[[], object] | None) -> None:
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


def alias_package(name: str, package: str, after_load: _Callable[[], object] | None = None) -> None:
    """Makes ``import name`` and ``import name.x`` import `package` and its modules, also where a
    package `name` is installed; modules of that package that are imported already stay as they are.
    `after_load` is called when `package` is first imported by the name."""
    _sys.meta_path.insert(0, _Finder(name, package, after_load))


class _CallableModule(_ModuleType):
    """A module with the name of a function of its package, in whose place it is then an attribute."""

    __wrapped__: _Callable[..., object]

    def __call__(self, *args: object, **options: object) -> object:
        return self.__wrapped__(*args, **options)


class _NameLoader:
    """Makes a module of names from other modules of `package`."""

    def __init__(self, package: str, names: _Mapping[str, str], modules: list[str]) -> None:
        self.package, self.names, self.modules = package, names, modules

    def create_module(self, spec: _ModuleSpec) -> None:
        return None

    def exec_module(self, module: _ModuleType) -> None:
        values: dict[str, object] = {}
        for source, listed in self.names.items():
            origin = vars(_import_module(f"{self.package}.{source}".rstrip(".")))
            for word in origin["__all__"] if listed == "*" else listed.split():
                name, _, old = word.partition("=")
                values[name] = origin[old or name]
        module.__doc__ = f"``{module.__name__}``: names of {', '.join(self.names)}."
        vars(module).update(values, __all__=sorted({*values, *self.modules}))
        vars(module)["__getattr__"] = _submodule_getattr(module.__name__, self.modules)
        parent, _, leaf = module.__name__.rpartition(".")
        function = vars(_sys.modules[parent]).get(leaf)
        if callable(function):
            module.__class__ = _CallableModule
            vars(module)["__wrapped__"] = function
        vars(module)["__dir__"] = lambda: sorted({*vars(module), *self.modules})


class _NameFinder:
    """Finds the modules of the table `modules` in `package`."""

    def __init__(self, package: str, modules: _Mapping[str, _Mapping[str, str]]) -> None:
        self.package, self.modules = package, modules

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> _ModuleSpec | None:
        inside = fullname.removeprefix(f"{self.package}.")
        if inside == fullname or inside not in self.modules:
            return None
        loader = _NameLoader(self.package, self.modules[inside], self.modules_in(inside))
        return _ModuleSpec(fullname, loader, is_package=True)  # type: ignore[arg-type]

    def modules_in(self, path: str) -> list[str]:
        """The last parts of those that are directly in the module `path`."""
        parts = (module.rpartition(".") for module in self.modules)
        return [leaf for parent, _, leaf in parts if parent == path]


def _submodule_getattr(name: str, modules: list[str]) -> _Callable[[str], object]:
    """``__getattr__`` of the module `name`, which imports those of its `modules` that are not yet."""

    def imported(attribute: str) -> object:
        if attribute in modules:
            return _import_module(f"{name}.{attribute}")
        raise AttributeError(f"module {name!r} has no attribute {attribute!r}")

    return imported


def alias_modules(
    package: str, modules: _Mapping[str, _Mapping[str, str]]
) -> _Callable[[str], _Callable[[str], object]]:
    """Makes modules of `package` importable that have only names of its other modules.

    `modules` is {path of the module: {path of another module: its names, separated by blanks}}, without
    the name of the package, "" being the package itself. "new=old" is another name, "*" the names in ``__all__``. The modules
    directly inside of one are its attributes. Returns a function that makes such a ``__getattr__`` for
    the path of a module that has a file.
    """
    finder = _NameFinder(package, modules)
    # First, as an older version of the package may have left empty folders of these names.
    _sys.meta_path.insert(0, finder)  # type: ignore[arg-type]
    return lambda path: _submodule_getattr(
        f"{package}.{path}" if path else package, finder.modules_in(path)
    )


def is_installed(name: str) -> bool:
    """Whether the package `name` is imported or can be. A folder without ``__init__.py`` is none: scripts
    keep data in folders with any names."""
    if name in _sys.modules:
        return _sys.modules[name] is not None
    spec = _util.find_spec(name)
    return spec is not None and spec.loader is not None
