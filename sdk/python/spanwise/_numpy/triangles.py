# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions for diagonals and triangles of matrices."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from .. import _core
from .._core import Array, _asarray as asarray
from .operands import writable_array
from .shape import moveaxis
from .tiling import cycled


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
    import numpy as np

    rows = operator.index(N)
    columns = rows if M is None else operator.index(M)
    ones = np.tri(rows, columns, operator.index(k), dtype=bool)
    return _core.array(ones, "float64" if dtype is None else dtype, device=_core.device(device))


def _masked_triangle(m: Any, k: int, lower: bool, caller: str) -> Array:
    array = asarray(m)
    if array.ndim == 0:
        raise _core.LayoutError(
            f"{caller}: expected an array of 1 dimension at least, got shape ()"
        )
    square = array if array.ndim > 1 else array.broadcast_to((array.size, array.size))
    import numpy as np

    rows, columns = square.shape[-2:]
    diagonal = operator.index(k) - (not lower)
    triangle = np.tri(rows, columns, diagonal, dtype=bool)
    result = square.copy()
    mask = _core._asarray(~triangle if lower else triangle, device=array.device)
    result[..., mask] = 0
    return result


def tril(m: Any, k: int = 0) -> Array:
    """A copy with zeros above the k-th diagonal of the last two axes."""
    return _masked_triangle(m, k, True, "tril")


def triu(m: Any, k: int = 0) -> Array:
    """A copy with zeros below the k-th diagonal of the last two axes."""
    return _masked_triangle(m, k, False, "triu")


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
    line = _core.array(list(range(operator.index(n))), "int64", device=_core.device(device))
    return (line,) * ndim


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """a[i, i, ...] = val for each i, in place, as numpy.fill_diagonal; with `wrap` the diagonal
    of a tall matrix starts again in the first column, after one row without it. Raises LayoutError for a vector, or for more
    than two axes of different extents."""
    array = writable_array(a, "fill_diagonal")
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
        _core.put(array, list(range(0, array.size, array.shape[1] + 1)), values)
        return
    count = min(array.shape)
    line = array
    for _ in range(array.ndim - 1):
        line = moveaxis(line.diagonal(0, 0, 1), -1, 0)
    if count and values.size:
        line[...] = cycled(values, count)
