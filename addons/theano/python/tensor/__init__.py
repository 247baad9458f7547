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
from .._ops import Alloc, CAReduce, DimShuffle, Dot, Elemwise, Subtensor
from . import nnet as nnet, shared_randomstreams as shared_randomstreams
from .basic import alloc, fill, ones, zeros
from .shared_randomstreams import RandomStreams as RandomStreams

as_tensor = as_tensor_variable = _tensor.as_tensor_variable

__all__ = [
    *_tensor.__all__, "hessian", "jacobian", "Alloc", "CAReduce", "DimShuffle", "Dot", "Elemwise", "Subtensor",
    "TensorConstant", "TensorType", "TensorVariable", "alloc", "as_tensor", "fill", "nnet", "ones", "shared",
    "shared_randomstreams", "zeros",
]  # fmt: skip


def TensorType(dtype: Any, broadcastable: Any, name: Any = None) -> Any:  # noqa: N802
    """The type of variables of `dtype`; an axis that is broadcastable has extent 1."""
    return _TensorType(dtype, broadcastable)
