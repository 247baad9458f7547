# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Elementwise functions composed of ufuncs of `_core`, comparisons of whole arrays, and softmax.

`_core._operand` leaves the variables of graphs as they are; `_core._asarray` is for functions that
compute at once, and takes dtype, device and copy."""

from __future__ import annotations

import functools
from math import pi
from typing import Any

from .. import _core
from .._core import Array, _asarray as asarray
from .shape import as_arrays


def clip(a: Any, min: Any = None, max: Any = None, out: Any = None, **options: Any) -> Any:
    """`a` limited to [`min`, `max`], or [`a_min`, `a_max`], as numpy.clip. None is no limit, and
    neither is a `min` below, or a `max` above, all values of the integer dtype of `a`. Takes the
    options of ufuncs."""
    if "a_min" in options or "a_max" in options:
        if min is not None or max is not None:
            raise _core.ArgumentError("clip: expected min and max, or a_min and a_max, got both")
        min, max = options.pop("a_min", None), options.pop("a_max", None)
    _check_options("clip", options, "min, max, a_min, a_max, out")
    try:
        if min is None and max is None:
            return _core.positive(a, out=out, **options)
        if max is None:
            return _core.maximum(a, min, out=out, **options)
        if min is None:
            return _core.minimum(a, max, out=out, **options)
        return _core._clip(a, min, max, out=out, **options)
    except OverflowError:  # a Python integer that the dtype of `a` cannot hold
        low, high = _limits_within(a, min, max)
        if low is min and high is max:
            raise
        return clip(a, low, high, out, **options)


_UFUNC_OPTIONS = ("where", "casting", "order", "dtype", "subok")


def _check_options(caller: str, options: dict[str, Any], own: str) -> None:
    """Raises TypeError for an option that the ufuncs, to which `caller` passes them, do not have."""
    for name in options:
        if name not in _UFUNC_OPTIONS:
            raise TypeError(
                f"{caller}() has no argument '{name}'; it has {own}, {', '.join(_UFUNC_OPTIONS[:-1])}"
            )


def _limits_within(a: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """The limits, with None for a Python integer beyond the range of the dtype of `a`."""
    from .array_api import iinfo

    dtype = _core._operand(a).dtype
    if dtype.kind not in "iu":
        return low, high
    info = iinfo(dtype)
    return (
        None if type(low) is int and low < info.min else low,
        None if type(high) is int and high > info.max else high,
    )


def angle(z: Any, deg: bool = False, **options: Any) -> Any:
    """The angle of each element with the positive real axis, in radians, or in degrees with `deg`,
    as numpy.angle. Takes the options of ufuncs."""
    z = _core._operand(z)
    if z.dtype == "bool":
        z = z.astype("float64")  # NumPy's result dtype
    radians = _core._angle(z, **options)
    if not deg:
        return radians
    # As NumPy: the factor is cast to the dtype of the array.
    return _core.multiply(
        radians, 180.0 / pi, out=options.get("out"), where=options.get("where", True)
    )


def copyto_where(dst: Any, src: Any, casting: str, where: Any) -> None:
    """copyto() with where=: writes the elements of `src` to `dst` where the mask `where` is true;
    `src` and `where` are broadcast to the shape of `dst`. Raises DTypeError for a cast that
    `casting` does not allow."""
    target = _core._output_array(dst, "copyto")
    if isinstance(src, (bool, int, float, complex)):
        # NEP 50: a Python number takes the target's dtype where that can hold it.
        source_dtype = _core.result_type(target, src)
        if source_dtype == target.dtype:
            src = _core.full((), src, target.dtype, device="cpu")
    else:
        src = _core._asarray(src, device=target.device if isinstance(src, (list, tuple)) else None)
        source_dtype = src.dtype
    if not _core.can_cast(source_dtype, target.dtype, casting):
        raise _core.DTypeError(
            f"copyto: cannot cast {source_dtype} to {target.dtype} under casting={casting!r}; allow more "
            'with casting="unsafe"'
        )
    if isinstance(where, (list, tuple)):
        where = _core._asarray(where, device=target.device)
    is_mask = getattr(where, "dtype", None) == "bool"
    if is_mask and source_dtype == target.dtype and target.device.kind == "cpu":
        _core._where(where, src, target, out=target)  # the mask of a ufunc takes longer
    else:
        _core._where(True, src, src, out=target, where=where, casting=casting)


def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    """Elements of `x` where `condition` is true, of `y` elsewhere; nonzero(condition) without `x`
    and `y`. Raises ValueError for only one of them."""
    if x is None and y is None:
        return _core.nonzero(condition)
    if x is None or y is None:
        raise ValueError(
            "where: either both or neither of x and y should be given; for the indices of true "
            "elements use nonzero()"
        )
    return _core._where(condition, x, y)


def as_real(array: _core.Array) -> _core.Array:
    """`array` in the dtype of the results of modf, frexp and ldexp, which is that of fabs. Raises
    TypeError for complex numbers."""
    # A scalar determines the dtype without computing on the array.
    dtype = _core.fabs(_core.zeros((), array.dtype, device="cpu")).dtype
    return array.astype(dtype, copy=False)


def modf(x: Any, /) -> tuple[Any, Any]:
    """(fractional part, integral part) of each element, both with its sign, as numpy.modf."""
    array = as_real(_core._asarray(x))
    integral = _core.trunc(array)
    # inf - inf would be NaN; NumPy's fractional part of inf is 0.
    fraction = _core._where(_core.isinf(integral), 0.0, _core.subtract(array, integral))
    return _core.copysign(fraction, integral), integral


def divmod(
    x1: Any, x2: Any, /, out: tuple[Any, Any] | None = None, **options: Any
) -> tuple[Any, Any]:
    """(floor_divide(x1, x2), remainder(x1, x2)), as numpy.divmod."""
    if out is not None and len(out) != 2:
        raise ValueError(f"divmod: out=: expected a tuple of two arrays or None, got {len(out)}")
    _check_options("divmod", options, "out")
    # Both are computed before either is written: an operand may be one of the two outputs.
    results = _core.floor_divide(x1, x2, **options), _core.remainder(x1, x2, **options)
    if out is None:
        return results
    check_separate("divmod", out)
    where = options.get("where", True)
    return tuple(
        result if target is None else _core.positive(result, out=target, where=where)
        for result, target in zip(results, out, strict=True)
    )


def check_separate(caller: str, outputs: tuple[Any, ...]) -> None:
    """Raises LayoutError where two of `outputs`, arrays or None, share memory, since one result would
    replace the other; CopyNeededError, ReadOnlyError for arrays that cannot be written."""
    arrays = [_core._output_array(x, caller) for x in outputs if x is not None]
    for i, array in enumerate(arrays):
        if any(_core.may_share_memory(array, other) for other in arrays[:i]):
            raise _core.LayoutError(
                f"{caller}: two of the outputs share memory; pass separate arrays"
            )


def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """`a` rounded to `decimals` decimal places, halves to even, as numpy.round. Raises DTypeError
    for bool and decimals != 0."""
    a = a if isinstance(a, _core.Variable) else _core._asarray(a)
    if a.dtype == "bool" and decimals != 0:
        raise _core.DTypeError(
            f"round: cannot round bool to {decimals} places; cast it first: a.astype('float64')"
        )
    is_integer = a.dtype.kind in "iu"
    if decimals == 0 or (is_integer and decimals > 0):
        return _core.positive(a, out=out) if is_integer else _core.rint(a, out=out)
    scale = 10.0 ** abs(decimals)
    if decimals > 0:
        return _core.divide(_core.rint(a * scale), scale, out=out)
    scaled = _core.rint(_core.divide(a, scale))
    if not is_integer:
        return _core.multiply(scaled, scale, out=out)
    result = _core.multiply(scaled, scale).astype(a.dtype)
    return result if out is None else _core.positive(result, out=out)


around = round


def real(x: Any) -> Any:
    """The real part: a view for complex arrays, `x` itself for real ones."""
    return _part(x, 0)


def imag(x: Any) -> Any:
    """The imaginary part: a view for complex arrays, new zeros for real ones."""
    return _part(x, 1)


def _part(x: Any, index: int) -> Any:
    """The real (0) or imaginary (1) part of `x`."""
    x = _core._asarray(x)
    if x.dtype.kind == "c":
        part = "float32" if x.dtype.itemsize == 8 else "float64"
        # The new last axis holds both parts of one element, for any strides of x.
        return x[..., None].view(part)[..., index]
    return x if index == 0 else _core.zeros_like(x)


# ---- frexp and ldexp ----

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
    if array.device.kind == "cuda":
        return _ldexp_kernel(_ctype_of(array))(array, exponents.astype("int64", copy=False))
    import numpy as np

    if exponents.dtype.itemsize >= 4 and exponents.dtype != "int32":  # NumPy's are of type int
        exponents = clip(exponents, -_MAX_EXPONENT, _MAX_EXPONENT)
    with np.errstate(all="ignore"):
        result = np.ldexp(_to_numpy(array), exponents.astype("int32", copy=False).numpy())
    return _core._asarray(result, device=array.device).astype(array.dtype, copy=False)


def _ctype_of(array: Any) -> str:
    """The C type to compute in."""
    return "double" if str(array.dtype) == "float64" else "float"


def _to_numpy(array: Any) -> Any:
    dtype = "float64" if _ctype_of(array) == "double" else "float32"
    return array.astype(dtype, copy=False).numpy()


@functools.cache
def _frexp_kernel(ctype: str) -> Any:
    from ..kernels._user_kernels import ElementwiseKernel

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
def _ldexp_kernel(ctype: str) -> Any:
    from ..kernels._user_kernels import ElementwiseKernel

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


# ---- Softmax, of arrays and of variables of graphs ----


def softmax(x: Any, axis: int | None = -1) -> Any:
    """exp(x) / sum(exp(x)) along `axis` (None: over all elements), without overflow of large
    `x`."""
    values = _core._operand(x)
    result = _core._softmax(values, axis, False)
    if result is not None:
        return result
    powers = _core.exp(_shifted(values, axis))
    return powers / _core.sum(powers, axis, keepdims=True)


def log_softmax(x: Any, axis: int | None = -1) -> Any:
    """log(softmax(x)), accurate also where softmax(x) underflows to 0."""
    values = _core._operand(x)
    result = _core._softmax(values, axis, True)
    if result is not None:
        return result
    shifted = _shifted(values, axis)
    return shifted - _core.log(_core.sum(_core.exp(shifted), axis, keepdims=True))


def _shifted(values: Any, axis: int | None) -> Any:
    """The values minus their maximum along `axis`, so that exp() does not overflow."""
    return values - _core.max(values, axis, keepdims=True)


# ---- Comparisons of arrays ----


def _on_one_device(a: Any, b: Any) -> tuple[Array, Array]:
    """Both as arrays on one device, a GPU if one of them is on it. The other is copied, which is
    acceptable since the callers return host values."""
    x, y = as_arrays(a, b)
    if x.device == y.device:
        return x, y
    return (x, y.to(x.device)) if y.device.kind == "cpu" else (x.to(y.device), y)


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Whether shapes and all elements are equal. The arrays may be on different devices; waits for
    the result."""
    first, second = _on_one_device(a1, a2)
    if first.shape != second.shape:
        return False
    same = _core.equal(first, second)
    if equal_nan:
        same = same | (_core.not_equal(first, first) & _core.not_equal(second, second))
    return bool(same.all())


def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Array:
    """Elementwise |a - b| <= atol + rtol * |b|, as numpy.isclose, as a bool array. An infinity is
    close only to an equal one.

    Python numbers take the dtype of the other operand.
    """
    x, y = _number_or_array(a), _number_or_array(b)
    if isinstance(y, Array):  # as floats: abs() of the least integer overflows
        y = y.astype(_core.result_type(y, 1.0), copy=False)
    elif isinstance(y, int):
        y = float(y)
    within = _core.less_equal(_core.absolute(_core.subtract(x, y)), abs(y) * rtol + atol)
    close = (within & _core.isfinite(y)) | _core.equal(x, y)
    if equal_nan:
        close = close | (_core.not_equal(x, x) & _core.not_equal(y, y))
    return close  # type: ignore[no-any-return]


def _number_or_array(x: Any) -> Any:
    return x if isinstance(x, (int, float, complex)) else asarray(x)


def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> bool:
    """Whether isclose() holds for all elements. The arrays may be on different devices; waits for
    the result."""
    if not isinstance(a, (int, float, complex)) and not isinstance(b, (int, float, complex)):
        a, b = _on_one_device(a, b)
    return bool(isclose(a, b, rtol, atol, equal_nan).all())


def contains(array: Array, key: Any) -> bool:
    """Whether any element of `array` equals `key`; waits for the result."""
    same = array == key  # unlike equal(), `==` does not raise for a `key` that is no array
    return bool(same.any()) if isinstance(same, Array) else False
