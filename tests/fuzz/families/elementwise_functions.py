# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Elementwise functions that are not ufuncs, and in-place operators."""

import math
import operator

import numpy as np

import spanwise as sw

from ..compare import Tolerance
from ..values import ALL, BFLOAT16, BOOL, FEW, FLOATS, INTEGERS, is_complex, is_inexact
from .elementwise_operands import one_side, random_dtypes
from .elementwise_reference import COMPLEX_ULPS, smallest_normal


def check_where(context):
    shape = context.shape()
    condition = context.array(BOOL, shape)
    dtypes = random_dtypes(context, 2)
    values = [context.array(d, context.broadcastable(shape)) for d in dtypes]
    if dtypes[0] != BFLOAT16 and context.chance(0.2):
        # NumPy's `where` wraps a number that is out of range around; Spanwise raises, as NumPy does in
        # other functions.
        values[1] = context.pick((0, 1, 2, 7, True, 0.5, 2.0, math.inf, 1 + 2j))
        context.note(number=values[1])
    ours, theirs = one_side(values, "ours"), one_side(values, "theirs")
    context.check(
        "where",
        lambda: sw.where(condition.ours, *ours),
        lambda: np.where(condition.theirs, *theirs),
    )


def check_clip(context):
    shape = context.shape()
    dtype = context.pick(ALL[:-1] if context.is_cpu else FEW)
    # NumPy ignores complex limits in which only the imaginary part is NaN.
    kind = "mild" if is_complex(dtype) else "any"
    values = [
        context.array(dtype, shape),
        *(context.array(dtype, context.broadcastable(shape), kind) for _ in "ab"),
    ]
    limits = context.pick(((1, 2), (1, None), (None, 2)))
    context.note(limits=limits)
    sides = []
    for side in ("ours", "theirs"):
        of = one_side(values, side)
        sides.append([of[0], *(None if i is None else of[i] for i in limits)])
    tolerance = Tolerance(signed_zeros=False, nonfinite_in_either_part=is_complex(dtype))
    context.check("clip", lambda: sw.clip(*sides[0]), lambda: np.clip(*sides[1]), tolerance)


def check_divmod(context):
    shape = context.shape()
    dtypes = random_dtypes(context, 2)
    if BFLOAT16 in dtypes:
        dtypes = [FLOATS[1]] * 2
    values = [
        context.array(dtypes[0], shape),
        context.array(dtypes[1], context.broadcastable(shape)),
    ]
    ours, theirs = one_side(values, "ours"), one_side(values, "theirs")
    context.check("divmod", lambda: sw.divmod(*ours), lambda: np.divmod(*theirs))


def check_round(context):
    """np.round of numbers small enough to have decimal places."""
    dtype = context.pick((*FLOATS[1:], *INTEGERS) if context.is_cpu else FEW[:2])
    array = context.array(dtype, context.shape(), "mild")
    decimals = context.pick((0, 1, 2, -1))
    context.note(decimals=decimals)
    tolerance = Tolerance(1, None)
    context.check(
        "round",
        lambda: sw.round(array.ours, decimals),
        lambda: np.round(array.theirs, decimals),
        tolerance,
    )


_OPERATORS = ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "iand", "ior", "ixor")


def check_in_place(context):
    dtypes = random_dtypes(context, 2)
    if BFLOAT16 in dtypes:
        dtypes = [FLOATS[1]] * 2
    name = context.pick(_OPERATORS)
    function = getattr(operator, name)
    shape = context.shape()
    # Spanwise rounds a float16 result in a wider array once, NumPy twice.
    narrow = np.result_type(*dtypes) != dtypes[0] and is_inexact(dtypes[0])
    if narrow or np.dtype("float16") in dtypes:
        dtypes = [dtypes[0]] * 2
    tolerance = Tolerance()
    if is_complex(dtypes[0]):
        tolerance = Tolerance(
            COMPLEX_ULPS["cuda"],
            absolute=smallest_normal(dtypes[0]),
            signed_zeros=False,
            nonfinite_in_either_part=True,
        )
    target = context.target(dtypes[0], shape, tolerance)
    value = context.array(dtypes[1], context.broadcastable(shape))
    context.check(
        name,
        lambda: function(target.ours, value.ours),
        lambda: function(target.theirs, value.theirs),
        out=target,
    )
