# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""numpy.linalg and the array API's linalg extension. Norms and products are Spanwise's own;
factorisations, and what needs them (solve, inv, svd, eig, ...), are borrowed: by NumPy on the CPU, by
CuPy on a GPU."""

from __future__ import annotations

from math import inf
from operator import index
from typing import Any, NamedTuple

from . import _core
from ._core import matmul, vecdot
from ._numpy.borrowed import borrowed
from ._numpy.linalg import diagonal as _diagonal, outer as _outer, tensordot
from ._numpy.shape import (
    expand_dims,
    matrix_transpose,
    moveaxis,
    normalized_axes as _normalized_axes,
)

__all__ = [
    "diagonal",
    "eig",
    "eigvals",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_transpose",
    "norm",
    "outer",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]

_BORROWED = """
    LinAlgError cholesky cond cross det eigh eigvalsh inv lstsq matrix_rank multi_dot pinv qr slogdet solve
    svd svdvals tensorinv tensorsolve
"""


def __getattr__(name: str) -> Any:
    if name == "LinAlgError":
        from numpy.linalg import LinAlgError

        return LinAlgError
    if name in _BORROWED.split():
        globals()[name] = borrowed(f"linalg.{name}")  # found without this function from now on
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_BORROWED.split()])


def outer(x1: Any, x2: Any, /) -> _core.Array:
    """The outer product of two vectors. Raises ArgumentError for other ranks."""
    x1, x2 = _core._asarray(x1), _core._asarray(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise _core.ArgumentError(
            f"outer: expected vectors, got shapes {x1.shape} and {x2.shape}; spanwise.outer flattens"
        )
    return _outer(x1, x2)


def diagonal(x: Any, /, *, offset: int = 0) -> _core.Array:
    """A view of the diagonals of the matrices in the last two axes."""
    return _diagonal(_core._asarray(x), offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> _core.Array:
    """The sums of the diagonals of the matrices in the last two axes."""
    return diagonal(x, offset=offset).sum(axis=-1, dtype=dtype)


class EigResult(NamedTuple):
    """Eigenvalues, and eigenvectors in the columns of the matrices."""

    eigenvalues: _core.Array
    eigenvectors: _core.Array


def eig(x: Any, /) -> EigResult:
    """The eigenvalues and eigenvectors of square matrices, always complex, as the array API's eig;
    numpy.linalg.eig() gives real ones where all imaginary parts are zero. Borrowed."""
    results = borrowed("linalg.eig")(x)
    return EigResult(*(y.astype(_core.result_type(y, "complex64"), copy=False) for y in results))


def eigvals(x: Any, /) -> _core.Array:
    """The eigenvalues of square matrices, as those of eig()."""
    values = borrowed("linalg.eigvals")(x)
    return values.astype(_core.result_type(values, "complex64"), copy=False)


def matrix_power(a: Any, n: int) -> _core.Array:
    """Square matrices to an integer power, as numpy.linalg.matrix_power; for n < 0 powers of the
    inverse. Always a new array. Raises ArgumentError for matrices that are not square."""
    a, n = _core._asarray(a), index(n)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise _core.ArgumentError(f"matrix_power: expected square matrices, got shape {a.shape}")
    if n < 0:
        a, n = borrowed("linalg.inv")(a), -n
    if n == 0:
        identity = _core.eye(a.shape[-1], dtype=a.dtype, device=a.device)
        return identity.broadcast_to(a.shape).copy()
    result = None
    square = a
    while True:
        if n & 1:
            result = square if result is None else result @ square
        n >>= 1
        if n == 0:
            return result.copy() if result is a else result
        square = square @ square


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> _core.Array:
    """The norm of vectors (one axis) or matrices (two axes), as numpy.linalg.norm.

    Integers and bool are computed in float64. Singular values (2, -2, "nuc") are borrowed. Raises
    ArgumentError for unknown orders and numbers of axes.
    """
    is_plain = axis is None and ord is None and not keepdims and isinstance(x, _core.Array)
    if is_plain and x.ndim == 1 and x.dtype.kind == "f":
        return _core.sqrt(_core.vecdot(x, x))  # fast path of the common case
    x = _as_inexact(x)
    axes = _axes_of(x, axis, "norm")
    if axis is None and ord is None:
        return _euclidean(x, axes, keepdims)
    if len(axes) == 1:
        return _vector_norm(x, axes, ord, keepdims, "norm")
    if len(axes) == 2:
        return _matrix_norm(x, axes, ord, keepdims, "norm")
    raise _core.ArgumentError(
        f"norm: expected one axis or two, got {len(axes)} (shape {x.shape}); improper number of "
        "dimensions to norm"
    )


def vector_norm(
    x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2
) -> _core.Array:
    """The norm of the vector of all elements along `axis`, one axis or several (all by default), as
    the array API's vector_norm."""
    x = _as_inexact(x)
    return _vector_norm(x, _axes_of(x, axis, "vector_norm"), ord, keepdims, "vector_norm")


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> _core.Array:
    """The norm of the matrices in the last two axes. Raises as norm()."""
    x = _as_inexact(x)
    if x.ndim < 2:
        raise _core.ArgumentError(f"matrix_norm: expected at least two axes, got shape {x.shape}")
    return _matrix_norm(x, (x.ndim - 2, x.ndim - 1), ord, keepdims, "matrix_norm")


def _axes_of(x: _core.Array, axis: Any, caller: str) -> tuple[int, ...]:
    return tuple(range(x.ndim)) if axis is None else _normalized_axes(axis, x.ndim, caller)


def _as_inexact(x: Any) -> _core.Array:
    x = x if isinstance(x, _core.Array) else _core._asarray(x)
    return x if x.dtype.kind in "fcV" or x.dtype == "bfloat16" else x.astype("float64")


def _euclidean(x: _core.Array, axes: tuple[int, ...], keepdims: bool) -> _core.Array:
    if len(axes) == x.ndim and x.flags.c_contiguous:
        flat = x.reshape(-1)
        result = _core.sqrt(_real(_core.vecdot(flat, flat)))
        return result.reshape((1,) * x.ndim) if keepdims else result
    squares = _core.square(_real(x))
    if x.dtype.kind == "c":
        squares += _core.square(x.imag)
    return _core.sqrt(squares.sum(axis=axes, keepdims=keepdims))


def _real(x: _core.Array) -> _core.Array:
    return x.real if x.dtype.kind == "c" else x


def _vector_norm(
    x: _core.Array, axes: tuple[int, ...], ord: Any, keepdims: bool, caller: str
) -> _core.Array:
    if ord is None or ord == 2:
        return _euclidean(x, axes, keepdims)
    if isinstance(ord, str):
        raise _core.ArgumentError(
            f"{caller}: invalid norm order {ord!r} for vectors; expected a number"
        )
    magnitudes = _core.absolute(x)
    if ord == inf:
        return magnitudes.max(axis=axes, keepdims=keepdims)
    if ord == -inf:
        return magnitudes.min(axis=axes, keepdims=keepdims)
    if ord == 0:
        return (x != 0).astype(magnitudes.dtype).sum(axis=axes, keepdims=keepdims)
    if ord == 1:
        return magnitudes.sum(axis=axes, keepdims=keepdims)
    return (magnitudes**ord).sum(axis=axes, keepdims=keepdims) ** (1.0 / ord)


def _matrix_norm(
    x: _core.Array, axes: tuple[int, ...], ord: Any, keepdims: bool, caller: str
) -> _core.Array:
    if ord is None or ord in ("f", "fro"):
        return _euclidean(x, axes, keepdims)
    if ord in (2, -2, "nuc"):
        values = borrowed("linalg.svd")(moveaxis(x, axes, (-2, -1)), compute_uv=False)
        result = {2: _core.max, -2: _core.min, "nuc": _core.sum}[ord](values, axis=-1)
        return expand_dims(result, axes) if keepdims else result
    if ord not in (1, -1, inf, -inf):
        raise _core.ArgumentError(
            f"{caller}: invalid norm order {ord!r} for matrices; expected None, 'fro', 1, -1, inf or -inf"
        )
    row, column = axes
    sum_axis, other_axis = (row, column) if ord in (1, -1) else (column, row)
    sums = _core.absolute(x).sum(axis=sum_axis, keepdims=True)
    extremum = _core.max if ord > 0 else _core.min
    result = extremum(sums, axis=other_axis, keepdims=True)
    if keepdims:
        return result
    return moveaxis(result, (row, column), (-2, -1))[..., 0, 0]
