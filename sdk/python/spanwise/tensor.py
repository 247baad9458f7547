# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Constructors of variables (usual alias ``T``): ``T.fmatrix("x")``, ``T.tensor("float32", (None,
3))``.

``scalar``, ``vector``, ``row``, ``col``, ``matrix``, ``tensor3``, ``tensor4`` and ``tensor5`` make
a variable of dtype ``sw.config.floatX``. A prefix chooses another dtype, as in Theano: b, w, i, l
are int8 to int64, f and d float32 and float64, c and z complex64 and complex128. The plural forms
(``vectors``, ``matrices``, ...) take several names or a count, and return a list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import _core
from ._config import config
from ._core import (
    TensorType,
    Variable,
    all,
    any,
    argmax,
    argmin,
    broadcast_to,
    concatenate,
    count_nonzero,
    cumprod,
    cumsum,
    dot,
    matmul,
    max,
    mean,
    min,
    nansum,
    prod,
    ptp,
    reshape,
    stack,
    std,
    sum,
    take,
    var,
)
from ._graph.gradient import Lop, Rop, consider_constant, disconnected_grad, grad, zero_grad
from ._graph.subtensor import inc_subtensor, set_subtensor
from ._graph.verify_grad import verify_grad
from ._numpy.dtypes import astype
from ._numpy.elementwise import clip, divmod, round, where
from ._numpy.join import column_stack, dstack, hstack, vstack
from ._numpy.shape import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    expand_dims,
    flip,
    matrix_transpose,
    moveaxis,
    ravel,
    rot90,
    squeeze,
    swapaxes,
    transpose,
)
from ._numpy.softmax import log_softmax, softmax
from .graph import as_variable, contiguous

as_tensor_variable = as_variable

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

__all__ = [
    "Lop",
    "Rop",
    "all",
    "any",
    "argmax",
    "argmin",
    "as_tensor_variable",
    "as_variable",
    "astype",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_to",
    "cast",
    "clip",
    "column_stack",
    "concatenate",
    "consider_constant",
    "constant",
    "contiguous",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "dimshuffle",
    "disconnected_grad",
    "divmod",
    "dot",
    "dstack",
    "expand_dims",
    "flatten",
    "flip",
    "grad",
    "hstack",
    "inc_subtensor",
    "join",
    "log_softmax",
    "matmul",
    "matrix_transpose",
    "max",
    "mean",
    "min",
    "moveaxis",
    "nansum",
    "ones_like",
    "prod",
    "ptp",
    "ravel",
    "reshape",
    "rot90",
    "round",
    "set_subtensor",
    "shape",
    "softmax",
    "squeeze",
    "stack",
    "std",
    "sum",
    "swapaxes",
    "take",
    "tensor",
    "transpose",
    "var",
    "verify_grad",
    "vstack",
    "where",
    "zero_grad",
    "zeros_like",
]


def tensor(
    dtype: Any,
    shape: Sequence[int | None] = (),
    name: str | None = None,
    device: Any = None,
    *,
    broadcastable: Sequence[bool] | None = None,
) -> Variable:
    """A variable. An extent of None in `shape` is not fixed. `broadcastable` is Theano's form of
    the shape: True is extent 1, False is None; it replaces `shape`."""
    return TensorType(dtype, shape if broadcastable is None else broadcastable, device)(name)


def constant(value: Any, name: str | None = None, dtype: Any = None) -> Variable:
    """A constant with a copy of `value` (an array of any library, a number or nested lists), cast
    to `dtype` if given."""
    if dtype is None:
        return as_variable(value, name)
    from ._core import array

    return as_variable(array(value, dtype=dtype), name)


def cast(x: object, dtype: object) -> Variable:
    """`x` cast to `dtype`: Theano's name for astype."""
    return as_variable(x).astype(dtype)


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
    return number.broadcast_to(like.shape) if like.ndim else number


def _constructor(
    kind: str, shape: tuple[int | None, ...], default: str | None
) -> Callable[..., Variable]:
    def make(name: str | None = None, dtype: Any = None) -> Variable:
        return TensorType(dtype or default or config.floatX, shape)(name)

    make.__name__ = make.__qualname__ = kind
    make.__doc__ = f"A {kind} of dtype {default or 'sw.config.floatX'}, or of `dtype`."
    return make


def _plural(kind: str) -> str:
    return kind[:-2] + "ices" if kind.endswith("ix") else kind + "s"


def _several(kind: str, make: Callable[..., Variable]) -> Callable[..., list[Variable]]:
    def make_several(*names: Any, dtype: Any = None) -> list[Variable]:
        if len(names) == 1 and isinstance(names[0], int):
            return [make(None, dtype) for _ in range(names[0])]
        return [make(name, dtype) for name in names]

    make_several.__name__ = make_several.__qualname__ = _plural(kind)
    make_several.__doc__ = f"One {kind} for each name, or as many as the integer says."
    return make_several


if TYPE_CHECKING:  # fmatrix, ivectors, ...: made by _add_constructors()

    def __getattr__(name: str) -> Callable[..., Any]: ...


def _add_constructors() -> None:
    for letter, dtype in _DTYPES.items():
        for shape_name, shape in _SHAPES.items():
            kind = letter + shape_name
            make = _constructor(kind, shape, dtype)
            globals()[kind] = make
            globals()[_plural(kind)] = _several(kind, make)
            __all__.extend((kind, _plural(kind)))


# Theano's name -> NumPy's name of the same operation.
_THEANO = {
    "neg": "negative",
    "sub": "subtract",
    "mul": "multiply",
    "true_div": "divide",
    "int_div": "floor_divide",
    "sqr": "square",
    "sgn": "sign",
    "inv": "reciprocal",
    "eq": "equal",
    "neq": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "and_": "bitwise_and",
    "or_": "bitwise_or",
    "xor": "bitwise_xor",
    "switch": "_where",
    "abs_": "absolute",
}


def _add_operations() -> None:
    """Adds T.exp and all other ufuncs: the objects of ``sw``, which take variables too."""
    for name, value in vars(_core).items():
        if isinstance(value, _core.ufunc) and not name.startswith("_"):
            globals()[name] = value
            __all__.append(name)
    for name, ours in _THEANO.items():
        globals()[name] = getattr(_core, ours)
        __all__.append(name)


_add_constructors()
_add_operations()
