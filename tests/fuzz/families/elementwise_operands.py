# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Operands of random elementwise operations."""

import math

import numpy as np

import spanwise as sw

from ..values import (
    ALL,
    BFLOAT16,
    FEW,
)

_NUMPYS = {
    name
    for name in dir(sw)
    if isinstance(getattr(sw, name), sw.ufunc) and hasattr(np, name) and not name.startswith("_")
}

_ALIASES = {name for name in _NUMPYS if getattr(sw, name).__name__ != name}

UNARY = sorted(n for n in _NUMPYS - _ALIASES if getattr(sw, n).nin == 1)

BINARY = sorted(n for n in _NUMPYS - _ALIASES if getattr(sw, n).nin == 2)

#: Elementwise functions that NumPy does not have.
OTHERS = ("erf", "sigmoid", "softplus")

_SCALARS = (
    0,
    1,
    2,
    3,
    -1,
    -2,
    7,
    100,
    True,
    False,
    0.5,
    -1.5,
    2.0,
    1e-3,
    3.25,
    1e30,
    math.inf,
    math.nan,
    1 + 2j,
    -0.5j,
)


def random_dtypes(context, count):
    first = context.pick(ALL if context.is_cpu else FEW)
    if count == 1:
        return [first]
    if first == BFLOAT16 or context.chance(0.6) or not context.is_cpu:
        return [first] * count
    second = context.pick(ALL)
    return [first, first if second == BFLOAT16 else second]


def operands(context, name, shape):
    """Arrays, one of them of the full shape, or an array and a Python number."""
    count = getattr(sw, name).nin
    dtypes = random_dtypes(context, count)
    kind = (
        "whole" if name in ("power", "left_shift", "right_shift") and context.chance(0.5) else "any"
    )
    if count == 2 and context.chance(0.12):
        number = context.pick(_SCALARS)
        context.note(number=number)
        array = context.array(dtypes[0], shape, kind)
        return [array, number] if context.chance(0.6) else [number, array]
    if count == 2 and context.chance(0.08):
        return [context.array(dtypes[0], shape, kind)] * 2
    full = int(context.r.random() * count)
    return [
        context.array(d, shape if i == full else context.broadcastable(shape), kind)
        for i, d in enumerate(dtypes)
    ]


def one_side(values, side):
    """The arrays of one `side`, "ours" or "theirs", of operands; numbers are the same on both."""
    return [getattr(v, side) if hasattr(v, side) else v for v in values]
