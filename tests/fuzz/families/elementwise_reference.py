# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The results of elementwise operations in NumPy, and how close ours must be."""

import math

import numpy as np

from ..compare import UNSIGNED_ZEROS, Close, wide_dtype
from ..values import (
    BFLOAT16,
    is_complex,
    is_inexact,
)

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
COMPLEX_ULPS = {"cpu": 6, "cuda": 64}

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

REFERENCES = {
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
        return (REFERENCES.get(name) or getattr(np, name))(*wide)

    if is_complex(dtype) or any(np.iscomplexobj(v) for v in values):
        ulps = _POWER_ULPS if "power" in name else COMPLEX_ULPS[context.device.kind]
        slack = None if context.is_cpu else least(dtype)
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


def least(dtype):
    """Below the least normal number there are fewer digits."""
    if dtype == BFLOAT16:
        return 2.0**-126
    return float(np.finfo(dtype).tiny)


def _in_bfloat16(name):
    """NumPy's operation where bfloat16 is among the operands: in float32, rounded once."""
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
    if any(getattr(v, "dtype", None) == BFLOAT16 for v in values):
        return _in_bfloat16(name)
    if name in REFERENCES:
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
        return REFERENCES[name](wide).astype(dtype)

    return call
