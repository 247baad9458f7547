# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Elementwise operations: all of the table, operands of any dtypes and layouts, out= and where=."""

import math
import operator

import numpy as np

import spanwise as sw

from ..compare import Tolerance
from ..values import (
    ALL,
    BFLOAT16,
    BOOL,
    COMPLEX,
    FEW,
    FLOATS,
    INTEGERS,
    cast,
    is_complex,
    is_inexact,
)
from .elementwise_operands import BINARY, OTHERS, UNARY, operands, random_dtypes
from .elementwise_reference import (
    COMPLEX_ULPS,
    REFERENCES,
    reference_of,
    smallest_normal,
    tolerance_of,
)


def _of(values, side):
    return [getattr(v, side) if hasattr(v, side) else v for v in values]


def _is_left_out(context, name, values):
    """Cases in which NumPy's own result is ambiguous."""
    arrays = [v for v in values if isinstance(v, np.ndarray)]
    if name == "angle":
        return arrays[0].dtype == bool  # np.angle is no ufunc and returns float64 for bool only
    is_array = arrays[-1] is values[-1] or arrays[0].dtype == BFLOAT16
    if name == "power" and is_array and not any(map(np.iscomplexobj, values)):
        # NumPy's power(x, 0.5) of float32 and float64 is sqrt(x), which differs at -inf and -0.0,
        # where the exponent has stride 0.
        base, exponent = map(np.asarray, values)
        is_end = (base == 0) | np.isinf(base)
        return bool(np.any((exponent == 0.5) & is_end & (base <= 0)))
    if any(a.dtype == BFLOAT16 for a in arrays):
        return name in ("nextafter", "spacing") or any(isinstance(v, complex) for v in values)
    return False


def case(context):
    u = context.r.random()
    if u < 0.04:
        _where(context)
    elif u < 0.08:
        _clip(context)
    elif u < 0.11:
        _divmod(context)
    elif u < 0.12:
        _round(context)
    elif u < 0.16:
        _in_place(context)
    else:
        _ufunc(context)


def _ufunc(context):
    u = context.r.random()
    name = (
        context.pick(UNARY)
        if u < 0.42
        else context.pick(OTHERS)
        if u < 0.45
        else context.pick(BINARY)
    )
    shape = context.shape()
    context.name = name
    values = operands(context, name, shape) if u < 0.7 or u > 0.82 else None
    if values is None:
        _overlap(context, name, shape)
        return
    theirs, ours = _of(values, "theirs"), _of(values, "ours")
    if _is_left_out(context, name, theirs):
        return
    reference, function = reference_of(name, theirs), getattr(sw, name)
    try:
        expected = reference(*theirs)
    except Exception:
        context.check(name, lambda: function(*ours), lambda: reference(*theirs))
        return
    expected = np.asarray(expected)
    dtype = expected.dtype
    tolerance = tolerance_of(context, name, theirs, dtype)
    if context.chance(0.55):
        context.check(name, lambda: function(*ours), lambda: expected, tolerance)
        return
    if context.chance(0.1) and context.is_cpu:
        _with_dtype(context, name, (function, ours, theirs))
        return
    _with_out(context, name, (function, ours, theirs, expected, tolerance))


def _with_dtype(context, name, call):
    """Checks dtype= and order= of the result."""
    function, ours, theirs = call
    dtype, order = context.pick((*FLOATS[1:], *COMPLEX)), context.pick("KCFA")
    if name in ("angle", "absolute", *REFERENCES) or any(
        getattr(v, "dtype", None) == BFLOAT16 for v in theirs
    ):
        return
    context.note(dtype=dtype.name, order=order)
    reference = reference_of(name, theirs)
    try:
        expected = reference(*theirs, dtype=dtype, order=order)
    except Exception:
        options = {"dtype": dtype, "order": order}
        context.check(
            name, lambda: function(*ours, **options), lambda: reference(*theirs, **options)
        )
        return
    tolerance = tolerance_of(context, name, theirs, expected.dtype)
    context.check(
        name, lambda: function(*ours, dtype=dtype, order=order), lambda: expected, tolerance
    )


def _with_out(context, name, call):
    function, ours, theirs, expected, tolerance = call
    dtype = expected.dtype
    into = dtype
    if context.is_cpu and context.chance(0.25):
        into = context.pick(ALL)
        context.note(into=into.name)
        if not sw.can_cast(dtype, into, "same_kind"):
            out = context.target(into, expected.shape)
            context.check(name, lambda: function(*ours, out=out.ours), _refuse)
            return
        if into != dtype and is_inexact(into) and is_inexact(dtype):
            if dtype.itemsize == 2 and name != "nextafter":
                if not all(isinstance(v, np.ndarray) for v in theirs):
                    return  # numbers would have another dtype
                # What is computed in float32 is rounded once, to the dtype of out.
                wide = [v.astype(np.float32) if isinstance(v, np.ndarray) else v for v in theirs]
                expected = np.asarray(reference_of(name, wide)(*wide))
                tolerance = tolerance_of(context, name, wide, expected.dtype)
            tolerance = _tolerance_after_cast(tolerance, expected, into)
    out = context.target(into, expected.shape, tolerance)
    options = {}
    mask = True
    if context.chance(0.4):
        where = context.array(BOOL, context.broadcastable(expected.shape))
        options["where"], mask = where.ours, where.theirs
    context.check(
        name,
        lambda: function(*ours, out=out.ours, **options),
        lambda: np.copyto(out.theirs, cast(expected, into), where=mask),
        tolerance,
        out=out,
    )


def _refuse():
    raise TypeError("out cannot take the result")


def _tolerance_after_cast(tolerance, expected, into):
    """The tolerance of a result that is then converted to the dtype `into`."""
    if is_complex(expected.dtype) or tolerance.ulps:
        part = np.dtype(f"f{into.itemsize // 2}") if is_complex(into) else into
        eps = float(2.0**-7 if into == BFLOAT16 else np.finfo(part).eps)
        of = float(2.0**-7 if expected.dtype == BFLOAT16 else np.finfo(expected.dtype).eps)
        # All subnormal numbers have the unit in the last place of the smallest normal number.
        unit = (
            of * smallest_normal(np.finfo(expected.dtype).dtype)
            if expected.dtype != BFLOAT16
            else 0
        )
        wide = np.abs(np.nan_to_num(expected.astype("complex128")))
        absolute = tolerance.ulps * (of * wide + unit) + eps * wide + smallest_normal(part)
        return Tolerance(
            1,
            tolerance.exact,
            absolute,
            signed_zeros=False,
            nonfinite_in_either_part=tolerance.nonfinite_in_either_part,
        )
    return tolerance


def _overlap(context, name, shape):
    """The result overlaps an operand in part."""
    dtype = context.pick((*FLOATS, *COMPLEX, *INTEGERS) if context.is_cpu else FEW)
    source, target = context.overlapping(dtype, shape)
    function = getattr(sw, name)
    values = [source] * function.nin
    if function.nin == 2 and context.chance(0.6):
        values[context.pick((0, 1))] = context.array(dtype, context.broadcastable(shape))
    theirs, ours = _of(values, "theirs"), _of(values, "ours")
    if _is_left_out(context, name, theirs):
        return
    try:
        expected = np.asarray(reference_of(name, theirs)(*theirs))
    except Exception:
        return
    if not np.can_cast(expected.dtype, dtype, "same_kind"):
        return
    kept = [np.array(v) if isinstance(v, np.ndarray) else v for v in theirs]
    tolerance = tolerance_of(context, name, kept, expected.dtype)
    if expected.dtype != dtype:
        tolerance = (
            _tolerance_after_cast(tolerance, expected, dtype)
            if is_inexact(expected.dtype)
            else tolerance
        )
    source.memory.written[:] = [(target, tolerance)]
    context.check(
        name,
        lambda: function(*ours, out=target.ours),
        lambda: np.copyto(target.theirs, expected, casting="same_kind"),
        tolerance,
        out=target,
    )


def _where(context):
    shape = context.shape()
    condition = context.array(BOOL, shape)
    dtypes = random_dtypes(context, 2)
    values = [context.array(d, context.broadcastable(shape)) for d in dtypes]
    if dtypes[0] != BFLOAT16 and context.chance(0.2):
        # NumPy's `where` wraps a number that is out of range around; Spanwise raises, as NumPy does in
        # other functions.
        values[1] = context.pick((0, 1, 2, 7, True, 0.5, 2.0, math.inf, 1 + 2j))
        context.note(number=values[1])
    ours, theirs = _of(values, "ours"), _of(values, "theirs")
    context.check(
        "where",
        lambda: sw.where(condition.ours, *ours),
        lambda: np.where(condition.theirs, *theirs),
    )


def _clip(context):
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
        of = _of(values, side)
        sides.append([of[0], *(None if i is None else of[i] for i in limits)])
    tolerance = Tolerance(signed_zeros=False, nonfinite_in_either_part=is_complex(dtype))
    context.check("clip", lambda: sw.clip(*sides[0]), lambda: np.clip(*sides[1]), tolerance)


def _divmod(context):
    shape = context.shape()
    dtypes = random_dtypes(context, 2)
    if BFLOAT16 in dtypes:
        dtypes = [FLOATS[1]] * 2
    values = [
        context.array(dtypes[0], shape),
        context.array(dtypes[1], context.broadcastable(shape)),
    ]
    ours, theirs = _of(values, "ours"), _of(values, "theirs")
    context.check("divmod", lambda: sw.divmod(*ours), lambda: np.divmod(*theirs))


def _round(context):
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


def _in_place(context):
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
