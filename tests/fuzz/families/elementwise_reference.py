# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Reference results of elementwise operations, by NumPy, and their tolerances."""

import math

import numpy as np

from ..compare import UNSIGNED_ZEROS, Tolerance, wide_dtype
from ..values import (
    BFLOAT16,
    is_complex,
    is_inexact,
)

# Errors in units in the last place, documented in docs/concepts/elementwise.md. Other operations are
# exact.
ULPS = {
    **dict.fromkeys(["exp", "exp2"], 3),
    **dict.fromkeys(["expm1", "log", "log2", "log10", "log1p", "cbrt", "erf"], 4),
    **dict.fromkeys(["sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "angle"], 4),
    **dict.fromkeys(["sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh"], 4),
    **dict.fromkeys(["power", "float_power", "hypot", "logaddexp", "logaddexp2"], 4),
    **dict.fromkeys(["sigmoid", "softplus"], 5),
    **dict.fromkeys(["deg2rad", "rad2deg"], 1),
}

# Results may be +0 or -0: IEEE 754 leaves open which of them is the larger, and NumPy's
# nextafter(0.0, -0.0) is 0.0 for float16 and -0.0 for other floats.
_EITHER_ZERO = {"minimum", "maximum", "fmin", "fmax", "nextafter"}

# Errors of complex results, in units in the last place of the modulus.
COMPLEX_ULPS = {"cpu": 6, "cuda": 64}

# base**exponent is exp(exponent * log(base)): an error of one unit in the exponential's argument
# changes the result by as many units as the argument is large. _POWER_ULPS bounds the other errors.
_ARGUMENT_ULPS = 4
_POWER_ULPS = 800


def _sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + e), e / (1 + e))


def _softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _log1p(x):
    """NumPy's log1p of complex numbers is inexact near 0, where 1 + x loses the digits of x."""
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

REFERENCES = {
    "sigmoid": _sigmoid,
    "softplus": _softplus,
    "erf": lambda x: _erf(x).astype(x.dtype),
}


def _widened(values, dtype):
    """The values as the operation converts them to `dtype`, in a dtype of higher precision."""
    if not isinstance(values, np.ndarray):
        values = np.asarray(values)
    if is_complex(values.dtype) and not is_complex(dtype):
        dtype = np.dtype("complex64" if dtype.itemsize == 4 else "complex128")
    return values.astype(dtype).astype(wide_dtype(dtype))


def tolerance_of(context, name, values, dtype):
    """The tolerance of the operation `name`, which computes in `dtype` and returns it."""
    if not is_inexact(dtype):
        return Tolerance()

    def exact():
        wide = [_widened(v, dtype) for v in values]
        if name == "log1p":
            return _log1p(*wide)
        return (REFERENCES.get(name) or getattr(np, name))(*wide)

    if is_complex(dtype) or any(np.iscomplexobj(v) for v in values):
        ulps = _POWER_ULPS if "power" in name else COMPLEX_ULPS[context.device.kind]
        absolute = None if context.is_cpu else smallest_normal(dtype)
        if "power" in name:
            absolute = (absolute or 0) + _power_error(
                exact(), *(_widened(v, dtype) for v in values)
            )
        factor = 0 if context.is_cpu else 4
        return Tolerance(
            ulps,
            exact,
            absolute,
            nonfinite_in_either_part=True,
            signed_zeros=False,
            numpy_error_factor=factor,
        )
    if name in ("logaddexp", "logaddexp2") and not context.is_cpu:
        # The sum of the larger operand and a logarithm, which may cancel.
        with np.errstate(all="ignore"):
            larger = np.maximum(*(np.abs(_widened(v, dtype)) for v in values))
        absolute = 4 * float(np.finfo(dtype).eps if dtype != BFLOAT16 else 2.0**-7) * larger
        return Tolerance(ULPS[name] + 0.5, exact, np.where(np.isfinite(absolute), absolute, 0))
    if name in ULPS:
        # float16 and bfloat16 are computed in float32 and rounded once.
        return Tolerance(1.0 if dtype.itemsize == 2 else ULPS[name] + 0.5, exact)
    return UNSIGNED_ZEROS if name in _EITHER_ZERO else Tolerance()


def _power_error(result, base, exponent):
    """The change of the result if exponent * log(base) changes by _ARGUMENT_ULPS units in the last place."""
    with np.errstate(all="ignore"):
        argument = np.abs(exponent * np.log(base.astype(result.dtype)))
        narrow = np.finfo(np.float32 if result.dtype == np.complex128 else np.float64)
        error = _ARGUMENT_ULPS * narrow.eps * argument * np.abs(result)
    return np.where(np.isfinite(error), error, 0)


def smallest_normal(dtype):
    """The smallest normal number; subnormal numbers have fewer digits."""
    if dtype == BFLOAT16:
        return 2.0**-126
    return float(np.finfo(dtype).tiny)


def _in_bfloat16(name):
    """NumPy's operation on operands of which one is bfloat16: computed in float32, rounded once."""
    function = REFERENCES.get(name) or getattr(np, name)

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


def reference_of(name, values):
    """NumPy's function, or one with NumPy's rules, for the operands `values`."""
    if any(getattr(v, "dtype", None) == BFLOAT16 for v in values):
        return _in_bfloat16(name)
    if name in REFERENCES:
        return _by_definition(name)
    if name == "nextafter":
        return np.nextafter
    return getattr(np, name)


def _by_definition(name):
    """The function REFERENCES[name], computed in a wider dtype and rounded once."""

    def call(x):
        dtype = np.exp(np.empty(0, x.dtype)).dtype  # NumPy's rule for functions of floats
        if is_complex(dtype):
            raise TypeError(f"{name} of complex numbers")
        wide = x.astype(dtype).astype(wide_dtype(dtype))
        return REFERENCES[name](wide).astype(dtype)

    return call
