# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of ``theano.tensor`` that spanwise.tensor does not have."""

from __future__ import annotations

from typing import Any

import spanwise.tensor as T  # noqa: N812
from spanwise.graph import Variable

from .._config import config
from . import nlinalg as nlinalg  # an attribute of theano.tensor


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
