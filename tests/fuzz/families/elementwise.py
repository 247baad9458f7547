# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Elementwise operations: all of the table, operands of any dtypes and layouts, out= and where=."""

import math
import operator

import numpy as np

import spanwise as sw

from ..compare import UNSIGNED_ZEROS, Close, wide_dtype
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

_NUMPYS = {
    name
    for name in dir(sw)
    if isinstance(getattr(sw, name), sw.ufunc) and hasattr(np, name) and not name.startswith("_")
}
_ALIASES = {name for name in _NUMPYS if getattr(sw, name).__name__ != name}
UNARY = sorted(n for n in _NUMPYS - _ALIASES if getattr(sw, n).nin == 1)
BINARY = sorted(n for n in _NUMPYS - _ALIASES if getattr(sw, n).nin == 2)
_OTHERS = ("erf", "sigmoid", "softplus")

# Errors in units in the last place, as docs/concepts/elementwise.md says; what is not here is exact.
ULPS = {
    **dict.fromkeys(["exp", "exp2"], 3),
    **dict.fromkeys(["expm1", "log", "log2", "log10", "log1p", "cbrt", "erf"], 4),
    **dict.fromkeys(["sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "angle"], 4),
    **dict.fromkeys(["sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh"], 4),
    **dict.fromkeys(["power", "float_power", "hypot", "logaddexp", "logaddexp2"], 4),
    **dict.fromkeys(["sigmoid", "softplus"], 5),
    **dict.fromkeys(["deg2rad", "rad2deg"], 1),
}
# Of +0 and -0 either may be the larger; NumPy's next of float16 from one to the other is the first,
# of other floats the second.
_ZEROS_ALIKE = {"minimum", "maximum", "fmin", "fmax", "nextafter"}
# Complex results are right to so many units of the modulus.
_COMPLEX_ULPS = {"cpu": 6, "cuda": 64}
# Powers are exponentials, which turn a unit of a large argument into as many as it is large: a few
# units of it are right, on top of the above.
_POWER_ULPS = 800
_ARGUMENT_ULPS = 4


def _sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + e), e / (1 + e))


def _softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _log1p(x):
    """NumPy's of complex numbers takes the logarithm of the modulus of 1 + x, which has lost x near 0."""
    if not np.iscomplexobj(x):
        return np.log1p(x)
    near = (np.abs(x.real) < 0.5) & (np.abs(x.imag) < 0.5)
    size = np.where(
        near,
        np.log1p(x.real * (x.real + 2) + x.imag * x.imag) / 2,
        np.log(np.hypot(x.real + 1, x.imag)),
    )
    result = np.empty(x.shape, x.dtype)
    result.real, result.imag = size, np.arctan2(x.imag, x.real + 1)
    return result


_erf = np.vectorize(math.erf, otypes=[np.float64])
_REFERENCES = {
    "sigmoid": _sigmoid,
    "softplus": _softplus,
    "erf": lambda x: _erf(x).astype(x.dtype),
}


def _widened(values, dtype):
    """As the operation sees them, in `dtype`, with digits to spare."""
    if not isinstance(values, np.ndarray):
        values = np.asarray(values)
    if is_complex(values.dtype) and not is_complex(dtype):
        dtype = np.dtype("complex64" if dtype.itemsize == 4 else "complex128")
    return values.astype(dtype).astype(wide_dtype(dtype))


def closeness(context, name, values, dtype):
    """What is right for a result of `dtype`, which is also what was computed in."""
    if not is_inexact(dtype):
        return Close()

    def exact():
        wide = [_widened(v, dtype) for v in values]
        if name == "log1p":
            return _log1p(*wide)
        return (_REFERENCES.get(name) or getattr(np, name))(*wide)

    if is_complex(dtype) or any(np.iscomplexobj(v) for v in values):
        ulps = _POWER_ULPS if "power" in name else _COMPLEX_ULPS[context.device.kind]
        slack = None if context.is_cpu else _least(dtype)
        if "power" in name:
            slack = (slack or 0) + _lost_in_power(exact(), *(_widened(v, dtype) for v in values))
        errors = 0 if context.is_cpu else 4
        return Close(ulps, exact, slack, nan_anywhere=True, signed=False, numpys_errors=errors)
    if name in ("logaddexp", "logaddexp2") and not context.is_cpu:
        # The sum of the larger operand and a logarithm, which may cancel.
        with np.errstate(all="ignore"):
            larger = np.maximum(*(np.abs(_widened(v, dtype)) for v in values))
        slack = 4 * float(np.finfo(dtype).eps if dtype != BFLOAT16 else 2.0**-7) * larger
        return Close(ULPS[name] + 0.5, exact, np.where(np.isfinite(slack), slack, 0))
    if name in ULPS:
        # float16 and bfloat16 are computed in float32 and rounded once.
        return Close(1.0 if dtype.itemsize == 2 else ULPS[name] + 0.5, exact)
    return UNSIGNED_ZEROS if name in _ZEROS_ALIKE else Close()


def _lost_in_power(answer, base, exponent):
    """What a few units of exponent * log(base), in the dtype that was computed in, make of the answer."""
    with np.errstate(all="ignore"):
        argument = np.abs(exponent * np.log(base.astype(answer.dtype)))
        narrow = np.finfo(np.float32 if answer.dtype == np.complex128 else np.float64)
        lost = _ARGUMENT_ULPS * narrow.eps * argument * np.abs(answer)
    return np.where(np.isfinite(lost), lost, 0)


def _least(dtype):
    """Below the least normal number there are fewer digits."""
    if dtype == BFLOAT16:
        return 2.0**-126
    return float(np.finfo(dtype).tiny)


# ---- Operands ----

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


def _dtypes(context, count):
    first = context.pick(ALL if context.is_cpu else FEW)
    if count == 1:
        return [first]
    if first == BFLOAT16 or context.chance(0.6) or not context.is_cpu:
        return [first] * count
    second = context.pick(ALL)
    return [first, first if second == BFLOAT16 else second]


def _operands(context, name, shape):
    """Arrays, one of them of the full shape, or an array and a Python number."""
    count = getattr(sw, name).nin
    dtypes = _dtypes(context, count)
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


def _of(values, side):
    return [getattr(v, side) if hasattr(v, side) else v for v in values]


# ---- NumPy's answer ----


def _in_bfloat16(name):
    """NumPy's operation where bfloat16 is among the operands: in float32, rounded once."""
    function = _REFERENCES.get(name) or getattr(np, name)

    def call(*values, **options):
        wide = [
            v.astype(np.float32)
            if isinstance(v, np.ndarray)
            else np.float32(np.asarray(v).astype(BFLOAT16))
            if not isinstance(v, complex)
            else v
            for v in values
        ]
        result = function(*wide)
        return result.astype(BFLOAT16) if result.dtype == np.float32 else result

    return call


def _reference(name, values):
    if any(getattr(v, "dtype", None) == BFLOAT16 for v in values):
        return _in_bfloat16(name)
    if name in _REFERENCES:
        return _of_sigmoids(name)
    if name == "nextafter":
        return np.nextafter
    return getattr(np, name)


def _of_sigmoids(name):
    def call(x):
        dtype = np.exp(np.empty(0, x.dtype)).dtype  # the dtypes of a function on floats
        if is_complex(dtype):
            raise TypeError(f"{name} of complex numbers")
        wide = x.astype(dtype).astype(wide_dtype(dtype))
        return _REFERENCES[name](wide).astype(dtype)

    return call


# ---- Cases ----


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
        else context.pick(_OTHERS)
        if u < 0.45
        else context.pick(BINARY)
    )
    shape = context.shape()
    context.name = name
    values = _operands(context, name, shape) if u < 0.7 or u > 0.82 else None
    if values is None:
        _overlap(context, name, shape)
        return
    theirs, ours = _of(values, "theirs"), _of(values, "ours")
    if _is_left_out(context, name, theirs):
        return
    reference, function = _reference(name, theirs), getattr(sw, name)
    try:
        expected = reference(*theirs)
    except Exception:
        context.check(name, lambda: function(*ours), lambda: reference(*theirs))
        return
    expected = np.asarray(expected)
    dtype = expected.dtype
    close = closeness(context, name, theirs, dtype)
    if context.chance(0.55):
        context.check(name, lambda: function(*ours), lambda: expected, close)
        return
    if context.chance(0.1) and context.is_cpu:
        _with_dtype(context, name, (function, ours, theirs))
        return
    _with_out(context, name, (function, ours, theirs, expected, close))


def _with_dtype(context, name, call):
    """With a requested dtype and order of the result."""
    function, ours, theirs = call
    dtype, order = context.pick((*FLOATS[1:], *COMPLEX)), context.pick("KCFA")
    if name in ("angle", "absolute", *_REFERENCES) or any(
        getattr(v, "dtype", None) == BFLOAT16 for v in theirs
    ):
        return
    context.note(dtype=dtype.name, order=order)
    reference = _reference(name, theirs)
    try:
        expected = reference(*theirs, dtype=dtype, order=order)
    except Exception:
        options = {"dtype": dtype, "order": order}
        context.check(
            name, lambda: function(*ours, **options), lambda: reference(*theirs, **options)
        )
        return
    close = closeness(context, name, theirs, expected.dtype)
    context.check(name, lambda: function(*ours, dtype=dtype, order=order), lambda: expected, close)


def _with_out(context, name, call):
    function, ours, theirs, expected, close = call
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
                expected = np.asarray(_reference(name, wide)(*wide))
                close = closeness(context, name, wide, expected.dtype)
            close = _of_cast(close, expected, into)
    out = context.target(into, expected.shape, close)
    options = {}
    mask = True
    if context.chance(0.4):
        where = context.array(BOOL, context.broadcastable(expected.shape))
        options["where"], mask = where.ours, where.theirs
    context.check(
        name,
        lambda: function(*ours, out=out.ours, **options),
        lambda: np.copyto(out.theirs, cast(expected, into), where=mask),
        close,
        out=out,
    )


def _refuse():
    raise TypeError("out cannot take the result")


def _of_cast(close, expected, into):
    """A result within its bounds, then rounded to another dtype."""
    if is_complex(expected.dtype) or close.ulps:
        part = np.dtype(f"f{into.itemsize // 2}") if is_complex(into) else into
        eps = float(2.0**-7 if into == BFLOAT16 else np.finfo(part).eps)
        of = float(2.0**-7 if expected.dtype == BFLOAT16 else np.finfo(expected.dtype).eps)
        # The unit of all subnormal numbers is that of the least normal one.
        unit = of * _least(np.finfo(expected.dtype).dtype) if expected.dtype != BFLOAT16 else 0
        wide = np.abs(np.nan_to_num(expected.astype("complex128")))
        slack = close.ulps * (of * wide + unit) + eps * wide + _least(part)
        return Close(1, close.exact, slack, signed=False, nan_anywhere=close.nan_anywhere)
    return close


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
        expected = np.asarray(_reference(name, theirs)(*theirs))
    except Exception:
        return
    if not np.can_cast(expected.dtype, dtype, "same_kind"):
        return
    kept = [np.array(v) if isinstance(v, np.ndarray) else v for v in theirs]
    close = closeness(context, name, kept, expected.dtype)
    if expected.dtype != dtype:
        close = _of_cast(close, expected, dtype) if is_inexact(expected.dtype) else close
    source.memory.written[:] = [(target, close)]
    context.check(
        name,
        lambda: function(*ours, out=target.ours),
        lambda: np.copyto(target.theirs, expected, casting="same_kind"),
        close,
        out=target,
    )


def _where(context):
    shape = context.shape()
    condition = context.array(BOOL, shape)
    dtypes = _dtypes(context, 2)
    values = [context.array(d, context.broadcastable(shape)) for d in dtypes]
    if dtypes[0] != BFLOAT16 and context.chance(0.2):
        # For a number out of range NumPy wraps around only here; we raise as everywhere.
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
    close = Close(signed=False, nan_anywhere=is_complex(dtype))
    context.check("clip", lambda: sw.clip(*sides[0]), lambda: np.clip(*sides[1]), close)


def _divmod(context):
    shape = context.shape()
    dtypes = _dtypes(context, 2)
    if BFLOAT16 in dtypes:
        dtypes = [FLOATS[1]] * 2
    values = [
        context.array(dtypes[0], shape),
        context.array(dtypes[1], context.broadcastable(shape)),
    ]
    ours, theirs = _of(values, "ours"), _of(values, "theirs")
    context.check("divmod", lambda: sw.divmod(*ours), lambda: np.divmod(*theirs))


def _round(context):
    """Of numbers that decimal places are there for."""
    dtype = context.pick((*FLOATS[1:], *INTEGERS) if context.is_cpu else FEW[:2])
    array = context.array(dtype, context.shape(), "mild")
    decimals = context.pick((0, 1, 2, -1))
    context.note(decimals=decimals)
    close = Close(1, None)
    context.check(
        "round",
        lambda: sw.round(array.ours, decimals),
        lambda: np.round(array.theirs, decimals),
        close,
    )


_OPERATORS = ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "iand", "ior", "ixor")


def _in_place(context):
    dtypes = _dtypes(context, 2)
    if BFLOAT16 in dtypes:
        dtypes = [FLOATS[1]] * 2
    name = context.pick(_OPERATORS)
    function = getattr(operator, name)
    shape = context.shape()
    # What float16 becomes in a wider array is rounded once, in NumPy twice.
    narrow = np.result_type(*dtypes) != dtypes[0] and is_inexact(dtypes[0])
    if narrow or np.dtype("float16") in dtypes:
        dtypes = [dtypes[0]] * 2
    close = Close()
    if is_complex(dtypes[0]):
        close = Close(
            _COMPLEX_ULPS["cuda"], slack=_least(dtypes[0]), signed=False, nan_anywhere=True
        )
    target = context.target(dtypes[0], shape, close)
    value = context.array(dtypes[1], context.broadcastable(shape))
    context.check(
        name,
        lambda: function(target.ours, value.ours),
        lambda: function(target.theirs, value.theirs),
        out=target,
    )
