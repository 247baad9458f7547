# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Comparison of results: equal bits, or an error within the bound of the operation."""

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from .values import BFLOAT16, is_complex, is_inexact


@dataclass(frozen=True)
class Close:
    """How far from the truth an answer may be.

    Within `ulps` units in the last place of `exact()`, which is computed in a wider dtype (NumPy's own
    answer where it is None), or within `slack` absolutely: a number, or an array of the answer's shape.
    Of complex numbers the units are those of the modulus, since operations cancel in a part. Not
    `signed`: 0.0 is as good as -0.0. `nan_anywhere`: which part of a complex number is infinite or NaN
    does not matter, as libraries differ in it. Besides, so many times NumPy's own error: what turns a
    rounding of its argument into a large error does so in every library.
    """

    ulps: float = 0
    exact: Any = None
    slack: Any = None
    signed: bool = True
    nan_anywhere: bool = False
    numpys_errors: float = 0


EXACT = Close()
UNSIGNED_ZEROS = Close(signed=False)


def wide_dtype(dtype):
    """One with digits to spare."""
    if is_complex(dtype):
        return np.dtype("complex128" if dtype.itemsize == 8 else np.clongdouble)
    return np.dtype(np.longdouble if dtype == np.float64 else np.float64)


def spacing(values, dtype):
    """The unit in the last place of `dtype` at each value, in the values' own dtype."""
    info = ml_dtypes.finfo(dtype) if dtype == BFLOAT16 else np.finfo(dtype)
    wide = np.abs(values)
    _, exponent = np.frexp(np.minimum(wide, wide.dtype.type(info.max)))
    digits = info.nmant + 1
    least = np.frexp(wide.dtype.type(info.smallest_subnormal))[1] - 1
    return np.ldexp(wide.dtype.type(1), np.maximum(exponent - digits, least))


def problem_of(ours, theirs, close):
    """None, or what is wrong with our elements; both are NumPy's arrays of one shape and dtype."""
    if ours.shape != theirs.shape:
        return f"shape {ours.shape}, expected {theirs.shape}"
    if ours.dtype != theirs.dtype:
        return f"dtype {ours.dtype}, expected {theirs.dtype}"
    if ours.size == 0 or ours.tobytes() == theirs.tobytes():
        return None
    if not is_inexact(ours.dtype):
        wrong = ours != theirs
        return _told(wrong, ours, theirs) if wrong.any() else None
    with np.errstate(all="ignore"):
        wrong = _wrong_inexact(ours, theirs, close)
    return _told(wrong, ours, theirs, close) if wrong.any() else None


def _parts(values):
    return (values.real, values.imag) if is_complex(values.dtype) else (values,)


def _wrong_inexact(ours, theirs, close):
    dtype = theirs.dtype
    if dtype == BFLOAT16:  # NumPy does not recognize its NaNs
        ours, theirs = ours.astype(np.float32), theirs.astype(np.float32)
    same = np.ones(ours.shape, bool)
    for a, b in zip(_parts(ours), _parts(theirs), strict=True):
        same &= (a == b) & (not close.signed or np.signbit(a) == np.signbit(b)) | (a != a) & (
            b != b
        )
    if close.nan_anywhere:
        same |= ~np.isfinite(ours) & ~np.isfinite(theirs)
    if same.all() or (close.ulps == 0 and close.slack is None):
        return ~same
    exact = close.exact() if callable(close.exact) else theirs
    real = np.dtype(f"f{dtype.itemsize // 2}") if is_complex(dtype) else dtype
    exact = np.broadcast_to(np.asarray(exact).astype(wide_dtype(dtype), copy=False), ours.shape)
    allowed = close.ulps * spacing(np.abs(exact), real)
    if close.slack is not None:
        allowed = allowed + np.broadcast_to(np.asarray(close.slack), ours.shape)
    if close.numpys_errors:
        error = np.abs(theirs.astype(exact.dtype) - exact)
        allowed = allowed + close.numpys_errors * np.where(np.isfinite(error), error, 0)
    most = (ml_dtypes.finfo(real) if real == BFLOAT16 else np.finfo(real)).max
    near = np.ones(ours.shape, bool)
    for a, b in zip(_parts(ours), _parts(exact), strict=True):
        a = a.astype(b.dtype)
        good = np.abs(a - b) <= allowed
        good |= (a == b) | (a != a) & (b != b)
        # Beyond the largest number, or nearly: one side may be infinite.
        max_wide = b.dtype.type(most)
        good |= np.isinf(a) & (np.sign(a) == np.sign(b)) & (np.abs(b) >= max_wide - allowed)
        near &= good
    if close.nan_anywhere:
        near |= ~np.isfinite(ours) & ~np.isfinite(exact.astype(dtype))
    return ~(same | near)


def _told(wrong, ours, theirs, close=None):
    at = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(wrong)))
    if wrong.ndim == 0:
        at = ()
    text = (
        f"{int(wrong.sum())} of {wrong.size} wrong; at {at}: {ours[at]!r}, expected {theirs[at]!r}"
    )
    if close is not None and callable(close.exact):
        exact = np.broadcast_to(np.asarray(close.exact()), ours.shape)
        text += f", in a wider dtype {exact[at]!r}"
    return text
