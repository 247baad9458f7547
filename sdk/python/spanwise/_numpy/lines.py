# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions along one axis: diff, cumulative_sum, cumulative_prod and searchsorted."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Literal, SupportsIndex

from .. import _core
from .._core import Array, _asarray as asarray
from .shape import normalized_axis


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
    order = operator.index(n)
    if order < 0:
        raise _core.ArgumentError(f"diff: order must be non-negative, got {order}")
    if array.ndim == 0:
        raise _core.LayoutError("diff: requires input that is at least one dimensional, got ()")
    if order == 0:
        return array
    axis = normalized_axis(axis, array.ndim, "diff")
    edges = [[] if x is None else [_edge(x, array, axis)] for x in (prepend, append)]
    if prepend is not None or append is not None:
        array = _core.concatenate([*edges[0], array, *edges[1]], axis)
    subtract = _core.not_equal if array.dtype == "bool" else _core.subtract
    for _ in range(min(order, array.shape[axis])):  # nothing is left after as many
        later = _part_along(array, axis, slice(1, None))
        earlier = _part_along(array, axis, slice(None, -1))
        array = subtract(later, earlier)
    return array


def _edge(x: Any, array: Array, axis: int) -> Array:
    """`x` as an array to concatenate with `array`; a scalar is broadcast to one slice."""
    edge = asarray(x, device=array.device)
    if edge.ndim > 0:
        return edge
    return edge.broadcast_to((*array.shape[:axis], 1, *array.shape[axis + 1 :]))


def _part_along(array: Array, axis: int, part: Any) -> Array:
    return array[(*(slice(None),) * axis, part)]


def _cumulative(
    name: str, scan: Callable[..., Array], initial: int, results_name: str
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
        axis = normalized_axis(axis, array.ndim, name)
        if not include_initial:
            return scan(array, axis, dtype, out)
        results = scan(array, axis, dtype)
        shape = list(array.shape)
        shape[axis] += 1
        target = _core.empty(shape, results.dtype, device=results.device) if out is None else out
        result = _core._output_array(target, name)
        if result.shape != tuple(shape):
            raise _core.LayoutError(
                f"{name}: out= must have shape {tuple(shape)}, got {result.shape}"
            )
        _core.copyto(_part_along(result, axis, slice(0, 1)), initial)
        _core.copyto(_part_along(result, axis, slice(1, None)), results)
        return target

    cumulative.__name__ = cumulative.__qualname__ = name
    cumulative.__doc__ = (
        f"Cumulative {results_name} along `axis`, as numpy.{name}; `include_initial` puts a {initial} first.\n"
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
    vector = asarray(a)
    if side not in ("left", "right"):
        raise _core.ArgumentError(f"searchsorted: expected side left or right, got {side!r}")
    if sorter is not None and vector.ndim == 1:
        vector = _core.take(vector, sorter)
    return _core._searchsorted(vector, asarray(v, device=vector.device), side == "right")
