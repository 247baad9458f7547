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

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _core
from ._core import (
    TensorType,
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
from ._graph.constructors import named_constructors, tensor
from ._graph.einsum import einsum
from ._graph.functions import (
    as_variable,
    cast,
    constant,
    dimshuffle,
    flatten,
    join,
    ones_like,
    shape,
    zeros_like,
)
from ._graph.gradient import Lop, Rop, consider_constant, disconnected_grad, grad, zero_grad
from ._graph.matrices import (
    arange,
    batched_dot,
    diag,
    diagonal,
    eye,
    identity_like,
    ifelse,
    outer,
    repeat,
    shape_padleft,
    shape_padright,
    tensordot,
    tile,
    trace,
    tril,
    triu,
)
from ._graph.random_streams import RandomStreams
from ._graph.sorting import argsort, sort
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
from .graph import contiguous

as_tensor_variable = as_variable

__all__ = [
    "Lop",
    "RandomStreams",
    "Rop",
    "TensorType",
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "as_tensor_variable",
    "as_variable",
    "astype",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "batched_dot",
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
    "diag",
    "diagonal",
    "dimshuffle",
    "disconnected_grad",
    "divmod",
    "dot",
    "dstack",
    "einsum",
    "expand_dims",
    "eye",
    "flatten",
    "flip",
    "grad",
    "hstack",
    "identity_like",
    "ifelse",
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
    "outer",
    "prod",
    "ptp",
    "ravel",
    "repeat",
    "reshape",
    "rot90",
    "round",
    "set_subtensor",
    "shape",
    "shape_padleft",
    "shape_padright",
    "softmax",
    "sort",
    "squeeze",
    "stack",
    "std",
    "sum",
    "swapaxes",
    "take",
    "tensor",
    "tensordot",
    "tile",
    "trace",
    "transpose",
    "tril",
    "triu",
    "var",
    "verify_grad",
    "vstack",
    "where",
    "zero_grad",
    "zeros_like",
]


if TYPE_CHECKING:  # fmatrix, ivectors, ...: made by named_constructors()

    def __getattr__(name: str) -> Callable[..., Any]: ...


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


globals().update(named_constructors())
__all__.extend(named_constructors())
_add_operations()
