# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Elementwise operations: all of the table, operands of any dtypes and layouts, out= and where=."""

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
from . import elementwise_functions
from .elementwise_operands import BINARY, OTHERS, UNARY, one_side, operands
from .elementwise_reference import (
    REFERENCES,
    reference_of,
    smallest_normal,
    tolerance_of,
)


def _is_left_out(context, name, values):
    """Whether NumPy's own result is ambiguous for these operands."""
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
        elementwise_functions.check_where(context)
    elif u < 0.08:
        elementwise_functions.check_clip(context)
    elif u < 0.11:
        elementwise_functions.check_divmod(context)
    elif u < 0.12:
        elementwise_functions.check_round(context)
    elif u < 0.16:
        elementwise_functions.check_in_place(context)
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
    theirs, ours = one_side(values, "theirs"), one_side(values, "ours")
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
            context.check(name, lambda: function(*ours, out=out.ours), _raise_type_error)
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


def _raise_type_error():
    raise TypeError("out cannot take the result")


def _tolerance_after_cast(tolerance, expected, into):
    """The tolerance of a result that is then converted to the dtype `into`."""
    if is_complex(expected.dtype) or tolerance.ulps:
        part = np.dtype(f"f{into.itemsize // 2}") if is_complex(into) else into
        eps = float(2.0**-7 if into == BFLOAT16 else np.finfo(part).eps)
        own_eps = float(2.0**-7 if expected.dtype == BFLOAT16 else np.finfo(expected.dtype).eps)
        # All subnormal numbers have the unit in the last place of the smallest normal number.
        unit = (
            own_eps * smallest_normal(np.finfo(expected.dtype).dtype)
            if expected.dtype != BFLOAT16
            else 0
        )
        wide = np.abs(np.nan_to_num(expected.astype("complex128")))
        absolute = tolerance.ulps * (own_eps * wide + unit) + eps * wide + smallest_normal(part)
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
    theirs, ours = one_side(values, "theirs"), one_side(values, "ours")
    if _is_left_out(context, name, theirs):
        return
    try:
        expected = np.asarray(reference_of(name, theirs)(*theirs))
    except Exception:
        return
    if not np.can_cast(expected.dtype, dtype, "same_kind"):
        return
    # Of copies, since the call overwrites operands before the tolerance is computed.
    copies = [np.array(v) if isinstance(v, np.ndarray) else v for v in theirs]
    tolerance = tolerance_of(context, name, copies, expected.dtype)
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
