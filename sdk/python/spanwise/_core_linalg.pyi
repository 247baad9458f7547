# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Products in spanwise._core; part of _core.pyi, not a module."""

import builtins
from typing import Any, Literal, SupportsIndex, TypeAlias

from ._core import Array

_Rule: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
_Order: TypeAlias = Literal["C", "F", "A", "K"]

def matmul(
    x1: Any,
    x2: Any,
    /,
    out: Any | None = None,
    *,
    casting: _Rule = "same_kind",
    order: _Order = "K",
    dtype: Any | None = None,
    axes: Any | None = None,
) -> Array: ...
def vecdot(
    x1: Any,
    x2: Any,
    /,
    out: Any | None = None,
    *,
    casting: _Rule = "same_kind",
    order: _Order = "K",
    dtype: Any | None = None,
    axes: Any | None = None,
    axis: SupportsIndex = -1,
    keepdims: builtins.bool = False,
) -> Array: ...
def matvec(
    x1: Any,
    x2: Any,
    /,
    out: Any | None = None,
    *,
    casting: _Rule = "same_kind",
    order: _Order = "K",
    dtype: Any | None = None,
    axes: Any | None = None,
) -> Array: ...
def vecmat(
    x1: Any,
    x2: Any,
    /,
    out: Any | None = None,
    *,
    casting: _Rule = "same_kind",
    order: _Order = "K",
    dtype: Any | None = None,
    axes: Any | None = None,
) -> Array: ...
def dot(a: Any, b: Any, out: Any | None = None) -> Array: ...
def inner(a: Any, b: Any) -> Array: ...
def vdot(a: Any, b: Any) -> Array: ...
def _contract(
    who: str,
    left: Array,
    right: Array,
    left_batch: tuple[int, ...],
    right_batch: tuple[int, ...],
    left_sum: tuple[int, ...],
    right_sum: tuple[int, ...],
) -> Array: ...
