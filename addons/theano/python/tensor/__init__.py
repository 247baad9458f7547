# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor``: constructors and operations, those of spanwise.tensor and those below."""

from __future__ import annotations

from typing import Any

import spanwise.tensor as _tensor
from spanwise.graph import (
    Constant as TensorConstant,
    TensorType as _TensorType,
    Variable as TensorVariable,
)
from spanwise.tensor import *  # noqa: F403

from .._function import shared
from .._namespace import hessian, jacobian
from .._old_paths import submodules as _submodules
from .._ops import Alloc, CAReduce, DimShuffle, Dot, Elemwise, Subtensor
from . import (
    basic as basic,
    extra_ops as extra_ops,
    nlinalg as nlinalg,
    nnet as nnet,
    slinalg as slinalg,
)
from .basic import *  # noqa: F403
from .extra_ops import (
    bartlett,
    bincount,
    compress,
    diff,
    fill_diagonal,
    ravel_multi_index,
    searchsorted,
    unravel_index,
)

_MODULES = ("opt", "raw_random", "shared_randomstreams", "signal")  # imported on first use
_submodule = _submodules("tensor")
del RandomStreams  # noqa: F821  (that of spanwise.tensor; Theano's needs NumPy's, which takes long to import)


def __getattr__(name: str) -> object:
    if name == "RandomStreams":
        from .._streams import RandomStreams

        return RandomStreams
    return _submodule(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, "RandomStreams"})


from .._namespace import grad as grad  # noqa: E402  (after those of spanwise.tensor)

# Constructors of one dtype are types in Theano: T.dmatrix("x").type == T.dmatrix.
globals().update(
    (name, globals()[name]().type)
    for letter in "bwilfdcz"
    for name in (
        letter + shape
        for shape in ("scalar", "vector", "matrix", "row", "col", "tensor3", "tensor4", "tensor5")
    )
)

Variable = TensorVariable
_shared = shared  # which scripts use, though it is private
as_tensor = basic.as_tensor_variable

__all__ = [
    *{*vars(_tensor)["__all__"], *basic.__all__}, "Variable", "hessian", "jacobian", "Alloc", "CAReduce", "DimShuffle", "Dot", "Elemwise", "Subtensor",
    "TensorConstant", "TensorType", "TensorVariable", "as_tensor", "bartlett", "basic", "bincount", "compress", "diff",
    "extra_ops", "fill_diagonal", "nlinalg", "nnet", "ravel_multi_index", "searchsorted", "shared", "slinalg",
    "unravel_index", *_MODULES,
]  # fmt: skip


def TensorType(dtype: Any, broadcastable: Any, name: Any = None) -> Any:  # noqa: N802
    """The type of variables of `dtype`; an axis that is broadcastable has extent 1."""
    return _TensorType(dtype, broadcastable)
