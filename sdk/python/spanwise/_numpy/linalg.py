# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Products of vectors and matrices, the axes=, axis= and keepdims= of products, and diagonals and
triangles of matrices."""

from __future__ import annotations

import operator
from collections.abc import Callable
from operator import index
from typing import Any

from .. import _core
from .._core import Array, _asarray as asarray
from .join import cycled
from .shape import as_arrays, integers, moveaxis, normalized_axes

# The number of core dimensions of x1, x2 and the result; of matmul for matrices.
_CORES = {"matmul": (2, 2, 2), "vecdot": (1, 1, 0), "matvec": (2, 1, 1), "vecmat": (1, 2, 1)}


# ---- Products ----


def outer(a: Any, b: Any, out: Any = None) -> _core.Array:
    """The (a.size, b.size) products of the elements of `a` and `b`, both flattened; as
    numpy.outer."""
    a, b = as_arrays(a, b)
    if a.ndim != 1:
        a = a.ravel()
    if b.ndim != 1:
        b = b.ravel()
    column = a[:, None]
    return _core.multiply(column, b) if out is None else _core.multiply(column, b, out)


def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> _core.Array:
    """The sum along the diagonal of two axes, as numpy.trace."""
    diagonal = as_arrays(a)[0].diagonal(offset, axis1, axis2)
    return diagonal.sum(axis=-1, dtype=dtype, out=out)


def tensordot(a: Any, b: Any, axes: Any = 2) -> _core.Array:
    """The sum of products over pairs of axes, as numpy.tensordot; an integer n pairs the last n
    axes of `a` with the first n of `b`. Raises ArgumentError for axes that do not fit."""
    a, b = as_arrays(a, b)
    return _core._contract("tensordot", a, b, (), (), *paired_axes(a.shape, b.shape, axes))


def paired_axes(a: Any, b: Any, axes: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes, >= 0, over which tensordot() of operands with the shapes `a` and `b` sums; an extent
    of None is not known. Raises as tensordot()."""
    try:
        first, second = map(integers, axes)
    except TypeError:
        count = index(axes)
        if not 0 <= count <= min(len(a), len(b)):
            raise IndexError(
                f"tensordot: axes={count} is more than arrays of shapes {a} and {b} have"
            ) from None
        first, second = tuple(range(-count, 0)), tuple(range(count))
    are_valid = len(first) == len(second) and all(
        -len(a) <= i < len(a) and -len(b) <= j < len(b) and (a[i] == b[j] or None in (a[i], b[j]))
        for i, j in zip(first, second, strict=True)
    )
    if not are_valid:
        raise _core.ArgumentError(
            f"tensordot: shape-mismatch for sum: axes {first} of shape {a} and {second} of "
            f"shape {b}; expected as many axes of each, in pairs of equal extent"
        )
    return tuple(i % len(a) for i in first), tuple(j % len(b) for j in second)


# ---- axes=, axis= and keepdims= of products ----


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
    """The product `name` with axes=, axis= and keepdims= of a generalised ufunc, as in NumPy."""
    x1, x2 = as_arrays(x1, x2)
    if options.get("order") in ("A", "a"):  # by the operands before their axes are moved
        options["order"] = "F" if x1.flags.f_contiguous and x2.flags.f_contiguous else "C"
    out = out[0] if isinstance(out, tuple) else out
    if (axis is not None or keepdims) and name != "vecdot":
        raise TypeError(f"{name}: axis= and keepdims= are for products of vectors; use axes=")
    if axis is not None:
        if axes is not None:
            raise TypeError(f"{name}: cannot take both axis= and axes=")
        axes = [axis, axis, axis if keepdims else ()]
    first, second, last = _core_axes(name, axes, _core_counts(name, x1, x2, keepdims))
    x1, x2 = _to_end(name, x1, first), _to_end(name, x2, second)
    product = getattr(_core, name)
    if out is None:
        result = product(x1, x2, **options)
        if keepdims:
            result = result[..., None]
        return moveaxis(result, range(-len(last), 0), normalized_axes(last, result.ndim, name))
    target = _to_end(name, _core._output_array(out, name), last)
    product(x1, x2, target[..., 0] if keepdims else target, **options)
    return out


def _core_counts(name: str, x1: _core.Array, x2: _core.Array, keepdims: bool) -> tuple[int, ...]:
    """The number of core dimensions of each operand and of the result."""
    if name != "matmul":
        first, second, last = _CORES[name]
        return first, second, last + keepdims
    first, second = min(x1.ndim, 2), min(x2.ndim, 2)  # an operand of one axis is a vector
    return first, second, max(first + second - 2, 0)


def _core_axes(name: str, axes: Any, counts: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The core axes of each operand and of the result: those in `axes`, by default the last ones."""
    default = [tuple(range(-count, 0)) for count in counts]
    if axes is None:
        return default
    if not isinstance(axes, (list, tuple)):
        raise TypeError(f"{name}: axes should be a list, got {axes!r}")
    entries = [integers(entry) for entry in axes]
    if len(entries) == 2 and _CORES[name][2] == 0:  # the result's axes default to the last ones
        entries.append(default[2])
    if [len(entry) for entry in entries] != list(counts):
        first, second, last = counts
        raise _core.ArgumentError(
            f"{name}: axes should be a list with an entry of {first}, {second} and {last} "
            f"axes for the operands and the result, got {axes}"
        )
    return entries


def _to_end(name: str, x: _core.Array, axes: tuple[int, ...]) -> _core.Array:
    return moveaxis(x, normalized_axes(axes, x.ndim, name), range(-len(axes), 0))


# ---- Diagonals and triangles ----


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """View of the diagonals of two axes, along the last axis of the result; writeable if `a` is
    (unlike NumPy's)."""
    return asarray(a).diagonal(offset, axis1, axis2)


def diag(v: Any, k: int = 0) -> Array:
    """The k-th diagonal of a matrix, as a view; for a vector a new matrix with it on the k-th
    diagonal. Raises LayoutError for other ranks."""
    array = asarray(v)
    if array.ndim == 2:
        return array.diagonal(k)
    if array.ndim != 1:
        raise _core.LayoutError(f"diag: input must be 1- or 2-d, got shape {array.shape}")
    return diagflat(array, k)


def diagflat(v: Any, k: int = 0) -> Array:
    """A new matrix with the flattened `v` on its k-th diagonal."""
    line = asarray(v).ravel()
    order = line.size + abs(k)
    matrix = _core.zeros((order, order), line.dtype, device=line.device)
    if line.size:
        matrix.diagonal(k)[...] = line
    return matrix


def tri(
    N: int,  # noqa: N803
    M: int | None = None,  # noqa: N803
    k: int = 0,
    dtype: Any = None,
    *,
    device: Any = None,
) -> Array:
    """An (N, M) matrix of ones on and below the k-th diagonal, zeros above; float64 by default."""
    rows = max(operator.index(N), 0)
    columns = rows if M is None else max(operator.index(M), 0)
    one = _core.ones((), "float64" if dtype is None else dtype, device=_core.device(device))
    return _core._triangle(one.broadcast_to((rows, columns)), k, True)


def tril(m: Any, k: int = 0) -> Array:
    """A copy with zeros above the k-th diagonal of the last two axes."""
    return _core._triangle(m, k, True)


def triu(m: Any, k: int = 0) -> Array:
    """A copy with zeros below the k-th diagonal of the last two axes."""
    return _core._triangle(m, k, False)


def tril_indices(
    n: int, k: int = 0, m: int | None = None, *, device: Any = None
) -> tuple[Array, ...]:
    """The indices of the lower triangle of an (n, m) matrix."""
    return _core.nonzero(tri(n, m, k, bool, device=device))


def triu_indices(
    n: int, k: int = 0, m: int | None = None, *, device: Any = None
) -> tuple[Array, ...]:
    """The indices of the upper triangle of an (n, m) matrix."""
    return _core.nonzero(_core.logical_not(tri(n, m, operator.index(k) - 1, bool, device=device)))


def _indices_from(indices: Callable[..., tuple[Array, ...]], arr: Any, k: int) -> Any:
    a = asarray(arr)
    if a.ndim != 2:
        caller = f"{indices.__name__}_from"
        raise _core.LayoutError(f"{caller}: input array must be 2-d, got shape {a.shape}")
    return indices(a.shape[0], k, a.shape[1], device=a.device)


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Array, ...]:
    """The indices of the lower triangle of the matrix `arr`."""
    return _indices_from(tril_indices, arr, k)


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Array, ...]:
    """The indices of the upper triangle of the matrix `arr`."""
    return _indices_from(triu_indices, arr, k)


def diag_indices(n: int, ndim: int = 2, *, device: Any = None) -> tuple[Array, ...]:
    """The indices of the main diagonal of an array of `ndim` axes of extent `n`."""
    line = _core.arange(operator.index(n), dtype="int64", device=_core.device(device))
    return (line,) * ndim


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """a[i, i, ...] = val for each i, in place, as numpy.fill_diagonal; with `wrap` the diagonal
    of a tall matrix starts again in the first column, after one row without it. Raises LayoutError for a vector, or for more
    than two axes of different extents."""
    array = _core._output_array(a, "fill_diagonal")
    if array.ndim < 2:
        raise _core.LayoutError(
            f"fill_diagonal: array must be at least 2-d, got shape {array.shape}"
        )
    if array.ndim > 2 and len(set(array.shape)) > 1:
        raise _core.LayoutError(
            f"fill_diagonal: all dimensions of input must be of equal length, got {array.shape}"
        )
    values = asarray(val, device=array.device).reshape(-1)
    if array.ndim == 2 and wrap:
        step = array.shape[1] + 1
        _core.put(array, _core.arange(0, array.size, step, device=array.device), values)
        return
    count = min(array.shape)
    line = array
    for _ in range(array.ndim - 1):
        line = moveaxis(line.diagonal(0, 0, 1), -1, 0)
    if count and values.size:
        line[...] = cycled(values, count)
