# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor.basic``: the names of theano.tensor, and classes of ops."""

from typing import Any

import numpy as np

import spanwise.tensor as T  # noqa: N812
from spanwise.graph import Variable
from spanwise.tensor import *  # noqa: F403

from .._config import config
from .._ops import Alloc as Alloc, Dot as Dot, Join as Join, Reshape as Reshape
from . import nlinalg as nlinalg  # an attribute of theano.tensor


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
    return T.as_variable(value).broadcast_to(shape)


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
    a = T.as_variable(a)
    return T.as_variable(b).broadcast_to(a.shape) if a.ndim else T.as_variable(b)
