# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of variables that ``spanwise.tensor`` adds to those of arrays: constructors of variables,
Theano's names, ranges, diagonals, products and repetitions with NumPy's meaning, sorting, assignment
to parts, and einsum by the plans of sw.einsum."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from .. import _core
from .._config import config
from .._core import Apply, Constant, GraphError, TensorType, Variable, concatenate
from .._numpy.shape import MAX_RESULTS, checked_count, normalized_axis
from ._op import Op, apply_registered, recipe_of

__all__ = [
    "arange", "argsort", "as_variable", "batched_dot", "cast", "constant", "contiguous", "diag",
    "diagonal", "dimshuffle", "einsum", "eye", "flatten", "identity_like", "ifelse",
    "inc_subtensor", "join", "ones_like", "outer", "repeat", "set_subtensor", "shape",
    "shape_padleft", "shape_padright", "sort", "tensor", "tensordot", "tile", "trace", "tril",
    "triu", "zeros_like",
]  # fmt: skip


def as_variable(value: Any, name: str | None = None) -> Variable:
    """`value` itself if it is a Variable, else a Constant with a copy of it: an array of any
    library, a number or nested lists."""
    return _core._as_variable(value, name)


def static_integer(value: Any) -> int | None:
    """The value of an integer or an integer constant; None for another integer variable of rank 0.
    Raises DTypeError for other variables, TypeError for other values."""
    if isinstance(value, Variable):
        if value.ndim != 0 or value.dtype.kind not in "iu":
            raise _core.DTypeError(
                f"{value} of {value.type} stands where one integer is expected; cast it, or take an "
                "element of it"
            )
        return int(value.data.item()) if isinstance(value, Constant) else None
    return operator.index(value)


def constant(value: Any, name: str | None = None, dtype: Any = None) -> Variable:
    """A constant with a copy of `value` (an array of any library, a number or nested lists), cast
    to `dtype` if given."""
    if dtype is None:
        return as_variable(value, name)
    return as_variable(_core.array(value, dtype=dtype), name)


def cast(x: object, dtype: object) -> Variable:
    """`x` cast to `dtype`: Theano's name for astype."""
    return as_variable(x).astype(dtype)


def contiguous(x: object) -> Variable:
    """`x` in C order: the same memory if it is C-contiguous already, else a copy."""
    return apply_registered("contiguous", x)


def transfer(x: object, target: object) -> Variable:
    """`x` copied to the device `target` ("cpu", "cuda:1", or a device); `x` itself if its type is
    already on that device."""
    variable, device = as_variable(x), _core.device(target)
    if variable.type.device == device:
        return variable
    return apply_registered("transfer", variable, device=str(device))


def shape(x: object) -> Variable:
    """The shape of `x`, an int64 vector on the host."""
    return as_variable(x).shape


def flatten(x: object, ndim: int = 1) -> Variable:
    """`x` reshaped in C order to `ndim` axes: the last one joins all remaining axes."""
    return as_variable(x).flatten(ndim)


def dimshuffle(x: object, *pattern: object) -> Variable:
    """A view of `x` with its axes in the order `pattern`; "x" is a new axis of extent 1."""
    return as_variable(x).dimshuffle(*pattern)


def join(axis: int, *variables: object) -> Variable:
    """The variables concatenated along `axis`: Theano's name for concatenate."""
    return concatenate([as_variable(x) for x in variables], axis)


def zeros_like(x: object, dtype: object = None) -> Variable:
    """Zeros with the shape of `x`, and its dtype unless `dtype` is given."""
    return _filled_like(x, 0, dtype)


def ones_like(x: object, dtype: object = None) -> Variable:
    """Ones with the shape of `x`, and its dtype unless `dtype` is given."""
    return _filled_like(x, 1, dtype)


def _filled_like(x: object, value: int, dtype: object) -> Variable:
    like = as_variable(x)
    number = constant(value, dtype=like.dtype if dtype is None else dtype)
    return number.broadcast_to(tuple(like.shape[axis] for axis in range(like.ndim)))


# ---- Constructors by name ----

_DTYPES = {
    "": None,  # floatX
    "b": "int8",
    "w": "int16",
    "i": "int32",
    "l": "int64",
    "f": "float32",
    "d": "float64",
    "c": "complex64",
    "z": "complex128",
}
_SHAPES: dict[str, tuple[int | None, ...]] = {
    "scalar": (),
    "vector": (None,),
    "row": (1, None),
    "col": (None, 1),
    "matrix": (None, None),
    "tensor3": (None,) * 3,
    "tensor4": (None,) * 4,
    "tensor5": (None,) * 5,
}


def tensor(
    dtype: Any,
    shape: Sequence[int | None] = (),
    name: str | None = None,
    device: Any = None,
    *,
    broadcastable: Sequence[bool] | None = None,
) -> Variable:
    """A variable of `dtype`. An extent of None in `shape` is not fixed. `device` is that of its values,
    by default the one of the function that uses it. `broadcastable` is Theano's form of the shape,
    and replaces it: True is extent 1, False is None."""
    return TensorType(dtype, shape if broadcastable is None else broadcastable, device)(name)


def _constructor(
    own_name: str, shape: tuple[int | None, ...], default: str | None
) -> Callable[..., Variable]:
    def make(name: str | None = None, dtype: Any = None) -> Variable:
        if name is not None and not isinstance(name, str):
            raise TypeError(
                f"{own_name}: expected a name, got {name!r}; {_plural(own_name)}(...) makes several "
                "variables"
            )
        return TensorType(dtype or default or config.floatX, shape)(name)

    make.__name__ = make.__qualname__ = own_name
    make.__doc__ = f"A {own_name} of dtype {default or 'sw.config.floatX'}, or of `dtype`."
    return make


def _plural(name: str) -> str:
    return name[:-2] + "ices" if name.endswith("ix") else name + "s"


def _plural_constructor(name: str, make: Callable[..., Variable]) -> Callable[..., list[Variable]]:
    def make_several(*names: Any, dtype: Any = None) -> list[Variable]:
        if len(names) == 1 and hasattr(names[0], "__index__"):
            count = checked_count(f"{_plural(name)}: number of variables", names[0], MAX_RESULTS)
            return [make(None, dtype) for _ in range(count)]
        if len(names) == 1 and isinstance(names[0], (str, list, tuple)):
            names = tuple(names[0])  # a string is one-letter names, as in Theano
        return [make(name, dtype) for name in names]

    make_several.__name__ = make_several.__qualname__ = _plural(name)
    make_several.__doc__ = (
        f"A list of {name} variables: one for each name or for each letter of a single string, or as "
        "many as a single integer says."
    )
    return make_several


def named_constructors() -> dict[str, Callable[..., Any]]:
    """Name -> constructor: "fmatrix", "fmatrices" and all others."""
    constructors: dict[str, Callable[..., Any]] = {}
    for letter, dtype in _DTYPES.items():
        for shape_name, shape in _SHAPES.items():
            name = letter + shape_name
            constructors[name] = make = _constructor(name, shape, dtype)
            constructors[_plural(name)] = _plural_constructor(name, make)
    return constructors


# ---- Ranges, diagonals and triangles ----


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


# ---- Products ----


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
    from .._numpy.linalg import paired_axes

    left, right = as_variable(a), as_variable(b)
    return contract(left, right, ((), ()), paired_axes(left.type.shape, right.type.shape, axes))


def batched_dot(a: Any, b: Any) -> Variable:
    """The matrix products of the matrices ``a[i]`` and ``b[i]``."""
    return _core.matmul(as_variable(a), as_variable(b))


# ---- Repetitions, axes and branches ----


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
    eager = False

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
    rank = max(v.ndim, len(times), checked_count("tile: ndim", ndim or 0, _core._max_rank))
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
    return v.dimshuffle(*_new_axes("shape_padleft", n_ones), *range(v.ndim))


def shape_padright(x: Any, n_ones: int = 1) -> Variable:
    """`x` with `n_ones` axes of extent 1 at the end."""
    v = as_variable(x)
    return v.dimshuffle(*range(v.ndim), *_new_axes("shape_padright", n_ones))


def _new_axes(caller: str, count: int) -> list[str]:
    return ["x"] * checked_count(f"{caller}: n_ones", count, _core._max_rank)


def ifelse(condition: Any, then_branch: Any, else_branch: Any, name: str | None = None) -> Any:
    """`then_branch` if the number `condition` is not 0 when the function is called, else
    `else_branch`; only the branch that is taken is computed. Both have one dtype and rank. Lists of
    equal length give a list. `name` is accepted for compatibility."""
    if isinstance(then_branch, (list, tuple)):
        return [ifelse(condition, a, b) for a, b in zip(then_branch, else_branch, strict=True)]
    return apply_registered("ifelse", condition, then_branch, else_branch)


# ---- Sorting, computed on the host by NumPy ----


class ArgSort(Op):
    """The indices that sort the input along `axis`, int64; equal elements keep their order, and NaN
    is last."""

    __props__ = ("axis",)
    eager = False

    def __init__(self, axis: int) -> None:
        self.axis = axis

    def make_node(self, x: Any) -> Apply:
        variable = as_variable(x)
        shape, device = variable.type.shape, variable.type.device
        return Apply(self, [variable], [TensorType("int64", shape, device)()])

    def perform(self, node: Apply, inputs: list[Any], output_storage: list[Any]) -> None:
        import numpy as np

        (x,) = inputs
        order = np.argsort(x.numpy(), axis=self.axis, kind="stable")
        output_storage[0][0] = _core.array(order, "int64", device=x.device)

    def infer_shape(self, node: Apply, input_shapes: Any) -> Any:
        return input_shapes

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False]]


def argsort(x: Any, axis: int | None = -1) -> Variable:
    """The int64 indices that sort `x` along `axis`, or the flattened `x` for None. Equal elements
    keep their order; NaN is last. Computed on the host: a call waits for `x`."""
    v, axis = _with_axis(x, axis, "argsort")
    return ArgSort(axis)(v)


def sort(x: Any, axis: int | None = -1) -> Variable:
    """`x` sorted along `axis`, or the flattened `x` for None; NaN is last. The derivative is that of
    the elements in their new positions. The order is computed on the host: a call waits for `x`."""
    v, axis = _with_axis(x, axis, "sort")
    key: list[Any] = []
    for i in range(v.ndim):
        positions = arange(v.shape[i])
        key.append(positions.dimshuffle(*["x"] * i, 0, *["x"] * (v.ndim - i - 1)))
    key[axis] = ArgSort(axis)(v)
    return v[tuple(key)]


def _with_axis(x: Any, axis: int | None, caller: str) -> tuple[Variable, int]:
    v = as_variable(x)
    return (v.flatten(), 0) if axis is None else (v, normalized_axis(axis, v.ndim, caller))


# ---- x[i] = y and x[i] += y, without changing x ----


def set_subtensor(place: Variable, value: Any) -> Variable:
    """``T.set_subtensor(x[1:], y)``: a new variable equal to x, but with ``[1:]`` set to y, cast to
    the dtype of x and broadcast.

    Of several values for one element (repeated indices) the last is stored. Raises GraphError if
    `place` is not an index of a variable.
    """
    x, index, inputs = _parts_of_index(place, "set_subtensor")
    return apply_registered("set_subtensor", x, value, *inputs, index=index)


def inc_subtensor(place: Variable, value: Any) -> Variable:
    """``T.inc_subtensor(x[1:], y)``: a new variable equal to x, but with y, cast to the dtype of x
    and broadcast, added at ``[1:]``.

    Repeated indices add repeatedly, as in ``sw.add.at(x, i, y)``. As there, the order of additions
    on a GPU is not fixed: sums of floats may differ in their last bits from run to run. Raises
    GraphError if `place` is not an index of a variable.
    """
    x, index, inputs = _parts_of_index(place, "inc_subtensor")
    if all(v.ndim == 0 for v in inputs):
        return set_subtensor(place, place + value)
    return apply_registered("inc_subtensor", x, value, *inputs, index=index)


def _parts_of_index(place: Any, caller: str) -> tuple[Variable, str, list[Variable]]:
    """(x, text of the index, inputs of the index) for `place` = x[index]."""
    op = place.owner.op if isinstance(place, Variable) and place.owner is not None else None
    name, properties = recipe_of(op)
    if name != "subtensor":
        raise GraphError(f"{caller}: expected an index of a variable, such as x[1:], got {place!r}")
    return place.owner.inputs[0], properties["index"], place.owner.inputs[1:]


# ---- Einsum ----

#: Stands for an extent that no type fixes where a plan compares sizes of products: any size above 1.
_ASSUMED_EXTENT = 16


def einsum(*operands: Any) -> Variable:
    """Einstein summation, ``T.einsum("ij,jk->ik", a, b)``, with the subscripts of numpy.einsum.

    An axis of extent 1 broadcasts where its type fixes the extent. The operands are contracted in
    pairs by matrix products. Raises ArgumentError for subscripts that do not fit the ranks and
    fixed extents of the operands.
    """
    from .._numpy.einsum import parse_subscripts, plan_for, read_operands, run_plan

    subscripts, operands = read_operands(operands)
    values = [as_variable(x) for x in operands]
    labels, _ = parse_subscripts(subscripts, tuple(x.ndim for x in values))
    plan = plan_for(subscripts, _planned_shapes(labels, values), None)
    dtype = _core.result_type(*(x.dtype for x in values))
    return run_plan(plan, [x.astype(dtype) for x in values], _diagonal, contract)


def _planned_shapes(labels: Any, values: list[Variable]) -> tuple[tuple[int, ...], ...]:
    """The fixed extents; one that is not fixed is that of its label in another operand, or
    _ASSUMED_EXTENT."""
    extents: dict[Any, int] = {}
    for of_axes, x in zip(labels, values, strict=True):
        for label, extent in zip(of_axes, x.type.shape, strict=True):
            if extent is not None and extent != 1:
                extents.setdefault(label, extent)
    return tuple(
        tuple(
            extents.get(label, _ASSUMED_EXTENT) if extent is None else extent
            for label, extent in zip(of_axes, x.type.shape, strict=True)
        )
        for of_axes, x in zip(labels, values, strict=True)
    )


def _diagonal(x: Variable, offset: int, first: int, second: int) -> Variable:
    """The diagonal of two axes, which a call of the compiled function checks to be of equal extent;
    `offset` is always 0."""
    others = [i for i in range(x.ndim) if i not in (first, second)]
    extent = x.shape[first]
    rows, columns = arange(extent), arange(x.shape[second]).reshape(extent)
    elements = x.dimshuffle(first, second, *others)[rows, columns]
    return elements.dimshuffle(*range(1, elements.ndim), 0)
