# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of ``theano.tensor`` that spanwise.tensor does not have."""

from __future__ import annotations

from typing import Any

import numpy as np

import spanwise.tensor as T  # noqa: N812
from spanwise.graph import Variable

from .._config import config


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


def eye(n: int, m: int | None = None, k: int = 0, dtype: Any = None) -> Variable:
    """A constant with ones on diagonal `k`, for extents that are numbers."""
    return T.constant(np.eye(n, m, k, dtype=dtype or config.floatX))


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Variable:
    """start, start + step, ... below `stop`: integers that may be variables, or numbers."""
    start, stop = (0, start) if stop is None else (start, stop)
    if not any(isinstance(x, Variable) for x in (start, stop, step)):
        return T.constant(np.arange(start, stop, step, dtype))
    count = T.maximum(-((T.as_variable(start) - stop) // step), 0)
    numbers = T.cumsum(alloc(T.constant(1, dtype="int64"), count), axis=0) - 1
    made = numbers * step + start
    return made if dtype is None else made.astype(dtype)


def outer(x: Any, y: Any) -> Variable:
    """The products of each element of the vector `x` with each of `y`."""
    return T.as_variable(x).dimshuffle(0, "x") * T.as_variable(y).dimshuffle("x", 0)


def batched_dot(a: Any, b: Any) -> Variable:
    """The matrix products of corresponding matrices."""
    return T.matmul(T.as_variable(a), T.as_variable(b))
