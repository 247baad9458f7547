# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Reductions and scans over random axes: keepdims, dtype, out, initial, where."""

from dataclasses import replace

import numpy as np

import spanwise as sw

from ..compare import EXACT, Tolerance, wide_dtype
from ..values import (
    ALL,
    BFLOAT16,
    BOOL,
    COMPLEX,
    FEW,
    FLOATS,
    INTEGERS,
    SIGNED,
    UNSIGNED,
    is_complex,
    is_inexact,
)
from ..windows import Window, random_window

SUMS = ("sum", "prod", "nansum")
MOMENTS = ("mean", "var", "std")
EXTREMES = ("min", "max", "ptp")
LOGICAL = ("any", "all", "count_nonzero")
ARG_EXTREMES = ("argmin", "argmax")
SCANS = ("cumsum", "cumprod")
_MASKED = {*SUMS, *MOMENTS, "min", "max", "any", "all"}


def _axis(context, rank, only_one=False):
    u = context.r.random()
    if u < 0.35:
        return None
    if u < 0.75 or rank == 0 or only_one:
        return context.axis(rank)
    axes = list(range(rank))
    context.r.shuffle(axes)
    axes = axes[: int(context.r.random() * (rank + 1))]
    return tuple(a - rank if context.chance(0.3) else a for a in axes)


def _dtype(context):
    return context.pick(ALL if context.is_cpu else FEW)


def _kind(context, name):
    """Sums of extremes overflow in one order and not in another."""
    if name in ("prod", "cumprod"):
        return "unit"
    if name in SUMS + MOMENTS + SCANS:
        return "mild" if context.chance(0.8) else "whole"
    return "any" if context.chance(0.75) else "whole"


def case(context):
    u = context.r.random()
    if u < 0.14:
        _scan(context)
    else:
        name = context.pick(
            SUMS + MOMENTS + EXTREMES + LOGICAL + ARG_EXTREMES + ("sum", "mean", "max")
        )
        context.name = name
        _reduce(context, name)


def _reduce(context, name):
    shape, dtype = context.shape(), _dtype(context)
    # The product of a repeated number is soon out of range.
    array = context.array(dtype, shape, _kind(context, name), repeats=name != "prod")
    if name == "ptp" and dtype == BOOL and 0 in shape:
        return  # two errors, of which the libraries may report different ones
    axis = _axis(context, len(shape), only_one=name in ARG_EXTREMES)
    if not shape and name in MOMENTS:
        axis = None  # NumPy accepts axis 0 for rank 0 in the other reductions only, Spanwise in all
    options, ours, theirs = {"axis": axis}, {}, {}
    if context.chance(0.3):
        options["keepdims"] = True
    if name in SUMS and context.is_cpu and context.chance(0.15):
        options["dtype"] = _other_dtype(context, name, dtype)
    if name in ("sum", "prod", "min", "max") and context.chance(0.15):
        options["initial"] = context.pick((0, 1, 2))
    if name in ("var", "std") and context.chance(0.3):
        options["ddof"] = 1
    context.note(**options)
    if name in _MASKED and context.chance(0.2):
        where = context.array(BOOL, context.broadcastable(shape))
        ours["where"], theirs["where"] = where.ours, where.theirs
    method = hasattr(array.ours, name) and context.chance(0.3)

    def run():
        function = getattr(array.ours, name) if method else getattr(sw, name)
        return function(*(() if method else (array.ours,)), **options, **ours)

    def reference():
        return _numpys(name, array.theirs, **options, **theirs)

    tolerance = _tolerance_of(name, array.theirs, {**options, **theirs})
    if (
        name != "count_nonzero"
        and context.chance(0.25)
        and _with_out(context, name, (array, run, reference, tolerance), options)
    ):
        return
    context.check(name, run, reference, tolerance)


def _with_out(context, name, call, options):
    array, run, reference, tolerance = call
    try:
        expected = np.array(reference())
    except Exception:
        return False
    if (
        expected.dtype == array.dtype
        and context.chance(0.4)
        and expected.size < array.memory.theirs.size
    ):
        if tolerance.absolute is not None:  # from the elements, before they are overwritten
            tolerance = replace(tolerance, absolute=np.asarray(tolerance.absolute))
        out = _over(context, array, expected.shape, tolerance)
    else:
        out = context.target(expected.dtype, expected.shape, tolerance)
    options["out"] = out.ours
    context.check(name, run, lambda: np.copyto(out.theirs, expected), tolerance, out=out)
    return True


def _over(context, array, shape, tolerance):
    """An output array at a random position in the memory of `array`, which is read."""
    window = random_window(context.r, shape)
    if window.size > array.memory.theirs.size:
        window = Window(shape, shape)
    spare = array.memory.theirs.size - window.size
    out = array.memory.operand(window, int(context.r.random() * (spare + 1)))
    context.operands.append(out)
    context.writes(out, tolerance)
    return out


def _other_dtype(context, name, dtype):
    """A dtype in which a sum of elements of `dtype` does not depend on the order of the additions."""
    if is_complex(dtype):
        return context.pick(COMPLEX).name
    if is_inexact(dtype):
        return context.pick((*FLOATS[1:], *COMPLEX)).name
    if name in ("prod", "cumprod"):  # floats would overflow
        return context.pick(INTEGERS).name
    return context.pick((*INTEGERS, FLOATS[2])).name


# ---- NumPy's result ----


def _result_dtype(name, dtype, options):
    """The dtype of NumPy's result; the oracle computes in a wider dtype."""
    if options.get("dtype"):
        return np.dtype(options["dtype"])
    if name in MOMENTS and not is_inexact(dtype):
        return FLOATS[2]
    if name in ("var", "std") and is_complex(dtype):
        return FLOATS[1] if dtype == COMPLEX[0] else FLOATS[2]
    if name in SUMS + SCANS and not is_inexact(dtype):
        if dtype in UNSIGNED:
            return UNSIGNED[-1]
        return SIGNED[-1]
    return dtype


def _numpys(name, a, **options):
    """NumPy's result, computed in a wider dtype if it is rounded, then cast to NumPy's result dtype."""
    if name in EXTREMES + LOGICAL + ARG_EXTREMES:
        if a.dtype != BFLOAT16:
            return getattr(np, name)(a, **options)
        result = getattr(np, name)(a.astype(np.float32), **options)
        return result.astype(BFLOAT16) if name in EXTREMES else result
    dtype = _result_dtype(name, a.dtype, options)
    if dtype.kind in "iu":
        return getattr(np, name)(a, **options)
    options = {k: v for k, v in options.items() if k != "dtype"}
    return np.asarray(getattr(np, name)(_wide(a, dtype), **options)).astype(dtype)


def _wide(a, dtype):
    if a.dtype.kind not in "fc" and a.dtype != BFLOAT16:
        return a.astype(wide_dtype(dtype))
    return a.astype(np.promote_types(wide_dtype(a.dtype), wide_dtype(dtype)))


def _tolerance_of(name, a, options):
    """A few units in the last place of the result and, where terms cancel, of the sum of their moduli."""
    if name in ARG_EXTREMES + LOGICAL:
        return EXACT
    if name in EXTREMES:
        return Tolerance(signed_zeros=False, nonfinite_in_either_part=is_complex(a.dtype))
    dtype = _result_dtype(name, a.dtype, options)
    if not is_inexact(dtype):
        return EXACT
    return Tolerance(
        2,
        None,
        absolute=_RoundingBound(name, a, options, dtype),
        signed_zeros=False,
        nonfinite_in_either_part=True,
    )


class _RoundingBound:
    """The error of a sum caused by rounding its terms; computed only where bits differ."""

    def __init__(self, name, a, options, dtype):
        self._all = name, a, options, dtype

    def __array__(self, dtype=None, copy=None):
        name, a, options, result = self._all
        kwargs = {k: v for k, v in options.items() if k in ("axis", "keepdims", "where")}
        moduli = np.abs(_wide(a, result)).astype(np.float64)
        part = np.dtype(f"f{result.itemsize // 2}") if is_complex(result) else result
        eps = 2.0**-8 if result == BFLOAT16 else float(np.finfo(part).eps)
        if name in SCANS:
            return np.asarray(_scanned(name, moduli, kwargs["axis"], eps))
        count = max(moduli.size / max(np.sum(moduli, **kwargs).size, 1), 1)
        if name == "prod":
            return np.asarray(eps * 2 * count * np.prod(moduli, **kwargs))
        # Sums of float32 and narrower are computed in float64. Equal terms are all rounded in the same
        # direction.
        error = (eps if part == np.float64 else 1e-15) * (4 + min(count, 2048) / 4)
        if name in ("var", "std"):
            square = np.mean(moduli**2, **kwargs)
            return np.asarray((error + eps) * (square if name == "var" else np.sqrt(square)))
        total = np.sum(moduli, **kwargs) if name != "nansum" else np.nansum(moduli, **kwargs)
        return np.asarray(error * total / (count if name == "mean" else 1))


def _scanned(name, moduli, axis, eps):
    """The error of a scan, which rounds at every step; steps of equal terms all in the same direction."""
    along = np.arange(1, moduli.size + 1)
    if axis is not None and moduli.ndim:
        shape = [1] * moduli.ndim
        shape[axis] = moduli.shape[axis]
        along = np.arange(1, moduli.shape[axis] + 1).reshape(shape)
    if name == "cumsum":
        return (4 + 0.5 * along) * eps * np.cumsum(moduli, axis=axis)
    return 2 * eps * along * np.cumprod(moduli, axis=axis)


# ---- Scans ----


def _scan(context):
    name = context.pick(SCANS)
    context.name = name
    shape, dtype = context.shape(), _dtype(context)
    options = {"axis": _axis(context, len(shape), only_one=True)}
    if context.is_cpu and context.chance(0.15):
        options["dtype"] = _other_dtype(context, name, dtype)
    context.note(**options)
    if (
        context.chance(0.15)
        and is_inexact(dtype)
        and not {"dtype", None} & {*options, options["axis"]}
        and shape
    ):
        array, out = context.overlapping(dtype, shape, kind=_kind(context, name))
    else:
        array, out = context.array(dtype, shape, _kind(context, name), name != "cumprod"), None
    values = np.array(array.theirs)
    tolerance = _tolerance_of(name, values, options)

    def run():
        return getattr(sw, name)(array.ours, **options)

    def reference():
        return _numpys(name, values, **options)

    if out is None and context.chance(0.8):
        context.check(name, run, reference, tolerance)
        return
    try:
        expected = reference()
    except Exception:
        context.check(name, run, reference, tolerance)
        return
    if out is None:
        out = context.target(expected.dtype, expected.shape, tolerance)
    else:
        out.memory.written[:] = [(out, tolerance)]
    options["out"] = out.ours
    context.check(name, run, lambda: np.copyto(out.theirs, expected), tolerance, out=out)
