# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The registered ops as functions: ``sw.ops.add(x, y)``. Inputs are positional, properties are
keyword arguments: ``sw.ops.transfer(x, device="cpu")``.

Ops of a library loaded by ``sw.load_ops`` are in its namespace: ``sw.ops.signal.window(x,
length=16)``.
"""

from __future__ import annotations

from typing import Any

from . import _core
from ._graph.plugins import OpNamespace, op_function


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
