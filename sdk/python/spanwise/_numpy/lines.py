# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions along one axis: diff, cumulative_sum, cumulative_prod and searchsorted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, SupportsIndex

from .. import _core
from .._core import Array, _asarray as asarray
from .shape import axis_in


def diff(
    a: Any,
    n: SupportsIndex = 1,
    axis: SupportsIndex = -1,
    prepend: Any = None,
    append: Any = None,
) -> Array:
    """The n-th difference along `axis` of `prepend`, `a` and `append` concatenated, as numpy.diff;
    `a` itself for n = 0. Raises ArgumentError for n < 0, LayoutError for rank 0."""
    array = asarray(a)
    times = n.__index__()
    if times < 0:
        raise _core.ArgumentError(f"diff: order must be non-negative, got {times}")
    if array.ndim == 0:
        raise _core.LayoutError("diff: requires input that is at least one dimensional, got ()")
    if times == 0:
        return array
    at = axis_in(axis, array.ndim, "diff")
    edges = [None if x is None else _edge(x, array, at) for x in (prepend, append)]
    if edges[0] is not None or edges[1] is not None:
        array = _core.concatenate([x for x in (edges[0], array, edges[1]) if x is not None], at)
    for _ in range(times):
        later, earlier = (
            _part_along(array, at, slice(1, None)),
            _part_along(array, at, slice(None, -1)),
        )
        is_bool = array.dtype == "bool"
        array = _core.not_equal(later, earlier) if is_bool else _core.subtract(later, earlier)
    return array


def _edge(x: Any, array: Array, axis: int) -> Array:
    joined = asarray(x, device=array.device)
    if joined.ndim > 0:
        return joined
    return joined.broadcast_to((*array.shape[:axis], 1, *array.shape[axis + 1 :]))


def _part_along(array: Array, axis: int, part: Any) -> Array:
    return array[(*(slice(None),) * axis, part)]


def _cumulative(
    name: str, scan: Callable[..., Array], first: int, what: str
) -> Callable[..., Array]:
    def cumulative(
        x: Any,
        /,
        *,
        axis: SupportsIndex | None = None,
        dtype: Any = None,
        out: Any = None,
        include_initial: bool = False,
    ) -> Array:
        array = asarray(x)
        if array.ndim == 0:
            raise _core.LayoutError(f"{name}: input must be at least 1-d, got shape ()")
        if axis is None:
            if array.ndim != 1:
                raise _core.ArgumentError(
                    f"{name}: for arrays of more than one dimension `axis` must be given, got shape "
                    f"{array.shape}"
                )
            axis = 0
        at = axis_in(axis, array.ndim, name)
        if not include_initial:
            return scan(array, at, dtype, out)
        results = scan(array, at, dtype)
        shape = list(array.shape)
        shape[at] += 1
        target = _core.empty(shape, results.dtype, device=results.device) if out is None else out
        result = asarray(target, copy=False)
        if result.shape != tuple(shape):
            raise _core.LayoutError(
                f"{name}: out= must have shape {tuple(shape)}, got {result.shape}"
            )
        _core.copyto(_part_along(result, at, slice(0, 1)), first)
        _core.copyto(_part_along(result, at, slice(1, None)), results)
        return target

    cumulative.__name__ = cumulative.__qualname__ = name
    cumulative.__doc__ = (
        f"Cumulative {what} along `axis`, as numpy.{name}; `include_initial` puts a {first} first.\n"
        "    Arrays of more than one dimension need `axis` (ArgumentError)."
    )
    return cumulative


cumulative_sum = _cumulative("cumulative_sum", _core.cumsum, 0, "sums")
cumulative_prod = _cumulative("cumulative_prod", _core.cumprod, 1, "products")


def searchsorted(
    a: Any, v: Any, side: Literal["left", "right"] = "left", sorter: Any = None
) -> Array:
    """The insertion index in the sorted vector `a` of each element of `v`, as numpy.searchsorted.

    One kernel does a binary search for each element. The result is int64, has the shape of `v` and
    is on the device of `a`. `sorter` holds the indices that sort `a`. Raises DTypeError for complex
    numbers.
    """
    line = asarray(a)
    if side not in ("left", "right"):
        raise _core.ArgumentError(f"searchsorted: expected side left or right, got {side!r}")
    if sorter is not None and line.ndim == 1:
        line = _core.take(line, sorter)
    return _core._searchsorted(line, asarray(v, device=line.device), side == "right")
