# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The types of ops/indexing and ops/shape; part of _core.pyi, not a module."""

from collections.abc import Sequence
from typing import Any, SupportsIndex

from ._core import Array, _ArrayLike, _BoundsMode, _Casting, _DeviceLike, _DTypeLike

def nonzero(a: _ArrayLike) -> tuple[Array, ...]: ...
def argwhere(a: _ArrayLike) -> Array: ...
def flatnonzero(a: _ArrayLike) -> Array: ...
def take(
    a: _ArrayLike,
    indices: _ArrayLike,
    axis: SupportsIndex | None = None,
    out: _ArrayLike | None = None,
    mode: _BoundsMode = "raise",
) -> Array: ...
def compress(
    condition: _ArrayLike,
    a: _ArrayLike,
    axis: SupportsIndex | None = None,
    out: _ArrayLike | None = None,
) -> Array: ...
def repeat(a: _ArrayLike, repeats: _ArrayLike, axis: SupportsIndex | None = None) -> Array: ...
def take_along_axis(
    arr: _ArrayLike, indices: _ArrayLike, axis: SupportsIndex | None = -1
) -> Array: ...
def put(a: _ArrayLike, ind: _ArrayLike, v: _ArrayLike, mode: _BoundsMode = "raise") -> None: ...
def put_along_axis(
    arr: _ArrayLike, indices: _ArrayLike, values: _ArrayLike, axis: SupportsIndex | None
) -> None: ...
def _searchsorted(a: _ArrayLike, v: _ArrayLike, right: bool) -> Array: ...
def concatenate(
    arrays: Sequence[_ArrayLike],
    axis: SupportsIndex | None = 0,
    out: _ArrayLike | None = None,
    *,
    dtype: _DTypeLike | None = None,
    casting: _Casting = "same_kind",
) -> Array: ...
def stack(
    arrays: Sequence[_ArrayLike],
    axis: SupportsIndex = 0,
    out: _ArrayLike | None = None,
    *,
    dtype: _DTypeLike | None = None,
    casting: _Casting = "same_kind",
) -> Array: ...
def arange(
    start: _ArrayLike,
    stop: _ArrayLike | None = None,
    step: _ArrayLike | None = None,
    dtype: _DTypeLike | None = None,
    *,
    device: _DeviceLike | None = None,
) -> Array: ...
def linspace(
    start: _ArrayLike,
    stop: _ArrayLike,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: _DTypeLike | None = None,
    axis: SupportsIndex = 0,
    *,
    device: _DeviceLike | None = None,
) -> Any: ...
