# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Products that are made of others: outer, tensordot, and axes other than the last."""

from __future__ import annotations

from operator import index
from typing import Any

from . import _core
from ._operands import as_arrays
from ._shape import moveaxis

# How many axes of each operand, and of the result, a product works on.
_CORES = {"matmul": (2, 2, 2), "vecdot": (1, 1, 0), "matvec": (2, 1, 1), "vecmat": (1, 2, 1)}


def outer(a: Any, b: Any, out: Any = None) -> _core.Array:
    """Every element of `a` times every element of `b`, both flattened; as numpy.outer."""
    a, b = as_arrays(a, b)
    if a.ndim != 1:
        a = a.ravel()
    if b.ndim != 1:
        b = b.ravel()
    column = a[:, None]
    return _core.multiply(column, b) if out is None else _core.multiply(column, b, out)


def tensordot(a: Any, b: Any, axes: Any = 2) -> _core.Array:
    """The sum over pairs of axes; a number n is a's last n with b's first n, as numpy.tensordot."""
    a, b = as_arrays(a, b)
    a_axes, b_axes = _paired_axes(a, b, axes)
    fits = len(a_axes) == len(b_axes) and all(
        -a.ndim <= i < a.ndim and -b.ndim <= j < b.ndim and a.shape[i] == b.shape[j]
        for i, j in zip(a_axes, b_axes, strict=True)
    )
    if not fits:
        raise _core.ArgumentError(
            f"tensordot: shape-mismatch for sum: axes {a_axes} of shape {a.shape} and {b_axes} of "
            f"shape {b.shape}; expected as many axes of each, in pairs of equal extent"
        )
    return _core._contract("tensordot", a, b, (), (), a_axes, b_axes)


def _paired_axes(
    a: _core.Array, b: _core.Array, axes: Any
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    try:
        first, second = axes
    except TypeError:
        count = index(axes)
        if not 0 <= count <= min(a.ndim, b.ndim):
            raise IndexError(
                f"tensordot: axes={count} is more than arrays of shapes {a.shape} and {b.shape} have"
            ) from None
        return tuple(range(a.ndim - count, a.ndim)), tuple(range(count))
    return _axis_list(first), _axis_list(second)


def _axis_list(axes: Any) -> tuple[int, ...]:
    try:
        return tuple(map(index, axes))
    except TypeError:
        return (index(axes),)


def along_axes(
    name: str,
    x1: Any,
    x2: Any,
    out: Any = None,
    *,
    axes: Any = None,
    axis: int | None = None,
    keepdims: bool = False,
    **options: Any,
) -> _core.Array:
    """The product `name` with the axes of a generalised ufunc's axes=, axis= and keepdims=."""
    x1, x2 = as_arrays(x1, x2)
    out = out[0] if isinstance(out, tuple) else out
    if (axis is not None or keepdims) and name != "vecdot":
        raise TypeError(f"{name}: axis= and keepdims= are for products of vectors; use axes=")
    if axis is not None:
        if axes is not None:
            raise TypeError(f"{name}: cannot take both axis= and axes=")
        axes = [(axis,), (axis,), ()]
    first, second, last = _core_axes(name, axes, keepdims)
    x1, x2 = _to_end(x1, first), _to_end(x2, second)
    place = axis if axis is not None and keepdims else -1
    if out is None:
        result = getattr(_core, name)(x1, x2, **options)
        if keepdims:
            return moveaxis(result[..., None], -1, first[0] if axes is not None else place)
        return moveaxis(result, range(-len(last), 0), last) if last else result
    target = _to_end(
        _core.asarray(out), (first[0] if axes is not None else place,) if keepdims else last
    )
    getattr(_core, name)(x1, x2, target[..., 0] if keepdims else target, **options)
    return out


def _core_axes(name: str, axes: Any, keepdims: bool) -> list[tuple[int, ...]]:
    cores = _CORES[name]
    if axes is None:
        return [tuple(range(-count, 0)) for count in cores]
    entries = [_axis_list(entry) for entry in axes]
    if len(entries) == 2 and cores[2] == 0:
        entries.append(())
    if keepdims:
        entries[2:] = [()]
    if len(entries) != 3 or [len(entry) for entry in entries] != list(cores):
        raise _core.ArgumentError(
            f"{name}: axes should be a list with an entry of {cores[0]}, {cores[1]} and {cores[2]} "
            f"axes for the operands and the result, got {axes}"
        )
    return entries


def _to_end(x: _core.Array, axes: tuple[int, ...]) -> _core.Array:
    return moveaxis(x, axes, range(-len(axes), 0)) if axes else x
