# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Comparison of results: equal bits, or a difference within the tolerance of the operation."""

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from .values import BFLOAT16, is_complex, is_inexact


@dataclass(frozen=True)
class Tolerance:
    """The largest permitted difference between a result and the exact value.

    A difference is permitted up to `ulps` units in the last place of the exact value, plus `absolute`,
    plus `numpy_error_factor` times the error of NumPy's own result: where a rounded argument causes a
    large error, it does so in every library. In complex numbers units are those of the modulus,
    because the parts may result from cancellation.

    `exact` returns the value computed in a wider dtype; without it NumPy's result is taken as exact.
    `absolute` is a number or an array of the result's shape. Without `signed_zeros`, 0.0 and -0.0 are
    equal. With `nonfinite_in_either_part`, complex numbers are equal if both have an infinite or NaN
    part, because libraries differ in which.
    """

    ulps: float = 0
    exact: Any = None
    absolute: Any = None
    signed_zeros: bool = True
    nonfinite_in_either_part: bool = False
    numpy_error_factor: float = 0


EXACT = Tolerance()
UNSIGNED_ZEROS = Tolerance(signed_zeros=False)


def wide_dtype(dtype):
    """A dtype of higher precision than `dtype`, in which reference values are computed."""
    if is_complex(dtype):
        return np.dtype("complex128" if dtype.itemsize == 8 else np.clongdouble)
    return np.dtype(np.longdouble if dtype == np.float64 else np.float64)


def float_info(dtype):
    return ml_dtypes.finfo(dtype) if dtype == BFLOAT16 else np.finfo(dtype)


def spacing(values, dtype):
    """The unit in the last place of `dtype` at each value, in the values' own dtype."""
    info = float_info(dtype)
    wide = np.abs(values)
    _, exponent = np.frexp(np.minimum(wide, wide.dtype.type(info.max)))
    digits = info.nmant + 1
    min_exponent = np.frexp(wide.dtype.type(info.smallest_subnormal))[1] - 1
    return np.ldexp(wide.dtype.type(1), np.maximum(exponent - digits, min_exponent))


def problem_of(ours, theirs, tolerance):
    """The difference of two NumPy arrays beyond the tolerance, as text; None if there is none."""
    if ours.shape != theirs.shape:
        return f"shape {ours.shape}, expected {theirs.shape}"
    if ours.dtype != theirs.dtype:
        return f"dtype {ours.dtype}, expected {theirs.dtype}"
    if ours.size == 0 or ours.tobytes() == theirs.tobytes():
        return None
    if not is_inexact(ours.dtype):
        wrong = ours != theirs
        return _message(wrong, ours, theirs) if wrong.any() else None
    with np.errstate(all="ignore"):
        wrong = _wrong_inexact(ours, theirs, tolerance)
    return _message(wrong, ours, theirs, tolerance) if wrong.any() else None


def _parts(values):
    return (values.real, values.imag) if is_complex(values.dtype) else (values,)


def _wrong_inexact(ours, theirs, tolerance):
    dtype = theirs.dtype
    if dtype == BFLOAT16:  # NumPy does not recognize its NaNs
        ours, theirs = ours.astype(np.float32), theirs.astype(np.float32)
    equal = _are_equal(ours, theirs, tolerance)
    if equal.all() or (tolerance.ulps == 0 and tolerance.absolute is None):
        return ~equal
    exact = tolerance.exact() if callable(tolerance.exact) else theirs
    exact = np.broadcast_to(np.asarray(exact).astype(wide_dtype(dtype), copy=False), ours.shape)
    return ~(equal | _are_near(ours, theirs, exact, dtype, tolerance))


def _are_equal(ours, theirs, tolerance):
    equal = np.ones(ours.shape, bool)
    for a, b in zip(_parts(ours), _parts(theirs), strict=True):
        same_sign = not tolerance.signed_zeros or np.signbit(a) == np.signbit(b)
        equal &= (a == b) & same_sign | np.isnan(a) & np.isnan(b)
    if tolerance.nonfinite_in_either_part:
        equal |= ~np.isfinite(ours) & ~np.isfinite(theirs)
    return equal


def _are_near(ours, theirs, exact, dtype, tolerance):
    """Whether elements of `ours` differ from `exact` by no more than the tolerance of `dtype`."""
    real = np.dtype(f"f{dtype.itemsize // 2}") if is_complex(dtype) else dtype
    allowed = tolerance.ulps * spacing(np.abs(exact), real)
    if tolerance.absolute is not None:
        allowed = allowed + np.broadcast_to(np.asarray(tolerance.absolute), ours.shape)
    if tolerance.numpy_error_factor:
        error = np.abs(theirs.astype(exact.dtype) - exact)
        allowed = allowed + tolerance.numpy_error_factor * np.where(np.isfinite(error), error, 0)
    near = np.ones(ours.shape, bool)
    for a, b in zip(_parts(ours), _parts(exact), strict=True):
        a = a.astype(b.dtype)
        is_near = (np.abs(a - b) <= allowed) | (a == b) | np.isnan(a) & np.isnan(b)
        # An exact value within the tolerance of the largest number may have overflowed.
        largest = b.dtype.type(float_info(real).max)
        is_near |= np.isinf(a) & (np.sign(a) == np.sign(b)) & (np.abs(b) >= largest - allowed)
        near &= is_near
    if tolerance.nonfinite_in_either_part:
        near |= ~np.isfinite(ours) & ~np.isfinite(exact.astype(dtype))
    return near


def _message(wrong, ours, theirs, tolerance=None):
    """The number of wrong elements, and the first of them."""
    at = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(wrong)))
    if wrong.ndim == 0:
        at = ()
    text = (
        f"{int(wrong.sum())} of {wrong.size} wrong; at {at}: {ours[at]!r}, expected {theirs[at]!r}"
    )
    if tolerance is not None and callable(tolerance.exact):
        exact = np.broadcast_to(np.asarray(tolerance.exact()), ours.shape)
        text += f", in a wider dtype {exact[at]!r}"
    return text
