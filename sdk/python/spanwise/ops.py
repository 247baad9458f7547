# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The registered ops by name: ``sw.ops.add(x, y)``; properties by keyword: ``sw.ops.transfer(x, device="cpu")``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _core
from ._op import NativeOp


def __getattr__(name: str) -> Callable[..., Any]:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name not in _core._op_names():
        raise AttributeError(
            f"there is no op named {name!r}; the registered ops are {', '.join(_core._op_names())}"
        )

    def apply(*inputs: Any, **properties: Any) -> Any:
        return NativeOp(_core._make_op(name, properties))(*inputs)

    apply.__name__ = apply.__qualname__ = name
    return apply


def __dir__() -> list[str]:
    return _core._op_names()
