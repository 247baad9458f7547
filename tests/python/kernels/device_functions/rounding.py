# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Rounds exact numbers in a given direction."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

SUFFIXES = ("rn", "rz", "rd", "ru")
# The number of significant bits, the exponent of the last bit of a subnormal number, the largest.
FORMATS = {
    "float64": (53, -1074, Fraction(np.finfo("float64").max)),
    "float32": (24, -149, Fraction(float(np.finfo("float32").max))),
    "float16": (11, -24, Fraction(65504)),
    "bfloat16": (8, -133, Fraction(255) * Fraction(2) ** 120),
}


def exponent_of(x):
    """The e of 2**e <= x < 2**(e + 1), for x > 0."""
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if Fraction(2) ** e <= x else e - 1


def rounded(x, dtype, suffix):
    """The Fraction `x` as a float of the format `dtype`, rounded as CUDA's functions with `suffix`."""
    digits, lowest, largest = FORMATS[dtype]
    if x == 0:
        return 0.0
    size, sign = abs(x), 1 if x > 0 else -1
    unit = Fraction(2) ** max(exponent_of(size) - digits + 1, lowest)
    count = size / unit
    away = suffix == ("ru" if sign > 0 else "rd")
    count = round(count) if suffix == "rn" else math.ceil(count) if away else math.floor(count)
    result = count * unit
    if result > largest:
        return sign * (math.inf if away or suffix == "rn" else float(largest))
    return sign * float(result)


def root(x, dtype, suffix):
    """The square root of the Fraction `x`, from an approximation with 200 more bits."""
    scale = 1 << 2 * (300 + 1200)
    scaled = x * scale
    whole = scaled.numerator // scaled.denominator
    below = math.isqrt(whole)
    exact = below * below == scaled
    half = Fraction(below, 1 << 1500)
    return rounded(half if exact else half + Fraction(1, 1 << 1501), dtype, suffix)
