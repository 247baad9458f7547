# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""frexp and ldexp."""

from __future__ import annotations

import functools
from typing import Any

from .. import _core
from .._kernels.user_kernels import ElementwiseKernel
from .elementwise import as_real

# Exponents are clipped to this magnitude, far beyond the exponent range of float64, to fit in int.
_MAX_EXPONENT = 10_000

# Suffix of the C functions frexp and ldexp for a type; 16-bit floats are computed in float.
_SUFFIX = {"float": "f", "double": ""}


def frexp(x: Any, /) -> tuple[Any, Any]:
    """(mantissa, exponent) of each element, as numpy.frexp: x = mantissa * 2**exponent.

    |mantissa| is in [0.5, 1), the exponent int32; 0, infinity and NaN give themselves and exponent
    0. Results are new arrays on the device of `x`. Integers and bool are converted to the real
    dtype of the other ufuncs. Raises TypeError for complex numbers.
    """
    array = as_real(_core._asarray(x, device=getattr(x, "device", None)))
    if array.device.kind == "cuda":
        return _frexp_kernel(_ctype_of(array))(array)
    import numpy as np

    with np.errstate(all="ignore"):
        mantissa, exponent = np.frexp(_to_numpy(array))
    return (
        _core._asarray(mantissa, device=array.device).astype(array.dtype, copy=False),
        _core._asarray(exponent, device=array.device),
    )


def ldexp(x1: Any, x2: Any, /) -> Any:
    """x1 * 2**x2 of each element, rounded once, as numpy.ldexp.

    The result is a new array of the real dtype of `x1` (integers and bool as in the other ufuncs).
    Raises TypeError for exponents `x2` that are not of an integer dtype or are uint64, and for
    complex `x1`.
    """
    exponents = _core._asarray(x2, device=getattr(x1, "device", None))
    if exponents.dtype.kind not in "biu" or str(exponents.dtype) == "uint64":
        raise TypeError(
            f"ldexp: expected exponents of integers that int64 can hold, got {exponents.dtype}; "
            'convert them with .astype("int64")'
        )
    array = as_real(_core._asarray(x1, device=getattr(x1, "device", exponents.device)))
    exponents = exponents.astype("int64", copy=False)
    if array.device.kind == "cuda":
        return _ldexp_kernel(_ctype_of(array))(array, exponents)
    import numpy as np

    with np.errstate(all="ignore"):
        result = np.ldexp(_to_numpy(array), exponents.numpy().clip(-_MAX_EXPONENT, _MAX_EXPONENT))
    return _core._asarray(result, device=array.device).astype(array.dtype, copy=False)


def _ctype_of(array: Any) -> str:
    """The C type to compute in."""
    return "double" if str(array.dtype) == "float64" else "float"


def _to_numpy(array: Any) -> Any:
    dtype = "float64" if _ctype_of(array) == "double" else "float32"
    return array.astype(dtype, copy=False).numpy()


@functools.cache
def _frexp_kernel(ctype: str) -> ElementwiseKernel:
    return ElementwiseKernel(
        "T x",
        "T mantissa, int32 exponent",
        f"""
        const {ctype} number = ({ctype})x;
        int power = 0;
        const {ctype} fraction = frexp{_SUFFIX[ctype]}(number, &power);
        const bool is_finite = number - number == 0;
        mantissa = is_finite ? (T)fraction : x;
        exponent = is_finite ? power : 0;
        """,
        f"frexp_{ctype}",
    )


@functools.cache
def _ldexp_kernel(ctype: str) -> ElementwiseKernel:
    return ElementwiseKernel(
        "T x, int64 e",
        "T z",
        f"""
        const int limit = {_MAX_EXPONENT};
        const int exponent = e > limit ? limit : e < -limit ? -limit : (int)e;
        z = (T)ldexp{_SUFFIX[ctype]}(({ctype})x, exponent);
        """,
        f"ldexp_{ctype}",
    )
