# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of variables that Theano has and NumPy has under other names."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._core import Variable, concatenate

__all__ = [
    "as_variable", "cast", "constant", "dimshuffle", "flatten", "join", "ones_like", "shape",
    "zeros_like",
]  # fmt: skip


def as_variable(value: Any, name: str | None = None) -> Variable:
    """`value` itself if it is a Variable, else a Constant with a copy of it: an array of any
    library, a number or nested lists."""
    return _core._as_variable(value, name)


def constant(value: Any, name: str | None = None, dtype: Any = None) -> Variable:
    """A constant with a copy of `value` (an array of any library, a number or nested lists), cast
    to `dtype` if given."""
    if dtype is None:
        return as_variable(value, name)
    return as_variable(_core.array(value, dtype=dtype), name)


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
    return number.broadcast_to(tuple(like.shape[axis] for axis in range(like.ndim)))
