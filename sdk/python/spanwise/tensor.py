# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Constructors of variables (usual alias ``T``): ``T.fmatrix("x")``, ``T.tensor("float32", (None,
3))``.

``scalar``, ``vector``, ``row``, ``col``, ``matrix``, ``tensor3``, ``tensor4`` and ``tensor5`` make
a variable of dtype ``sw.config.floatX``. A prefix chooses another dtype, as in Theano: b, w, i, l
are int8 to int64, f and d float32 and float64, c and z complex64 and complex128. The plural forms
(``vectors``, ``matrices``, ...) take several names or a count, and return a list.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from . import _core
from ._core import (
    TensorType as TensorType,
    all as all,
    any as any,
    argmax as argmax,
    argmin as argmin,
    broadcast_to as broadcast_to,
    concatenate as concatenate,
    count_nonzero as count_nonzero,
    cumprod as cumprod,
    cumsum as cumsum,
    dot as dot,
    matmul as matmul,
    max as max,
    mean as mean,
    min as min,
    nansum as nansum,
    prod as prod,
    ptp as ptp,
    reshape as reshape,
    stack as stack,
    std as std,
    sum as sum,
    take as take,
    var as var,
)
from ._names import explain_call as _explain_call
from ._numpy.array_api import astype as astype
from ._numpy.elementwise import (
    clip as clip,
    divmod as divmod,
    log_softmax as log_softmax,
    round as round,
    softmax as softmax,
    where as where,
)
from ._numpy.join import (
    column_stack as column_stack,
    dstack as dstack,
    hstack as hstack,
    vstack as vstack,
)
from ._numpy.shape import (
    atleast_1d as atleast_1d,
    atleast_2d as atleast_2d,
    atleast_3d as atleast_3d,
    expand_dims as expand_dims,
    flip as flip,
    matrix_transpose as matrix_transpose,
    moveaxis as moveaxis,
    ravel as ravel,
    rot90 as rot90,
    squeeze as squeeze,
    swapaxes as swapaxes,
    transpose as transpose,
)
from .graph._gradient import *  # noqa: F403
from .graph._gradient import verify_grad as verify_grad
from .graph._random_streams import RandomStreams as RandomStreams
from .graph._tensor import *  # noqa: F403
from .graph._tensor import named_constructors as _named_constructors

as_tensor_variable = as_variable  # noqa: F405


if _TYPE_CHECKING:  # fmatrix, ivectors, ...: made by named_constructors()
    from collections.abc import Callable
    from typing import Any

    def __getattr__(name: str) -> Callable[..., Any]: ...


# Theano's name -> NumPy's name of the same operation.
_NUMPY_NAMES = {
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
    for name, numpy_name in _NUMPY_NAMES.items():
        globals()[name] = getattr(_core, numpy_name)


globals().update(_named_constructors())
_add_operations()
_explain_call(__name__, "sw.asarray(x) makes an array, sw.tensor.tensor(dtype) a variable")
__all__ = [name for name in globals() if not name.startswith("_")]
