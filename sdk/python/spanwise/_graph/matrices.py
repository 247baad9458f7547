# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges, diagonals, products and repetitions of variables, with NumPy's meaning."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from .. import _core
from .._config import config
from .._core import Apply, TensorType, Variable
from .._numpy.linalg import paired_axes
from .._numpy.shape import normalized_axis
from .functions import as_variable
from .op import Op, apply_registered

__all__ = [
    "arange", "batched_dot", "diag", "diagonal", "eye", "identity_like", "ifelse", "outer",
    "repeat", "shape_padleft", "shape_padright", "tensordot", "tile", "trace", "tril", "triu",
]  # fmt: skip


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Variable:
    """Numbers from `start` (0 if only one argument is given) up to `stop`. The arguments may be
    variables; without `dtype` the result has the dtype of their sum."""
    if stop is None:
        start, stop = 0, start
    numbers = [as_variable(number) for number in (start, stop, step)]
    if dtype is None:
        dtype = (numbers[0] + numbers[1] + numbers[2]).dtype
    return apply_registered("arange", *numbers, dtype=str(_core.dtype(dtype)))


def eye(n: Any, m: Any = None, k: Any = 0, dtype: Any = None) -> Variable:
    """A matrix (n, m) with ones on diagonal `k`. The dtype is config.floatX unless given."""
    rows, columns = arange(n), arange(n if m is None else m)
    return _core.equal(rows[:, None] + k, columns).astype(dtype or config.floatX)


def identity_like(x: Any) -> Variable:
    """The identity matrix of the shape and dtype of `x`."""
    like = as_variable(x)
    return eye(like.shape[0], like.shape[1], dtype=like.dtype)


def tril(x: Any, k: Any = 0) -> Variable:
    """`x` (..., n, m) with zeros above diagonal `k`."""
    return _triangle(x, lambda rows, columns: columns <= rows + k)


def triu(x: Any, k: Any = 0) -> Variable:
    """`x` (..., n, m) with zeros below diagonal `k`."""
    return _triangle(x, lambda rows, columns: columns >= rows + k)


def _triangle(x: Any, keeps: Any) -> Variable:
    """`x` where ``keeps(rows, columns)`` of the indices is true, else 0."""
    matrix = as_variable(x)
    if matrix.ndim < 2:
        raise _core.LayoutError(f"tril, triu: expected at least 2 axes, got {matrix.type}")
    rows, columns = arange(matrix.shape[-2])[:, None], arange(matrix.shape[-1])
    return _core._where(keeps(rows, columns), matrix, _core.array(0, dtype=matrix.dtype))


def diag(x: Any, k: int = 0) -> Variable:
    """The diagonal `k` of a matrix, or the matrix with the vector `x` on diagonal `k`."""
    v = as_variable(x)
    if v.ndim == 1:
        n = v.shape[0] + abs(k)
        on_diagonal = _core.equal(arange(n)[:, None] + k, arange(n))
        padding = as_variable(_core.zeros(abs(k), v.dtype))
        padded = _core.concatenate([v, padding], 0) if k else v
        spread = padded.dimshuffle("x", 0) if k < 0 else padded.dimshuffle(0, "x")
        return _core._where(on_diagonal, spread, _core.array(0, dtype=v.dtype))
    if v.ndim != 2:
        raise _core.LayoutError(f"diag: expected a vector or a matrix, got {v.type}")
    return diagonal(v, k)


def diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Variable:
    """The elements whose index along `axis2` is that along `axis1` plus `offset`, on a new last axis
    instead of these two; a copy."""
    v = as_variable(x)
    if v.ndim < 2:
        raise _core.LayoutError(f"diagonal: expected at least 2 axes, got {v.type}")
    first, second = (normalized_axis(axis, v.ndim, "diagonal") for axis in (axis1, axis2))
    if first == second:
        raise _core.LayoutError(f"diagonal: expected two different axes, got {axis1} and {axis2}")
    others = [i for i in range(v.ndim) if i not in (first, second)]
    part = v.dimshuffle(first, second, *others)
    part = part[:, offset:] if offset >= 0 else part[-offset:]
    indices = arange(_core.minimum(part.shape[0], part.shape[1]))
    elements = part[indices, indices]
    return elements.dimshuffle(*range(1, elements.ndim), 0)


def trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Variable:
    """The sum along a diagonal: see diagonal()."""
    return diagonal(x, offset, axis1, axis2).sum(axis=-1)


def outer(x: Any, y: Any) -> Variable:
    """The products of all elements of `x` and `y`, a matrix."""
    return as_variable(x).flatten().dimshuffle(0, "x") * as_variable(y).flatten()


def contract(
    x: Variable, y: Variable, batch: Sequence[Sequence[int]], summed: Sequence[Sequence[int]]
) -> Variable:
    """The products of `x` and `y` with equal indices along the axes `batch`, which come first,
    summed over the axes `summed`; both are lists of axes for each operand."""
    rows = [i for i in range(x.ndim) if i not in (*batch[0], *summed[0])]
    columns = [i for i in range(y.ndim) if i not in (*batch[1], *summed[1])]
    extents = [x.shape[i] for i in batch[0]]
    left = _stacked(x, extents, batch[0], rows, summed[0])
    right = _stacked(y, extents, batch[1], summed[1], columns)
    shape = [*extents, *(x.shape[i] for i in rows), *(y.shape[i] for i in columns)]
    return _core.matmul(left, right).reshape(*shape)


def _stacked(x: Variable, extents: list[Any], batch: Any, rows: Any, columns: Any) -> Variable:
    """`x` as matrices: the axes `batch` of `extents`, then `rows` as one axis, then `columns`."""
    sizes = (prod((x.shape[i] for i in axes), start=as_variable(1)) for axes in (rows, columns))
    return x.dimshuffle(*batch, *rows, *columns).reshape(*extents, *sizes)


def tensordot(a: Any, b: Any, axes: int | Sequence[Any] = 2) -> Variable:
    """numpy.tensordot: the product summed over the last `axes` axes of `a` and the first of `b`, or
    over the axes listed in `axes` for each. Raises ArgumentError for axes that do not fit."""
    left, right = as_variable(a), as_variable(b)
    return contract(left, right, ((), ()), paired_axes(left.type.shape, right.type.shape, axes))


def batched_dot(a: Any, b: Any) -> Variable:
    """The matrix products of the matrices ``a[i]`` and ``b[i]``."""
    return _core.matmul(as_variable(a), as_variable(b))


def repeat(x: Any, repeats: Any, axis: int | None = None) -> Variable:
    """Each element of `x` `repeats` times along `axis`; without an axis, of the flattened `x`.
    `repeats` is one number or variable, or a vector with a number for each element."""
    v = as_variable(x)
    v, axis = (v.flatten(), 0) if axis is None else (v, normalized_axis(axis, v.ndim, "repeat"))
    if (isinstance(repeats, Variable) and repeats.ndim) or isinstance(repeats, (list, tuple)):
        return v.take(RepeatedPositions()(repeats), axis)
    extents: list[Any] = [v.shape[i] for i in range(v.ndim)]
    repeated = v.dimshuffle(*range(axis + 1), "x", *range(axis + 1, v.ndim))
    repeated = repeated.broadcast_to((*extents[: axis + 1], repeats, *extents[axis + 1 :]))
    extents[axis] = extents[axis] * repeats
    return repeated.reshape(*extents)


class RepeatedPositions(Op):
    """(counts) -> the indices by which take() repeats element i `counts[i]` times, int64: [2, 0, 1]
    gives [0, 0, 2]."""

    __props__ = ()

    def make_node(self, repeats: Any) -> Apply:
        return Apply(self, [as_variable(repeats)], [TensorType("int64", (None,))()])

    def perform(self, node: Apply, inputs: list[Any], output_storage: list[Any]) -> None:
        (repeats,) = inputs
        positions = _core.arange(repeats.size, dtype="int64", device=repeats.device)
        output_storage[0][0] = _core.repeat(positions, repeats)

    def grad(self, inputs: Any, output_gradients: Any) -> Any:
        return [None]


def tile(x: Any, reps: int | Sequence[Any], ndim: int | None = None) -> Variable:
    """`x` repeated `reps` times along each of the last axes; at least `ndim` axes."""
    v = as_variable(x)
    times = [reps] if not isinstance(reps, (list, tuple)) else list(reps)
    rank = max(v.ndim, len(times), ndim or 0)
    v = v.dimshuffle(*["x"] * (rank - v.ndim), *range(v.ndim))
    times = [1] * (rank - len(times)) + times
    pattern: list[Any] = []
    extents: list[Any] = []
    for axis, count in enumerate(times):
        pattern += ["x", axis]
        extents += [count, v.shape[axis]]
    repeated = v.dimshuffle(*pattern).broadcast_to(tuple(extents))
    return repeated.reshape(*(v.shape[axis] * count for axis, count in enumerate(times)))


def shape_padleft(x: Any, n_ones: int = 1) -> Variable:
    """`x` with `n_ones` axes of extent 1 in front."""
    v = as_variable(x)
    return v.dimshuffle(*["x"] * n_ones, *range(v.ndim))


def shape_padright(x: Any, n_ones: int = 1) -> Variable:
    """`x` with `n_ones` axes of extent 1 at the end."""
    v = as_variable(x)
    return v.dimshuffle(*range(v.ndim), *["x"] * n_ones)


def ifelse(condition: Any, then_branch: Any, else_branch: Any, name: str | None = None) -> Any:
    """`then_branch` if the number `condition` is not 0 when the function is called, else
    `else_branch`; only the branch that is taken is computed. Both have one dtype and rank. Lists of
    equal length give a list. `name` is accepted for compatibility."""
    if isinstance(then_branch, (list, tuple)):
        return [ifelse(condition, a, b) for a, b in zip(then_branch, else_branch, strict=True)]
    return apply_registered("ifelse", condition, then_branch, else_branch)
