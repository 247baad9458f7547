# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""roll, tile and resize."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, SupportsIndex

from .. import _core
from .._core import Array, _asarray as asarray
from .operands import as_tuple, integers
from .shape import Axes, normalized_axis


def roll(a: Any, shift: Axes, axis: Axes | None = None) -> Array:
    """A new array with the elements shifted cyclically by `shift` along `axis`, of the flattened
    array by default, as numpy.roll."""
    array = asarray(a)
    if axis is None:
        return roll(array.reshape(-1), shift, 0).reshape(array.shape)
    shifts = integers(shift)
    # Repeated axes are allowed.
    axes = [normalized_axis(i, array.ndim, "roll") for i in as_tuple(axis)]
    if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
        raise _core.ArgumentError(
            f"roll: expected one shift, one axis, or as many shifts as axes, got {len(shifts)} shifts and {len(axes)} axes"
        )
    total = [0] * array.ndim
    for i in range(max(len(shifts), len(axes))):
        total[axes[i % len(axes)]] += shifts[i % len(shifts)]
    result = _core.empty_like(array)
    _roll_into(result, array, total, 0)
    return result


def _roll_into(result: Array, array: Array, shifts: list[int], axis: int) -> None:
    """Writes to `result` the elements of `array`, shifted along `axis` and the later axes."""
    while axis < array.ndim and (array.shape[axis] < 2 or shifts[axis] % array.shape[axis] == 0):
        axis += 1
    if axis == array.ndim:
        result[...] = array
        return
    before = (slice(None),) * axis
    shift = shifts[axis] % array.shape[axis]
    parts = ((slice(shift, None), slice(None, -shift)), (slice(shift), slice(-shift, None)))
    for target, source in parts:
        _roll_into(result[(*before, target)], array[(*before, source)], shifts, axis + 1)


def tile(A: Any, reps: Axes) -> Array:  # noqa: N803
    """A new array with `A` repeated reps[i] times along axis i, as numpy.tile."""
    array = asarray(A)
    if isinstance(reps, int) and array.ndim == 1 and reps > 0:
        line = _core.empty(array.size * reps, array.dtype, device=array.device)
        if line.size > 0:
            line.reshape(reps, array.size)[...] = array
        return line
    times = list(integers(reps))
    if min(times, default=0) < 0:
        raise _core.ArgumentError(
            f"tile: repeats may not contain negative values, got {tuple(times)}"
        )
    rank = max(array.ndim, len(times))
    times = [1] * (rank - len(times)) + times
    shape = (1,) * (rank - array.ndim) + array.shape
    result = _core.empty(
        tuple(n * t for n, t in zip(shape, times, strict=True)), array.dtype, device=array.device
    )
    # Each axis is split into (times, extent), so that one broadcast assignment makes all copies.
    split = tuple(part for n, t in zip(shape, times, strict=True) for part in (t, n))
    single = tuple(part for n in shape for part in (1, n))
    if result.size > 0:
        result.reshape(split, copy=False)[...] = array.reshape(single)
    return result


def cycled(values: Array, count: int) -> Array:
    """The first `count` elements of `values`, repeated as needed; one element is not repeated."""
    if values.size >= count:
        return values[:count]
    return values if values.size == 1 else tile(values, -(-count // values.size))[:count]


def resize(a: Any, new_shape: SupportsIndex | Sequence[SupportsIndex]) -> Array:
    """A new array of shape `new_shape` with the elements of `a` in C order, repeated as needed;
    zeros if `a` is empty. As numpy.resize."""
    array = asarray(a)
    shape = integers(new_shape)
    if min(shape, default=0) < 0:
        raise _core.LayoutError(
            f"resize: all elements of `new_shape` must be non-negative, got {shape}"
        )
    size = prod(shape)
    if size == 0 or array.size == 0:
        return _core.zeros(shape, array.dtype, device=array.device)
    line = array.reshape(-1)
    whole = tile(line, -(-size // array.size)) if size > array.size else line.copy()
    return whole[:size].reshape(shape)
