# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Reductions and scans in spanwise._core; part of _core.pyi, not a module."""

import builtins
from typing import Any, SupportsIndex, TypeAlias

from ._core import Array

_Axes: TypeAlias = SupportsIndex | tuple[SupportsIndex, ...] | None

def sum(
    a: Any,
    axis: _Axes = None,
    dtype: Any | None = None,
    out: Any | None = None,
    keepdims: builtins.bool = False,
    initial: Any = 0,
    where: Any = True,
) -> Array: ...
def prod(
    a: Any,
    axis: _Axes = None,
    dtype: Any | None = None,
    out: Any | None = None,
    keepdims: builtins.bool = False,
    initial: Any = 1,
    where: Any = True,
) -> Array: ...
def min(
    a: Any,
    axis: _Axes = None,
    out: Any | None = None,
    keepdims: builtins.bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array: ...
def max(
    a: Any,
    axis: _Axes = None,
    out: Any | None = None,
    keepdims: builtins.bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array: ...
def any(
    a: Any,
    axis: _Axes = None,
    out: Any | None = None,
    keepdims: builtins.bool = False,
    *,
    where: Any = True,
) -> Array: ...
def all(
    a: Any,
    axis: _Axes = None,
    out: Any | None = None,
    keepdims: builtins.bool = False,
    *,
    where: Any = True,
) -> Array: ...
def mean(
    a: Any,
    axis: _Axes = None,
    dtype: Any | None = None,
    out: Any | None = None,
    keepdims: builtins.bool = False,
    *,
    where: Any = True,
) -> Array: ...
def var(
    a: Any,
    axis: _Axes = None,
    dtype: Any | None = None,
    out: Any | None = None,
    ddof: float = 0,
    keepdims: builtins.bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: float | None = None,
) -> Array: ...
def std(
    a: Any,
    axis: _Axes = None,
    dtype: Any | None = None,
    out: Any | None = None,
    ddof: float = 0,
    keepdims: builtins.bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: float | None = None,
) -> Array: ...
def argmin(
    a: Any,
    axis: SupportsIndex | None = None,
    out: Any | None = None,
    *,
    keepdims: builtins.bool = False,
) -> Array: ...
def argmax(
    a: Any,
    axis: SupportsIndex | None = None,
    out: Any | None = None,
    *,
    keepdims: builtins.bool = False,
) -> Array: ...
def cumsum(
    a: Any, axis: SupportsIndex | None = None, dtype: Any | None = None, out: Any | None = None
) -> Array: ...
def cumprod(
    a: Any, axis: SupportsIndex | None = None, dtype: Any | None = None, out: Any | None = None
) -> Array: ...
def amin(
    a: Any,
    axis: _Axes = None,
    out: Any | None = None,
    keepdims: builtins.bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array: ...
def amax(
    a: Any,
    axis: _Axes = None,
    out: Any | None = None,
    keepdims: builtins.bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array: ...
def nansum(
    a: Any,
    axis: _Axes = None,
    dtype: Any | None = None,
    out: Any | None = None,
    keepdims: builtins.bool = False,
    initial: Any = 0,
    where: Any = True,
) -> Array: ...
def ptp(
    a: Any, axis: _Axes = None, out: Any | None = None, keepdims: builtins.bool = False
) -> Array: ...
def count_nonzero(a: Any, axis: _Axes = None, *, keepdims: builtins.bool = False) -> Array: ...
