# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Math functions. References are those of Python and series in exact arithmetic, in double."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from .table import Function

LOG_MAX = math.log(1.7e308)


def erfcx(x):
    if x < -26.6:
        return math.inf
    if x < 5:
        square = Fraction(x) ** 2
        high = float(square)
        return math.exp(high) * (1 + float(square - Fraction(high))) * math.erfc(x)
    tail = Fraction(0)
    for k in range(60, 0, -1):
        tail = Fraction(k, 2) / (Fraction(x) + tail.limit_denominator(10**20))
    return 1 / (math.sqrt(math.pi) * float(Fraction(x) + tail))


def inverse(function, low, high):
    """The inverse of an increasing function, by bisection."""

    def find(y):
        a, b = low, high
        while (middle := (a + b) / 2) not in (a, b):
            a, b = (middle, b) if function(middle) < y else (a, middle)
        return b

    return find


def erfinv(x):
    if abs(x) > 0.5:
        return math.copysign(erfcinv(1 - abs(x)), x)
    return inverse(math.erf, -1.0, 1.0)(x)


def erfcinv(x):
    if x > 0.5:
        return erfinv(1 - x)
    return -inverse(lambda z: math.erfc(-z), -30.0, 1.0)(x)


def bessel_i(order):
    def value(x):
        square = Fraction(x) ** 2 / 4
        term = total = Fraction(1) / math.factorial(order)
        k = 0
        while term > total / 10**20:
            k += 1
            term = (term * square / (k * (k + order))).limit_denominator(10**60)
            total += term
        return float(total * (Fraction(x) / 2) ** order)

    return value


ANGLES = (np.arange(4096) + 0.5) * (math.pi / 4096)
TIMES = (np.arange(200000) + 0.5) * (12 / 200000)


def bessel_j(order, x):
    return float(np.mean(np.cos(order * ANGLES - x * np.sin(ANGLES))))


def bessel_y(order, x):
    near = np.mean(np.sin(x * np.sin(ANGLES) - order * ANGLES))
    growth = np.exp(order * TIMES) + (-1) ** order * np.exp(-order * TIMES)
    far = np.sum(growth * np.exp(-x * np.sinh(TIMES))) * (TIMES[1] - TIMES[0])
    return float(near - far / math.pi)


def sign_pi(function, shift):
    """sin(pi * x) and cos(pi * x), reduced exactly."""

    def value(x):
        turn = float((Fraction(x) + shift) % 2)
        sign = 1 if turn < 1 else -1
        half = min(turn % 1, 1 - turn % 1)
        return sign * math.sin(math.pi * half)

    return value


def norm(*values):
    return math.sqrt(sum(Fraction(v) ** 2 for v in values))


def erfc_half(x):
    high = -x * math.sqrt(0.5)
    low = (
        float((Fraction(x) ** 2 / 2 - Fraction(high) ** 2) / (2 * Fraction(high))) if high else 0.0
    )
    return 0.5 * math.erfc(high) - low * math.exp(-high * high) / math.sqrt(math.pi)


# name: (reference, range of the argument, units of the last place that a GPU may be off)
UNARY = {
    "acos": (math.acos, (-1, 1), 2),
    "acosh": (math.acosh, (1, 1e6), 4),
    "asin": (math.asin, (-1, 1), 4),
    "asinh": (math.asinh, (-1e6, 1e6), 4),
    "atan": (math.atan, (-1e6, 1e6), 2),
    "atanh": (math.atanh, (-0.99, 0.99), 4),
    "cbrt": (lambda x: math.copysign(abs(x) ** (1 / 3), x), (-100, 100), 4),
    "ceil": (np.ceil, (-100, 100), 0),
    "cos": (math.cos, (-100, 100), 2),
    "cosh": (math.cosh, (-80, 80), 4),
    "cospi": (sign_pi(math.cos, Fraction(1, 2)), (-100, 100), 2),
    "cyl_bessel_i0": (bessel_i(0), (-60, 60), 8),
    "cyl_bessel_i1": (bessel_i(1), (-60, 60), 8),
    "erf": (math.erf, (-5, 5), 4),
    "erfc": (math.erfc, (-5, 9), 6),
    "erfcinv": (erfcinv, (1e-30, 1.999), 8),
    "erfcx": (erfcx, (-9, 100), 8),
    "erfinv": (erfinv, (-0.999, 0.999), 8),
    "exp": (math.exp, (-80, 80), 2),
    "exp10": (lambda x: math.pow(10.0, x), (-30, 30), 3),
    "exp2": (lambda x: math.pow(2.0, x), (-100, 100), 3),
    "expm1": (math.expm1, (-80, 80), 2),
    "fabs": (abs, (-100, 100), 0),
    "floor": (np.floor, (-100, 100), 0),
    "j0": (lambda x: bessel_j(0, x), (-20, 20), math.inf),
    "j1": (lambda x: bessel_j(1, x), (-20, 20), math.inf),
    "lgamma": (math.lgamma, (3, 100), 6),
    "log": (math.log, (1e-30, 1e30), 2),
    "log10": (math.log10, (1e-30, 1e30), 3),
    "log1p": (math.log1p, (-0.99, 100), 2),
    "log2": (math.log2, (1e-30, 1e30), 3),
    "logb": (lambda x: math.frexp(x)[1] - 1, (1e-30, 1e30), 0),
    "nearbyint": (np.rint, (-100, 100), 0),
    "normcdf": (erfc_half, (-12, 6), 6),
    "normcdfinv": (lambda p: -math.sqrt(2) * erfcinv(2 * p), (1e-30, 0.999), 9),
    "rcbrt": (lambda x: math.copysign(abs(x) ** (-1 / 3), x), (0.01, 100), 4),
    "rint": (np.rint, (-100, 100), 0),
    "round": (lambda x: math.copysign(math.floor(abs(x) + 0.5), x), (-100, 100), 0),
    "rsqrt": (lambda x: 1 / math.sqrt(x), (1e-30, 1e30), 3),
    "sin": (math.sin, (-100, 100), 2),
    "sinh": (math.sinh, (-80, 80), 4),
    "sinpi": (sign_pi(math.sin, 0), (-100, 100), 2),
    "sqrt": (math.sqrt, (0, 1e30), 1),
    "tan": (math.tan, (-100, 100), 4),
    "tanh": (math.tanh, (-10, 10), 3),
    "tgamma": (math.gamma, (0.1, 20), 12),
    "trunc": (np.trunc, (-100, 100), 0),
    "y0": (lambda x: bessel_y(0, x), (0.5, 20), math.inf),
    "y1": (lambda x: bessel_y(1, x), (0.5, 20), math.inf),
}
# Of these only an absolute error is bounded, near their zeros.
BESSEL = ("j0", "j1", "y0", "y1", "jn", "yn")
FAST = {
    "__cosf": (math.cos, (-3, 3)),
    "__exp10f": (lambda x: 10.0**x, (-3, 3)),
    "__expf": (math.exp, (-3, 3)),
    "__log10f": (math.log10, (0.1, 100)),
    "__log2f": (math.log2, (0.1, 100)),
    "__logf": (math.log, (0.1, 100)),
    "__saturatef": (lambda x: min(max(x, 0.0), 1.0), (-2, 2)),
    "__sinf": (math.sin, (-3, 3)),
    "__tanf": (math.tan, (-1, 1)),
    "__tanhf": (math.tanh, (-3, 3)),
    "__frsqrt_rn": (lambda x: 1 / math.sqrt(x), (0.1, 100)),
}
# Of two or three arguments in [0.5, 20].
SEVERAL = {
    "atan2": (2, math.atan2, 3),
    "copysign": (2, math.copysign, 0),
    "fdim": (2, lambda x, y: max(x - y, 0.0), 0),
    "fma": (3, lambda x, y, z: float(Fraction(x) * Fraction(y) + Fraction(z)), 0.51),
    "fmax": (2, max, 0),
    "fmin": (2, min, 0),
    "fmod": (2, math.fmod, 0),
    "hypot": (2, norm, 3),
    "nextafter": (2, None, 0),
    "norm3d": (3, norm, 4),
    "pow": (2, math.pow, 9),
    "remainder": (2, math.remainder, 0),
    "rhypot": (2, lambda *v: 1 / norm(*v), 4),
    "rnorm3d": (3, lambda *v: 1 / norm(*v), 4),
    "fdivide": (2, lambda x, y: x / y, 4),
}
# Bodies of functions of x, y, z in [0.5, 20] with variables int e and T r, t; "@" is the suffix of
# the type T: (code, reference, result, ulps).
MIXED = {
    "frexp": ("t = frexp@(x, &e); return t + e;", lambda x, y, z: sum(math.frexp(x)), None, 1),
    "modf": (
        "t = modf@(x, &r); return t + r * 1000;",
        lambda x, y, z: math.modf(x)[0] + 1000 * int(x),
        None,
        1,
    ),
    "remquo": (
        "t = remquo@(x, y, &e); return t + (e & 7) * 100;",
        lambda x, y, z: remquo(x, y),
        None,
        1,
    ),
    "sincos": (
        "sincos@(x, &r, &t); return r - t;",
        lambda x, y, z: math.sin(x) - math.cos(x),
        None,
        math.inf,
    ),
    "sincospi": (
        "sincospi@(x, &r, &t); return r * t;",
        lambda x, y, z: sin_cos_pi(x),
        None,
        math.inf,
    ),
    "ldexp": ("return ldexp@(x, 3);", lambda x, y, z: x * 8, None, 0),
    "scalbn": ("return scalbn@(x, -3);", lambda x, y, z: x / 8, None, 0),
    "scalbln": ("return scalbln@(x, 2l);", lambda x, y, z: x * 4, None, 0),
    "jn": ("return jn@(2, x);", lambda x, y, z: bessel_j(2, x), None, math.inf),
    "yn": ("return yn@(2, x);", lambda x, y, z: bessel_y(2, x), None, math.inf),
    "norm4d": ("return norm4d@(x, y, z, x);", lambda x, y, z: norm(x, y, z, x), None, 4),
    "rnorm4d": ("return rnorm4d@(x, y, z, y);", lambda x, y, z: 1 / norm(x, y, z, y), None, 4),
    "norm": ("const T v[] = {x, y, z}; return norm@(3, v);", norm, None, 4),
    "rnorm": ("const T v[] = {x, y, z}; return rnorm@(3, v);", lambda *v: 1 / norm(*v), None, 4),
    "nan": ('return nan@("");', lambda x, y, z: math.nan, None, 0),
    "ilogb": ("return ilogb@(x);", lambda x, y, z: math.frexp(x)[1] - 1, "int32", 0),
    "lrint": ("return lrint@(x);", lambda x, y, z: round(x), "int64", 0),
    "llrint": ("return llrint@(x);", lambda x, y, z: round(x), "int64", 0),
    "lround": ("return lround@(x);", lambda x, y, z: math.floor(x + 0.5), "int64", 0),
    "llround": ("return llround@(x);", lambda x, y, z: math.floor(x + 0.5), "int64", 0),
}
PREDICATES = {
    "isfinite": math.isfinite,
    "isinf": math.isinf,
    "isnan": math.isnan,
    "signbit": lambda x: math.copysign(1, x) < 0,
}


def remquo(x, y):
    quotient = round(Fraction(x) / Fraction(y))
    return float(Fraction(x) - quotient * Fraction(y)) + (quotient & 7) * 100


def sin_cos_pi(x):
    return UNARY["sinpi"][0](x) * UNARY["cospi"][0](x)


def mixed_function(name, suffix):
    body, reference, result, ulps = MIXED[name]
    real = "float32" if suffix else "float64"
    body = body.replace("@", suffix)
    code = (
        f"[&] {{ typedef {'float' if suffix else 'double'} T; int e = 0; T r = 0, t = 0; "
        f"(void)e; (void)r; (void)t; {body} }}()"
    )
    return Function(
        (name + suffix,), code, lambda *v: reference(*map(float, v)), result or real, ulps
    )
