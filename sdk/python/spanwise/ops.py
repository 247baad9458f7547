# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The registered ops as functions: ``sw.ops.add(x, y)``. Inputs are positional, properties are
keyword arguments: ``sw.ops.transfer(x, device="cpu")``.

Ops of a library loaded by ``sw.load_ops`` are in its namespace: ``sw.ops.signal.window(x,
length=16)``."""

from __future__ import annotations

import os as _os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from . import _core
from .graph._function import compute_op
from .graph._kernel_op import kernel_op
from .graph._op import apply_registered, is_eager, library_paths
from .kernels._bundle import Bundle, is_bundle_file, loaded_declaration

#: "namespace.name" -> the docstring of an op of a loaded library.
_summaries: dict[str, str] = {}


def op_function(name: str) -> Callable[..., Any]:
    """The registered op `name` as a function: inputs are positional, properties keyword arguments.

    It returns variables of a graph if an input is a Variable, else arrays.
    """

    def apply(*inputs: Any, **properties: Any) -> Any:
        if is_eager(inputs):
            return compute_op(name, inputs, properties)
        return apply_registered(name, *inputs, **properties)

    apply.__name__ = name.rpartition(".")[2]
    apply.__qualname__ = name
    apply.__doc__ = _summaries.get(name)
    return apply


class OpNamespace:
    """The ops of a loaded library as functions: ``signal = sw.load_ops("libsignal.so")``, then
    ``signal.window(x, length=16)``."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Callable[..., Any]:
        full = f"{self.__name__}.{name}"
        if name.startswith("__") or full not in _core._op_names():
            raise AttributeError(
                f"there is no op named {full!r}; the ops of {self.__name__} are {', '.join(self.__dir__())}"
            )
        return op_function(full)

    def __dir__(self) -> list[str]:
        start = self.__name__ + "."
        return [name.removeprefix(start) for name in _core._op_names() if name.startswith(start)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpNamespace) and other.__name__ == self.__name__

    def __hash__(self) -> int:
        return hash(self.__name__)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the path of the library, which must exist where it is unpickled."""
        return _load_namespace, (self.__name__, library_paths.get(self.__name__))

    def __repr__(self) -> str:
        return f"<ops {self.__name__}: {', '.join(self.__dir__())}>"


def _load_namespace(name: str, library: str | None) -> OpNamespace:
    """Called by unpickling; its name and parameters must not change, because pickles contain them."""
    namespace = OpNamespace(name)
    return namespace if library is None or dir(namespace) else load_ops(library)


def load_ops(path: str | _os.PathLike[str]) -> Any:
    """Loads a shared library of ops and returns their namespace, also available as
    ``sw.ops.<namespace>``.

    For a bundle of ops (``sw.compile``, ``python -m spanwise compile``) returns an object with the ops,
    made by ``kernel_op``, as attributes. They need no compiler on devices for which it has binaries.

    The library is written against ``<spanwise/plugin.hpp>`` or ``<spanwise/plugin.h>``. A path
    without a slash is searched for in the current folder, then by the dynamic loader. The library
    stays loaded until the process ends; loading it again has no effect, even if the file has
    changed since.

    Raises ArgumentError if the library cannot be loaded; GraphError if it is not a plug-in, has
    another interface version, inconsistent tables, or a name that is already registered. A rejected
    library stays in memory as well, since its code may still run; after a rebuild the file can be
    loaded again.
    """
    if is_bundle_file(path) or _os.fspath(path).endswith(".swb"):
        return _ops_of_bundle(Bundle.load(path))
    library = _os.fspath(path)
    name, ops = _core._load_ops(library)
    # Without such a file the dynamic loader has found the library by its name, which is kept.
    library_paths.setdefault(
        name, _os.path.abspath(library) if _os.path.exists(library) else library
    )
    for op, summary in ops:
        _summaries[f"{name}.{op}"] = summary
    return OpNamespace(name)


def _ops_of_bundle(bundle: Bundle) -> SimpleNamespace:
    if not bundle.ops:
        raise _core.ArgumentError(
            f"load_ops: {bundle!r} has kernels and no ops; expected one that was compiled from ops. "
            "Load the kernels by sw.Module.load"
        )
    bundle.attach()
    return SimpleNamespace(**{each["name"]: _stored_op(each) for each in bundle._declarations()})


def _stored_op(stored: Any) -> Any:
    declaration = loaded_declaration(stored)
    if declaration["grad"] is not None:
        gradients = declaration["grad"].items()
        declaration["grad"] = {name: _stored_op(each) for name, each in gradients}
    return kernel_op(**declaration)


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _namespaces():
        return OpNamespace(name)
    if name not in _core._op_names():
        raise AttributeError(
            f"there is no op named {name!r}; the registered ops are {', '.join(_core._op_names())}"
        )
    return op_function(name)


def _namespaces() -> set[str]:
    return {name.partition(".")[0] for name in _core._op_names() if "." in name}


def __dir__() -> list[str]:
    return sorted(_namespaces().union(name for name in _core._op_names() if "." not in name))
