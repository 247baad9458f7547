# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor.basic``: the names of theano.tensor, and classes of ops. Functions of the same
names in spanwise.tensor take NumPy's arguments; those here take Theano's."""

from __future__ import annotations

import builtins
import functools
import importlib
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import spanwise as sw
import spanwise.tensor as T  # noqa: N812
from spanwise.gradient import DisconnectedType
from spanwise.graph import Constant, Variable, recipe_of
from spanwise.tensor import *  # noqa: F403

from .._config import config
from .._ops import (
    AdvancedIncSubtensor as AdvancedIncSubtensor,
    AdvancedIncSubtensor1 as AdvancedIncSubtensor1,
    AdvancedSubtensor as AdvancedSubtensor,
    AdvancedSubtensor1 as AdvancedSubtensor1,
    Alloc as Alloc,
    ARange as ARange,
    ArrayOp,
    Dot as Dot,
    IncSubtensor as IncSubtensor,
    Join as Join,
    MakeVector as MakeVector,
    Reshape as Reshape,
    ScalarFromTensor as ScalarFromTensor,
    Shape as Shape,
    tensor_of,
)

_REDUCTIONS = ("sum", "prod", "mean", "std", "var", "max", "min", "any", "all", "argmax", "argmin")

__all__ = [
    "AdvancedIncSubtensor", "AdvancedIncSubtensor1", "AdvancedSubtensor", "AdvancedSubtensor1", "ARange",
    "IncSubtensor", "Join", "MakeVector", "Reshape", "ScalarFromTensor", "Shape", "NotScalarConstantError",
    "Rebroadcast", "all_dtypes", "angle", "argtopk", "ceil_intdiv", "complex_dtypes",
    "complex_from_polar", "continuous_dtypes", "default", "discrete_dtypes", "extract_constant",
    "flatten", "float_dtypes", "get_vector_length", "inc_subtensor", "int_dtypes", "integer_dtypes",
    "inverse_permutation", "iround", "makeKeepDims", "permute_row_elements", "reshape", "round",
    "scalar_from_tensor", "set_subtensor", "shape_i", "specify_shape", "tensor_from_scalar", "topk",
    "topk_and_argtopk", "uint_dtypes", *_REDUCTIONS,
    "add", "addbroadcast", "allclose", "alloc", "as_tensor_variable", "batched_dot", "batched_tensordot", "chi2sf",
    "choose", "complex", "constant", "dot", "erfc", "erfcinv", "erfcx", "erfinv", "fill",
    "flatnonzero", "gamma", "gammaln", "get_scalar_constant_value", "horizontal_stack", "imag",
    "isclose", "j0", "j1", "largest", "max_and_argmax", "mgrid", "mul", "nonzero", "nonzero_values",
    "norm", "ogrid", "ones", "patternbroadcast", "psi", "real", "roll", "second", "shape_padaxis",
    "smallest", "split", "stack", "stacklists", "tensor_copy", "unbroadcast", "vertical_stack",
    "zeros",
]  # fmt: skip


def _allclose(a: Any, b: Any, rtol: float | None = None, atol: float | None = None) -> bool:
    """numpy.allclose(); the tolerances are larger if an array is float32 or float16."""
    a, b = np.asarray(a), np.asarray(b)
    if "float16" in (a.dtype, b.dtype):
        tolerances = 5e-3, 5e-3
    elif "float32" in (a.dtype, b.dtype):
        tolerances = 1e-5, 1e-5
    else:
        tolerances = 1e-5, 1e-8
    rtol = tolerances[0] if rtol is None else rtol
    return bool(np.allclose(a, b, rtol, tolerances[1] if atol is None else atol))


def alloc(value: Any, *shape: Any) -> Variable:
    """`value` broadcast to `shape`, whose elements may be variables."""
    return as_tensor_variable(value).broadcast_to(shape)


def _filled(number: int, shape: Any, dtype: Any) -> Variable:
    extents = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    return alloc(T.constant(number, dtype=dtype or config.floatX), *extents)


def zeros(shape: Any, dtype: Any = None) -> Variable:
    """Zeros of dtype ``config.floatX`` or `dtype`."""
    return _filled(0, shape, dtype)


def ones(shape: Any, dtype: Any = None) -> Variable:
    """Ones of dtype ``config.floatX`` or `dtype`."""
    return _filled(1, shape, dtype)


def fill(a: Any, b: Any) -> Variable:
    """`b` broadcast to the shape of `a`."""
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    return b.broadcast_to(a.shape) if a.ndim else b


# ---- Constants ----


def constant(x: Any, name: str | None = None, ndim: int | None = None, dtype: Any = None) -> Any:
    """A constant. A Python number gets the smallest dtype that holds it: of int8 to int64, or of
    float32 and float64, but not more than config.floatX."""
    if dtype is None and type(x) in (int, float):
        dtype = _smallest_dtype(x)
    return T.constant(x, name=name, dtype=dtype)


def _smallest_dtype(x: Any) -> str:
    if isinstance(x, int):
        return next(
            (f"int{b}" for b in (8, 16, 32, 64) if -(1 << b - 1) <= x < 1 << b - 1), "uint64"
        )
    is_exact = x != x or float(np.float32(x)) == x
    return "float32" if is_exact or config.floatX == "float32" else "float64"


def as_tensor_variable(x: Any, name: str | None = None, ndim: int | None = None) -> Any:
    """`x` as a variable: a constant for a number or an array, a stack for a list with variables; with
    `ndim`, axes of extent 1 are added in front."""
    if isinstance(x, (list, tuple)) and builtins.any(isinstance(item, Variable) for item in x):
        variable = stack(*x)
    elif type(x) in (int, float):
        variable = constant(x, name)
    else:
        variable = T.as_variable(x)
    if ndim is not None and variable.ndim < ndim:
        variable = T.shape_padleft(variable, ndim - variable.ndim)
    return variable


def tensor_from_scalar(x: Any) -> Variable:
    """`x`: scalars are variables of rank 0 here."""
    return as_tensor_variable(x)


scalar_from_tensor = tensor_from_scalar


def default(x: Any, default: Any) -> Any:
    """`x`, or `default` for None."""
    return default if x is None else x


def get_vector_length(v: Any) -> int:
    """The length of a vector, which must be known. Raises ValueError otherwise."""
    v = as_tensor_variable(v)
    if v.ndim != 1 or v.type.shape[0] is None:
        raise ValueError(f"get_vector_length: the length of {v} of {v.type} is not known")
    return v.type.shape[0]


class NotScalarConstantError(TypeError):
    """A variable has no value before the function runs."""


# ---- dtypes ----


int_dtypes = ["int8", "int16", "int32", "int64"]
uint_dtypes = ["uint8", "uint16", "uint32", "uint64"]
float_dtypes = ["float16", "float32", "float64"]
complex_dtypes = ["complex64", "complex128"]
integer_dtypes = int_dtypes + uint_dtypes
discrete_dtypes = ["bool", *integer_dtypes]
continuous_dtypes = float_dtypes + complex_dtypes
all_dtypes = discrete_dtypes + continuous_dtypes

# ---- Elementwise ----


def _rounded(a: Any, mode: str | None) -> Variable:
    a = as_tensor_variable(a)
    if mode == "half_away_from_zero":
        return T.sgn(a) * T.floor(builtins.abs(a) + 0.5)
    return T.round(a)


def round(a: Any, mode: str | None = None) -> Variable:
    """The nearest integers: halves to even ones, or away from 0 for "half_away_from_zero"."""
    return _rounded(a, mode)


def iround(a: Any, mode: str | None = None) -> Variable:
    """round() as int64."""
    return _rounded(a, mode).astype("int64")


def ceil_intdiv(a: Any, b: Any) -> Variable:
    """The quotient of integers, rounded up."""
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    return T.int_div(a, b) + T.neq(T.mod(a, b), 0).astype("int8")


def angle(z: Any) -> Variable:
    """The angles of complex numbers."""
    return T.arctan2(imag(z), real(z))


def complex_from_polar(abs: Any, angle: Any) -> Variable:
    """abs * exp(i * angle)"""
    abs = as_tensor_variable(abs)
    return complex(abs * T.cos(angle), abs * T.sin(angle))


def add(*terms: Any) -> Variable:
    """The sum of all `terms`."""
    return functools.reduce(T.add, terms)


def mul(*factors: Any) -> Variable:
    """The product of all `factors`."""
    return functools.reduce(T.mul, factors)


def smallest(*variables: Any) -> Variable:
    """The smallest of the elements at each position."""
    return functools.reduce(T.minimum, map(as_tensor_variable, variables))


def largest(*variables: Any) -> Variable:
    """The largest of the elements at each position."""
    return functools.reduce(T.maximum, map(as_tensor_variable, variables))


def second(a: Any, b: Any) -> Variable:
    """`b` in the shape of `a`."""
    return fill(a, b)


def tensor_copy(x: Any) -> Variable:
    """A copy of `x`."""
    return as_tensor_variable(x) + 0


def complex(real: Any, imag: Any) -> Variable:
    """real + imag * i."""
    return as_tensor_variable(real) + as_tensor_variable(imag) * T.constant(1j)


def _complex_part(name: str) -> Any:
    def types(z: Any) -> Any:
        return tensor_of({"complex64": "float32"}.get(str(z.dtype), "float64"), z.ndim, z)

    return ArrayOp(name, lambda z: getattr(z, name), types)


def real(z: Any) -> Variable:
    """The real parts; `z` itself if it is real."""
    z = as_tensor_variable(z)
    return _complex_part("real")(z) if "complex" in str(z.dtype) else z


def imag(z: Any) -> Variable:
    """The imaginary parts; zeros of a real `z`."""
    z = as_tensor_variable(z)
    return _complex_part("imag")(z) if "complex" in str(z.dtype) else T.zeros_like(z)


def erfc(x: Any) -> Variable:
    """1 - erf(x)."""
    return special("erfc", lambda x: -2 / np.sqrt(np.pi) * T.exp(-x * x))(x)


def special(name: str, derivative: Any = None) -> Any:
    """A function of scipy.special on the host, of one or several variables; `derivative` gives that
    of a function of one."""

    def compute(*arrays: Any) -> Any:
        scipy = importlib.import_module("scipy.special")
        host = [array.numpy() for array in arrays]
        return sw.array(getattr(scipy, name)(*host), device=arrays[0].device)

    def types(*variables: Any) -> Any:
        dtype = sw.result_type(*(v.type.dtype for v in variables), "float32")
        rank = builtins.max(v.ndim for v in variables)
        return tensor_of(dtype, rank, variables[0])

    def gradient(inputs: Any, outputs: Any, slopes: Any) -> Any:
        return [slopes[0] * derivative(*inputs)]

    op = ArrayOp(name, compute, types, gradient if derivative else None)

    def call(*variables: Any) -> Variable:
        return op(*map(as_tensor_variable, variables))

    call.__name__ = name
    call.__doc__ = f"scipy.special.{name}, computed on the host."
    return call


erfinv: Callable[..., Variable] = special(
    "erfinv", lambda x: np.sqrt(np.pi) / 2 * T.exp(erfinv(x) ** 2)
)
erfcinv: Callable[..., Variable] = special(
    "erfcinv", lambda x: -np.sqrt(np.pi) / 2 * T.exp(erfcinv(x) ** 2)
)
erfcx: Callable[..., Variable] = special("erfcx", lambda x: 2 * x * erfcx(x) - 2 / np.sqrt(np.pi))
psi = special("psi")
gammaln = special("gammaln", psi)
gamma: Callable[..., Variable] = special("gamma", lambda x: gamma(x) * psi(x))
j1 = special("j1")
j0 = special("j0", lambda x: -j1(x))


def chi2sf(x: Any, k: Any) -> Variable:
    """The survival function of the chi-squared distribution."""
    return special("chdtrc")(k, x)


# ---- Axes, joins and parts ----


def _axis_of(x: Variable, axis: int) -> int:
    """`axis` of `x`, >= 0. Raises AxisError, a ValueError and IndexError, if `x` does not have it."""
    if not -x.ndim <= axis < x.ndim:
        raise sw.AxisError(f"axis {axis} is out of bounds for a variable of {x.ndim} axes, {x}")
    return axis % x.ndim


def addbroadcast(x: Any, *axes: int) -> Variable:
    """`x`, whose `axes` have extent 1 and broadcast."""
    x = as_tensor_variable(x)
    axes = tuple(_axis_of(x, axis) for axis in axes)
    kept = [i for i in range(x.ndim) if i not in axes]
    order: list[Any] = [kept.index(i) if i in kept else "x" for i in range(x.ndim)]
    index = tuple(0 if i in axes else slice(None) for i in range(x.ndim))
    return x[index].dimshuffle(*order) if axes else x


def unbroadcast(x: Any, *axes: int) -> Variable:
    """`x`: an axis of unknown extent does not broadcast."""
    return as_tensor_variable(x)


def patternbroadcast(x: Any, broadcastable: Any) -> Variable:
    """`x`, whose axes with a true value have extent 1 and broadcast."""
    return addbroadcast(x, *(i for i, is_one in enumerate(broadcastable) if is_one))


def shape_padaxis(x: Any, axis: int) -> Variable:
    """`x` with a new axis of extent 1 at `axis`."""
    return T.expand_dims(as_tensor_variable(x), axis)


def stack(*tensors: Any, axis: int = 0) -> Variable:
    """The variables along a new axis: a list and the axis, or the variables as arguments."""
    if isinstance(tensors[0], (list, tuple)):
        axis = tensors[1] if len(tensors) > 1 else axis
        tensors = tuple(tensors[0])
    return T.stack([as_tensor_variable(x) for x in tensors], axis)


def stacklists(x: Any) -> Variable:
    """Nested lists of variables as one variable."""
    return stack([stacklists(item) for item in x]) if isinstance(x, list) else as_tensor_variable(x)


def horizontal_stack(*matrices: Any) -> Variable:
    """The matrices side by side."""
    return T.concatenate([as_tensor_variable(x) for x in matrices], axis=1)


def vertical_stack(*matrices: Any) -> Variable:
    """The matrices one below the other."""
    return T.concatenate([as_tensor_variable(x) for x in matrices], axis=0)


def split(x: Any, splits_size: Any, n_splits: int, axis: int = 0) -> list[Variable]:
    """`n_splits` parts of `x` along `axis`, of the extents in `splits_size`."""
    x, sizes = as_tensor_variable(x), splits_size
    ends: list[Any] = [0]
    for i in range(n_splits):
        ends.append(ends[-1] + sizes[i])
    before = (slice(None),) * _axis_of(x, axis)
    return [x[(*before, slice(a, b))] for a, b in itertools.pairwise(ends)]


def roll(x: Any, shift: Any, axis: int | None = None) -> Variable:
    """The elements moved by `shift` along `axis`, or in the flattened `x`, which the last re-enter."""
    x = as_tensor_variable(x)
    if axis is None:
        return roll(x.flatten(), shift, 0).reshape(x.shape)
    extent = x.shape[axis]
    return T.take(x, T.mod(T.arange(extent) - shift, extent), axis=axis)


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Variable:
    """result[i] = choices[a[i]][i], as numpy.choose."""
    listed = choices if isinstance(choices, Variable) else stack(*choices)
    a = as_tensor_variable(a)
    rest = listed[0].ndim
    if a.ndim > rest:
        listed = listed.dimshuffle(0, *["x"] * (a.ndim - rest), *range(1, listed.ndim))
    elif a.ndim < rest:
        a = T.shape_padleft(a, rest - a.ndim)
    count = len(choices) if isinstance(choices, (list, tuple)) else listed.type.shape[0]
    if mode != "raise":
        a = T.mod(a, listed.shape[0]) if mode == "wrap" else T.clip(a, 0, listed.shape[0] - 1)
    if count is None:
        raise sw.GraphError("choose: expected choices of a known number, such as a list")
    result = listed[count - 1] + T.zeros_like(a, dtype=listed.dtype)
    for i in range(count - 1):
        result = T.where(T.eq(a, i), listed[i], result)
    return result


def reshape(x: Any, newshape: Any, ndim: int | None = None) -> Variable:
    """`x` in the shape `newshape`, of `ndim` axes if that is a vector of unknown length."""
    return as_tensor_variable(x).reshape(newshape, ndim=ndim)


def flatten(x: Any, ndim: int | None = None, outdim: int | None = None) -> Variable:
    """`x` with `ndim` axes (formerly `outdim`), of which the last one joins all others."""
    return T.flatten(as_tensor_variable(x), next((n for n in (ndim, outdim) if n is not None), 1))


def inc_subtensor(
    x: Any, y: Any, inplace: bool = False, tolerate_inplace_aliasing: bool = False
) -> Variable:
    """A copy of the variable of which `x` is a part, with `y` added to the part. Functions work in place
    where they can, so the other arguments have no effect."""
    return T.inc_subtensor(x, y)


def set_subtensor(
    x: Any, y: Any, inplace: bool = False, tolerate_inplace_aliasing: bool = False
) -> Variable:
    """As inc_subtensor(), with `y` in the place of the part."""
    return T.set_subtensor(x, y)


def inverse_permutation(perm: Any) -> Variable:
    """The permutation that undoes `perm`, a vector or rows."""
    return T.argsort(as_tensor_variable(perm), axis=-1).astype(str(perm.dtype))


def _permuted(x: Any, order: Any) -> Any:
    host = order.numpy()
    if host.ndim == 1 < x.ndim:
        host = np.broadcast_to(host, x.shape)
    return sw.asarray(np.take_along_axis(x.numpy(), host, -1))


def _unpermuted(inputs: Any, outputs: Any, slopes: Any) -> Any:
    back = T.argsort(inputs[1], axis=-1)
    return [row_permutation(slopes[0], back), DisconnectedType()()]


def row_permutation(x: Any, order: Any) -> Any:
    """Each row of `x` in the order of that of `order`."""
    return ArrayOp("PermuteRowElements", _permuted, lambda x, _: x.type, _unpermuted)(x, order)


def permute_row_elements(x: Any, y: Any, inverse: int = 0) -> Variable:
    """Each row of `x` in the order of that of `y`, or of its inverse."""
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    return row_permutation(x, inverse_permutation(y) if inverse else y)


def makeKeepDims(x: Any, y: Any, axis: Any) -> Variable:  # noqa: N802
    """`y`, a reduction of `x` over `axis`, with axes of extent 1 in place of those."""
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    gone = {_axis_of(x, a) for a in axes}
    kept = iter(range(y.ndim))
    return y.dimshuffle(*("x" if i in gone else next(kept) for i in range(x.ndim)))


def specify_shape(x: Any, shape: Any) -> Variable:
    """`x`, whose function raises AssertionError where it has another shape."""
    from .._ops import Assert

    x = as_tensor_variable(x)
    extents = [shape[i] for i in range(x.ndim)]
    conditions = [T.eq(x.shape[i], n) for i, n in enumerate(extents)]
    return Assert(f"SpecifyShape: expected the shape {tuple(map(str, extents))}")(x, *conditions)


def Rebroadcast(*axes: Any) -> Any:  # noqa: N802
    """An op for pairs (axis, whether it has extent 1 and broadcasts)."""
    return lambda x: addbroadcast(x, *(axis for axis, is_one in axes if is_one))


def shape_i(var: Any, i: int, fgraph: Any = None) -> Variable:
    """The extent of the axis `i`."""
    return as_tensor_variable(var).shape[i]


class _Grids:
    """numpy.mgrid, or numpy.ogrid, of variables."""

    def __init__(self, is_open: bool) -> None:
        self._is_open = is_open

    def __getitem__(self, slices: Any) -> list[Variable]:
        slices = slices if isinstance(slices, tuple) else (slices,)
        lines = [T.arange(s.start or 0, s.stop, 1 if s.step is None else s.step) for s in slices]
        count = len(lines)
        grids = [
            line.dimshuffle(*["x"] * i, 0, *["x"] * (count - i - 1)) for i, line in enumerate(lines)
        ]
        extents = tuple(line.shape[0] for line in lines)
        return grids if self._is_open else [grid.broadcast_to(extents) for grid in grids]


mgrid, ogrid = _Grids(False), _Grids(True)


# ---- Products and reductions ----


def dot(a: Any, b: Any) -> Variable:
    """numpy.dot, for variables of any ranks."""
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    if a.ndim <= 2 and b.ndim <= 2:
        return T.dot(a, b)
    return (
        T.tensordot(a, b, [[a.ndim - 1], [builtins.max(b.ndim - 2, 0)]])
        if a.ndim and b.ndim
        else a * b
    )


def batched_dot(a: Any, b: Any) -> Variable:
    """dot() of a[i] and b[i] for each i."""
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    if not a.ndim or not b.ndim:
        raise TypeError(f"batched_dot: expected at least one axis, got {a.type} and {b.type}")
    if builtins.max(a.ndim, b.ndim) > 3 or builtins.min(a.ndim, b.ndim) == 1:
        return batched_tensordot(
            a,
            b,
            [[a.ndim - 1], [builtins.max(1, b.ndim - 2)]]
            if builtins.min(a.ndim, b.ndim) > 1
            else 0,
        )
    rows = a if a.ndim == 3 else a.dimshuffle(0, "x", 1)
    columns = b if b.ndim == 3 else b.dimshuffle(0, 1, "x")
    product = T.batched_dot(rows, columns)
    product = product if b.ndim == 3 else product[:, :, 0]
    return product if a.ndim == 3 else product[:, 0]


def batched_tensordot(x: Any, y: Any, axes: Any = 2) -> Variable:
    """tensordot() of x[i] and y[i] for each i; `axes` count the first axis."""
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    if isinstance(axes, int):
        axes = [list(range(x.ndim - axes, x.ndim)), list(range(1, axes + 1))]
    left, right = ([a] if isinstance(a, int) else list(a) for a in axes)
    names = iter("bcdefghijklmnopqrstuvwxyz")
    x_names = ["a", *(next(names) for _ in range(x.ndim - 1))]
    y_names = ["a", *(next(names) for _ in range(y.ndim - 1))]
    for i, j in zip(left, right, strict=True):
        y_names[j] = x_names[i]
    kept = [n for i, n in enumerate(x_names) if i not in left]
    kept += [n for j, n in enumerate(y_names) if j and j not in right]
    return T.einsum(f"{''.join(x_names)},{''.join(y_names)}->{''.join(kept)}", x, y)


def max_and_argmax(a: Any, axis: Any = None, keepdims: bool = False) -> list[Variable]:
    """[max(a), argmax(a)] along `axis`, or of all elements."""
    a = as_tensor_variable(a)
    return [a.max(axis, keepdims=keepdims), T.argmax(a, axis, keepdims=keepdims)]


def norm(x: Any, ord: Any, axis: Any = None, keepdims: bool = False) -> Variable:
    """The norm (sum |x|^ord)^(1/ord) along `axis`, or of all elements; "inf" and "-inf" are the largest
    and the smallest modulus, 0 the number of elements that are not 0."""
    x = abs(as_tensor_variable(x))
    if ord == 0:
        return T.neq(x, 0).sum(axis, keepdims=keepdims)
    if str(ord) in ("inf", "-inf"):
        return (x.max if float(ord) > 0 else x.min)(axis, keepdims=keepdims)
    return (x**ord).sum(axis, keepdims=keepdims) ** (1.0 / ord)


def allclose(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Whether |a - b| <= atol + rtol * |b| for all elements."""
    return T.all(isclose(a, b, rtol, atol, equal_nan))


def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Whether |a - b| <= atol + rtol * |b|, for each element; equal infinities are close."""
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    result = T.eq(a, b) | (T.isfinite(b) & T.le(abs(a - b), atol + rtol * abs(b)))
    return result | (T.isnan(a) & T.isnan(b)) if equal_nan else result


# ---- Results whose shape depends on values ----


def _nonzero_types(x: Any) -> Any:
    return [tensor_of("int64", 1, x)] * x.ndim


def nonzero(a: Any, return_matrix: bool = False) -> Any:
    """The indices of the elements that are not 0, a vector for each axis, or the rows of a matrix."""
    a = as_tensor_variable(a)
    if a.ndim == 0:
        raise ValueError("nonzero: expected at least one axis, got a scalar")
    indices = ArrayOp("Nonzero", lambda x: tuple(sw.nonzero(x)), _nonzero_types, _no_slope)(a)
    indices = tuple(indices) if isinstance(indices, (list, tuple)) else (indices,)
    return stack(*indices) if return_matrix else indices


def _no_slope(inputs: Any, outputs: Any, slopes: Any) -> Any:
    return [T.zeros_like(x) for x in inputs]


def flatnonzero(a: Any) -> Variable:
    """The indices of the elements of the flattened `a` that are not 0."""
    return nonzero(as_tensor_variable(a).flatten())[0]


def nonzero_values(a: Any) -> Variable:
    """The elements that are not 0, in C order."""
    a = as_tensor_variable(a).flatten()
    return a[flatnonzero(a)]


def _largest(k: int, axis: int, dtype: str) -> Any:
    def compute(x: Any) -> Any:
        host = x.numpy()
        part = [slice(None)] * host.ndim
        part[axis] = slice(-k, None) if k > 0 else slice(-k)
        found = np.argpartition(host, -k if k > 0 else -k - 1, axis)[tuple(part)]
        return sw.asarray(np.take_along_axis(host, found, axis)), sw.asarray(found)

    def gradient(inputs: Any, outputs: Any, slopes: Any) -> Any:
        places = [T.arange(n).dimshuffle(*["x"] * i, 0, *["x"] * (inputs[0].ndim - i - 1))
                  for i, n in enumerate(outputs[1].shape[j] for j in range(inputs[0].ndim))]  # fmt: skip
        places[axis] = outputs[1]
        return [T.set_subtensor(T.zeros_like(inputs[0])[tuple(places)], slopes[0])]

    def types(x: Any) -> Any:
        return [tensor_of(str(x.dtype), x.ndim, x), tensor_of(dtype, x.ndim, x)]

    return ArrayOp("TopK", compute, types, gradient, (k, axis, dtype))


def topk_and_argtopk(
    x: Any, kth: int, axis: int = -1, sorted: bool = True, idx_dtype: str = "int64"
) -> list[Variable]:
    """[the `kth` largest elements along `axis`, their indices], in any order; the smallest ones for a
    negative number. `kth` is a Python integer."""
    x = as_tensor_variable(x)
    if axis is None:
        x, axis = x.flatten(), 0
    return list(_largest(int(kth), _axis_of(x, axis), idx_dtype)(x))


def topk(x: Any, kth: int, axis: int = -1, **options: Any) -> Variable:
    """The first of topk_and_argtopk()."""
    return topk_and_argtopk(x, kth, axis, **options)[0]


def argtopk(x: Any, kth: int, axis: int = -1, **options: Any) -> Variable:
    """The second of topk_and_argtopk()."""
    return topk_and_argtopk(x, kth, axis, **options)[1]


#: Theano's parameters after `axis`; those of _WITHOUT_EFFECT do not change a result of Spanwise.
_PARAMETERS = {
    "sum": ("dtype", "keepdims", "acc_dtype"),
    "prod": ("dtype", "keepdims", "acc_dtype", "no_zeros_in_input"),
    "mean": ("dtype", "op", "keepdims", "acc_dtype"),
    **dict.fromkeys(("std", "var"), ("ddof", "keepdims", "corrected")),
}
_WITHOUT_EFFECT = {"acc_dtype", "no_zeros_in_input", "op", "corrected"}


def _reduction(name: str, parameters: Sequence[str]) -> Any:
    """The function of spanwise.tensor, with `parameters` by position after the axis."""
    function = getattr(T, name)

    @functools.wraps(function)
    def reduced(input: Any, axis: Any = None, *args: Any, **options: Any) -> Variable:
        options.update(zip(parameters, args, strict=False))
        if len(args) > len(parameters):
            raise TypeError(f"{name}: expected at most {', '.join(parameters)} after the axis")
        for option in _WITHOUT_EFFECT.intersection(parameters):
            options.pop(option, None)
        axis = tuple(axis) if isinstance(axis, list) else axis
        return function(as_tensor_variable(input), axis, **options)

    return reduced


sum, prod, mean, std, var, max, min, any, all, argmax, argmin = (
    _reduction(name, _PARAMETERS.get(name, ("keepdims",))) for name in _REDUCTIONS
)


def extract_constant(x: Any, **options: Any) -> Any:
    """The value of a constant of one element, or `x` itself."""
    try:
        return get_scalar_constant_value(x)
    except NotScalarConstantError:
        return x


def get_scalar_constant_value(v: Any, *args: Any, **options: Any) -> Any:
    """The value that all elements of a constant have, a NumPy array of rank 0, also where the constant is
    broadcast or its axes are moved. Raises NotScalarConstantError, a TypeError, for others."""
    while isinstance(v, Variable) and v.owner is not None:
        if recipe_of(v.owner.op)[0] not in ("broadcast_to", "dimshuffle", "reshape"):
            break
        v = v.owner.inputs[0]
    if isinstance(v, Constant) and v.value.size > 0:
        host = v.value.numpy()
        if (host == host.flat[0]).all():
            return np.asarray(host.flat[0])
    if isinstance(v, (int, float, np.number)):
        return np.asarray(v)
    raise NotScalarConstantError(
        f"get_scalar_constant_value: expected a constant whose elements are equal, got {v}"
    )
