# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor.extra_ops``: functions of NumPy on variables."""

from __future__ import annotations

from typing import Any, Literal

import spanwise as sw
import spanwise.tensor as T  # noqa: N812
from spanwise.graph import Variable
from spanwise.tensor import cumprod, cumsum, repeat

from .._config import config
from .._ops import ArrayOp, tensor_of
from .basic import _axis_of, as_tensor_variable

__all__ = [
    "Unique", "bartlett", "bincount", "compress", "cumprod", "cumsum", "diff", "fill_diagonal",
    "fill_diagonal_offset", "ravel_multi_index", "repeat", "searchsorted", "squeeze", "to_one_hot", "unravel_index", "xlogx", "xlogy0",
]  # fmt: skip

squeeze = T.squeeze


def bincount(
    x: Any, weights: Any = None, minlength: Any = None, assert_nonneg: bool = False
) -> Any:
    """numpy.bincount: how often each of the integers 0, 1, ... is in the vector `x`, or the sums of
    their weights."""
    x = as_tensor_variable(x)
    operands = [x] if weights is None else [x, as_tensor_variable(weights)]
    dtype = "int64" if weights is None else "float64"
    return ArrayOp(
        "Bincount",
        lambda *arrays: sw.bincount(*arrays, minlength=int(minlength or 0)),
        lambda *variables: tensor_of(dtype, 1, x),
        settings=int(minlength or 0),
    )(*operands)


def to_one_hot(y: Any, nb_class: Any, dtype: Any = None) -> Variable:
    """A matrix with a row for each element of the integer vector `y`: 1 in the column y[i], else 0."""
    y = as_tensor_variable(y)
    return T.eq(y.dimshuffle(0, "x"), T.arange(nb_class).dimshuffle("x", 0)).astype(
        dtype or config.floatX
    )


def compress(condition: Any, x: Any, axis: int | None = None) -> Variable:
    """The slices of `x` along `axis` at which the vector `condition` is true."""
    from .basic import flatnonzero

    x = as_tensor_variable(x)
    x, axis = (x.flatten(), 0) if axis is None else (x, axis)
    return T.take(x, flatnonzero(condition), axis=axis)


def diff(x: Any, n: int = 1, axis: int = -1) -> Variable:
    """The n-th difference along `axis`."""
    x = as_tensor_variable(x)
    before = (slice(None),) * _axis_of(x, axis)
    for _ in range(n):
        x = x[(*before, slice(1, None))] - x[(*before, slice(None, -1))]
    return x


def fill_diagonal(a: Any, val: Any) -> Variable:
    """A copy of `a`, in which the elements with equal indices are `val`."""
    a = as_tensor_variable(a)
    equal = T.eq(T.arange(a.shape[0]).dimshuffle(0, *["x"] * (a.ndim - 1)), _index(a, 1))
    for axis in range(2, a.ndim):
        equal = equal & T.eq(_index(a, axis), _index(a, 0))
    return T.where(equal, as_tensor_variable(val).astype(a.dtype), a)


def fill_diagonal_offset(a: Any, val: Any, offset: Any) -> Variable:
    """A copy of the matrix `a`, in which the diagonal `offset` columns to the right is `val`."""
    a = as_tensor_variable(a)
    on_diagonal = T.eq(_index(a, 1) - _index(a, 0), offset)
    return T.where(on_diagonal, as_tensor_variable(val).astype(a.dtype), a)


def _index(a: Any, axis: int) -> Variable:
    """The index along `axis`, in the rank of `a`."""
    order = ["x"] * axis + [0] + ["x"] * (a.ndim - axis - 1)
    return T.arange(a.shape[axis]).dimshuffle(*order)


def Unique(  # noqa: N802
    return_index: bool = False, return_inverse: bool = False, return_counts: bool = False
) -> Any:
    """A function of a vector: its distinct elements, sorted, and what else is asked for, as
    numpy.unique."""
    options = {
        "return_index": return_index,
        "return_inverse": return_inverse,
        "return_counts": return_counts,
    }

    def types(x: Any) -> Any:
        return [tensor_of(x.type.dtype, 1, x)] + [tensor_of("int64", 1, x)] * sum(options.values())

    return ArrayOp(
        "Unique", lambda x: sw.unique(x, **options), types, settings=tuple(options.values())
    )


def searchsorted(
    x: Any, v: Any, side: Literal["left", "right"] = "left", sorter: Any = None
) -> Variable:
    """The positions at which the elements of `v` keep the sorted vector `x` sorted."""
    v = as_tensor_variable(v)
    operands = [as_tensor_variable(y) for y in (x, v, sorter) if y is not None]
    return ArrayOp(
        "SearchsortedOp",
        lambda a, b, *order: sw.searchsorted(a, b, side, *order),
        lambda a, b, *order: tensor_of("int64", v.ndim, a),
        settings=side,
    )(*operands)


def unravel_index(indices: Any, dims: Any, order: str = "C") -> list[Variable]:
    """The index along each axis of an array of the shape `dims` for positions in it; a list."""
    indices = as_tensor_variable(indices)
    axes = list(range(len(dims)))
    result: list[Any] = [None] * len(dims)
    for axis in reversed(axes) if order == "C" else axes:
        result[axis] = T.mod(indices, dims[axis])
        indices = T.int_div(indices, dims[axis])
    return result


def ravel_multi_index(
    multi_index: Any, dims: Any, mode: str = "raise", order: str = "C"
) -> Variable:
    """The positions in an array of the shape `dims` for the index along each axis, the inverse of
    unravel_index(). `mode` "wrap" and "clip" bring indices into range; with "raise" they have to be."""
    if mode not in ("raise", "wrap", "clip") or order not in ("C", "F"):
        raise ValueError(
            f'ravel_multi_index: expected the mode raise, wrap or clip and the order "C" or "F", got {mode!r} '
            f"and {order!r}"
        )
    pairs = [(as_tensor_variable(i), n) for i, n in zip(multi_index, dims, strict=True)]
    result: Any = 0
    for i, n in pairs if order == "C" else reversed(pairs):
        i = T.mod(i, n) if mode == "wrap" else T.clip(i, 0, n - 1) if mode == "clip" else i
        result = result * n + i
    return result


def bartlett(M: Any) -> Variable:  # noqa: N803
    """numpy.bartlett: the triangular window of `M` points."""
    n = as_tensor_variable(M)
    if n.ndim or "int" not in str(n.dtype):
        raise TypeError(f"bartlett: expected an integer scalar, got {n.type}")
    last = T.maximum(n - 1, 1).astype("float64")
    window = 1 - T.abs(2 * T.arange(n).astype("float64") / last - 1)
    return T.where(T.eq(n, 1), T.ones_like(window), window)


def xlogx(x: Any) -> Variable:
    """x * log(x), which is 0 where x is 0."""
    return xlogy0(x, x)


def xlogy0(x: Any, y: Any) -> Variable:
    """x * log(y), which is 0 where x is 0."""
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    zero = T.eq(x, 0)
    return T.where(zero, 0, x * T.log(T.where(zero, 1, y)))
