# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of NumPy's that are a few operations of Spanwise's, for arrays on a GPU (NumPy computes those
on the CPU): with NumPy's names, parameters and results. A function returns NotImplemented for arguments
that it does not take."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from math import pi
from typing import Any

from .. import _core
from .._core import Array, _asarray as asarray
from .elementwise import where
from .lines import diff, searchsorted
from .shape import as_arrays, lib, moveaxis, normalized_axis

# ---- Elements ----


def _floating(x: Any) -> Array:
    """The array, integers in float64."""
    array = asarray(x)
    return array.astype("float64") if array.dtype.kind in "bui" else array


def _is_real(x: Array) -> bool:
    return x.dtype.kind != "c"


def iscomplex(x: Any) -> Array:
    x = asarray(x)
    return _core.zeros(x.shape, "bool", device=x.device) if _is_real(x) else x.imag != 0


def isreal(x: Any) -> Array:
    x = asarray(x)
    return _core.ones(x.shape, "bool", device=x.device) if _is_real(x) else x.imag == 0


def _is_infinity(x: Any, infinity: float) -> Any:
    x = asarray(x)
    return x == infinity if _is_real(x) else NotImplemented


def fix(x: Any) -> Array:
    return _core.trunc(x)  # type: ignore[no-any-return]


def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    x = asarray(x)
    if x.dtype.kind not in "fV" or not copy:
        return NotImplemented
    from .array_api import finfo

    limits = finfo(x.dtype)
    posinf, neginf = (
        limits.max if posinf is None else posinf,
        limits.min if neginf is None else neginf,
    )
    values = where(_core.isnan(x), nan, x)
    values = where(x == float("inf"), posinf, values)
    return where(x == float("-inf"), neginf, values).astype(x.dtype)


def sinc(x: Any) -> Any:
    x = _floating(x)
    angle = pi * where(x == 0, 1e-20 if x.dtype.itemsize > 2 else 1e-4, x).astype(x.dtype)
    return _core.sin(angle) / angle


def spacing(x: Any) -> Any:
    x = _floating(x)
    if x.dtype.kind != "f" or x.dtype.itemsize == 2:
        return NotImplemented
    return _core.nextafter(x, _core.copysign(float("inf"), x)) - x


@functools.cache
def _kernel(signature: str, text: str) -> Any:
    from ..kernels._user_kernels import ElementwiseKernel

    inputs, output = signature.split(" -> ")
    return ElementwiseKernel(inputs, output, text, "spanwise_composed")


def _gcd(x1: Any, x2: Any) -> Any:
    dtype = _core.result_type(*(x if isinstance(x, int) else asarray(x) for x in (x1, x2)))
    if dtype.kind not in "iu":
        return NotImplemented
    x1, x2 = as_arrays(x1, x2)
    text = "T a = x < 0 ? -x : x, b = y < 0 ? -y : y; while (b != 0) { T r = a % b; a = b; b = r; } z = a"
    return _kernel("T x, T y -> T z", text)(x1.astype(dtype), x2.astype(dtype))


def _lcm(x1: Any, x2: Any) -> Any:
    divisor = _gcd(x1, x2)
    if divisor is NotImplemented:
        return divisor
    x1, x2 = (x.astype(divisor.dtype) for x in as_arrays(x1, x2))
    return _core.absolute(x1 // _core.maximum(divisor, 1) * x2)


def bitwise_count(x: Any) -> Any:
    x = asarray(x)
    if x.dtype.kind not in "iu":
        return NotImplemented
    x = _core.absolute(x).view(f"uint{x.dtype.bits}").astype("uint64")
    text = "unsigned long long v = x; int n = 0; while (v != 0) { v &= v - 1; ++n; } z = n"
    return _kernel("uint64 x -> uint8 z", text)(x)


def isfortran(a: Any) -> bool:
    return bool(a.flags.fnc)


def array_equiv(a1: Any, a2: Any) -> bool:
    a1, a2 = as_arrays(a1, a2)
    try:
        return bool((a1 == a2).all())
    except ValueError:  # shapes that do not broadcast
        return False


# ---- Elements that are not NaN ----


def _without_nans(name: str, fill: Any) -> Callable[..., Any]:
    """The reduction or scan of the elements, `fill` for NaN."""

    def function(a: Any, axis: Any = None, **options: Any) -> Any:
        a = asarray(a)
        if a.dtype.kind in "fc":
            a = where(_core.isnan(a), fill, a).astype(a.dtype)
        return getattr(_core, name)(a, axis=axis, **options)

    return function


def _extremum(name: str, fill: float) -> Callable[..., Any]:
    def function(a: Any, axis: Any = None, **options: Any) -> Any:
        a = asarray(a)
        if a.dtype.kind == "c" or a.size == 0 or {*options} - {"keepdims"}:
            return NotImplemented
        if a.dtype.kind != "f":
            return getattr(_core, name)(a, axis=axis, **options)
        nans = _core.isnan(a)
        result = getattr(_core, name)(where(nans, fill, a).astype(a.dtype), axis=axis, **options)
        nothing = nans.all(axis=axis, **options)
        if name.startswith("arg"):
            if bool(nothing.any()):
                raise ValueError("All-NaN slice encountered")
            return result
        return where(nothing, float("nan"), result).astype(a.dtype)

    return function


def nanmean(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    a = asarray(a)
    if a.dtype.kind not in "fc":
        return _core.mean(a, axis=axis, dtype=dtype, keepdims=keepdims)
    nans = _core.isnan(a)
    total = where(nans, 0, a).astype(a.dtype).sum(axis=axis, dtype=dtype, keepdims=keepdims)
    count = (~nans).sum(axis=axis, keepdims=keepdims)
    return (total / count).astype(total.dtype)


def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, *, ddof: float = 0, keepdims: bool = False
) -> Any:
    a = asarray(a)
    if a.dtype.kind not in "f" or dtype is not None:
        return NotImplemented
    nans = _core.isnan(a)
    deviation = where(nans, 0, a - nanmean(a, axis, keepdims=True)).astype(a.dtype)
    freedom = (~nans).sum(axis=axis, keepdims=keepdims) - ddof
    total = _core.square(deviation).sum(axis=axis, keepdims=keepdims)
    return where(freedom > 0, total / _core.maximum(freedom, 1e-300), float("nan")).astype(a.dtype)


def nanstd(a: Any, axis: Any = None, dtype: Any = None, **options: Any) -> Any:
    variance = nanvar(a, axis, dtype, **options)
    return variance if variance is NotImplemented else _core.sqrt(variance)


# ---- Statistics ----


def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    a = asarray(a)
    if weights is None:
        mean = _core.mean(a, axis=axis, keepdims=keepdims)
        count = _core.full(mean.shape, a.size / max(mean.size, 1), mean.dtype, device=a.device)
        return (mean, count) if returned else mean
    weights = asarray(weights, device=a.device)
    if weights.shape != a.shape:
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        axis = normalized_axis(axis, a.ndim, "average") if not isinstance(axis, tuple) else axis
        if isinstance(axis, tuple) or weights.ndim != 1:
            return NotImplemented
        if weights.size != a.shape[axis]:
            raise ValueError(
                "Shape of weights must be consistent with shape of a along specified axis."
            )
        weights = weights.reshape([-1 if i == axis else 1 for i in range(a.ndim)])
    dtype = _core.result_type(a, weights, "float64" if a.dtype.kind in "bui" else a.dtype)
    weights = weights.broadcast_to(a.shape).astype(dtype)
    total = weights.sum(axis=axis, keepdims=keepdims)
    if not bool((total != 0).all()):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    result = (a.astype(dtype) * weights).sum(axis=axis, keepdims=keepdims) / total
    return (result, total) if returned else result


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    m = _floating(m)
    if m.ndim > 2 or fweights is not None or aweights is not None or m.shape[-1:] == (0,):
        return NotImplemented

    def rows_of(x: Array) -> Array:
        return x.reshape(1, -1) if x.ndim < 2 else x if rowvar else x.T

    rows = rows_of(m).astype(dtype or _core.result_type(m, "float64"))
    if y is not None:
        rows = _core.concatenate([rows, rows_of(_floating(y)).astype(rows.dtype)])
    freedom = rows.shape[1] - (ddof if ddof is not None else 0 if bias else 1)
    if freedom <= 0:
        return NotImplemented
    rows = rows - rows.mean(axis=1, keepdims=True)
    return (rows @ _core.conjugate(rows.T) / freedom).squeeze()


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    c = cov(x, y, rowvar, dtype=dtype)
    if c is NotImplemented or c.ndim == 0:
        return NotImplemented
    deviations = _core.sqrt(c.diagonal().real)
    c = c / deviations[:, None] / deviations[None, :]
    if c.dtype.kind == "c":
        return NotImplemented
    return _core.minimum(_core.maximum(c, -1), 1)


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    x = asarray(x)
    if x.ndim != 1 or x.dtype.kind not in "bui" or x.dtype == "uint64":
        return NotImplemented
    minlength = operator.index(minlength)
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if x.size and int(x.min()) < 0:
        raise ValueError("'list' argument must have no negative elements")
    length = max(int(x.max()) + 1 if x.size else 0, minlength)
    if weights is not None:
        weights = asarray(weights, device=x.device).astype("float64")
        if weights.shape != x.shape:
            raise ValueError("The weights and list don't have the same length.")
    counts = _core.zeros(length, "int64" if weights is None else "float64", device=x.device)
    _core.add.at(counts, x.astype("int64"), 1 if weights is None else weights)
    return counts


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    a = asarray(a)
    if isinstance(bins, str) or a.dtype.kind == "c":
        return NotImplemented
    if getattr(bins, "ndim", 0) == 1 or isinstance(bins, list | tuple):
        edges = asarray(bins, device=a.device)
        if bool((edges[1:] < edges[:-1]).any()):
            raise ValueError("`bins` must increase monotonically, when an array")
        return edges
    count = operator.index(bins)
    if count < 1:
        raise ValueError("`bins` must be positive, when an integer")
    low, high = (
        range if range is not None else (float(a.min()), float(a.max())) if a.size else (0.0, 1.0)
    )
    if not (abs(low) < float("inf") and abs(high) < float("inf")) or low > high:
        raise ValueError(f"expected a finite, increasing range of bins, got [{low}, {high}]")
    if low == high:
        low, high = low - 0.5, high + 0.5
    dtype = _core.result_type(a, "float64" if a.dtype.kind in "bui" else a.dtype)
    return _core.linspace(low, high, count + 1, dtype=dtype, device=a.device)


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> Any:
    a = asarray(a)
    edges = histogram_bin_edges(a, bins, range)
    if edges is NotImplemented or a.dtype.itemsize == 2:
        return NotImplemented
    values = a.ravel()
    if weights is not None:
        weights = asarray(weights, device=a.device)
        if weights.shape != a.shape:
            raise ValueError("weights should have the same shape as a.")
        weights = weights.ravel()
    inside = (values >= edges[0]) & (values <= edges[-1])
    values = values[inside]
    place = _core.minimum(searchsorted(edges, values, "right") - 1, edges.size - 2)
    counts = bincount(place, None if weights is None else weights[inside], edges.size - 1)
    if weights is not None and weights.dtype.kind in "iu":
        counts = counts.astype(weights.dtype)
    if density:
        counts = counts / diff(edges) / counts.sum()
    return counts, edges


# ---- Vectors and matrices ----


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    ary = asarray(ary).ravel()
    ends = [
        None if x is None else asarray(x, device=ary.device).ravel() for x in (to_begin, to_end)
    ]
    if any(x is not None and not _core.can_cast(x.dtype, ary.dtype, "same_kind") for x in ends):
        raise TypeError("dtype of `to_begin` or `to_end` must be compatible with input `ary`")
    between = ary[1:] - ary[:-1]
    parts = [ends[0], between, ends[1]]
    return _core.concatenate([x.astype(between.dtype) for x in parts if x is not None])


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    y = asarray(y)
    y = moveaxis(y, normalized_axis(axis, y.ndim, "trapezoid"), -1)
    if x is not None:
        x = asarray(x, device=y.device)
        dx = diff(x) if x.ndim == 1 else diff(moveaxis(x, axis, -1))
    return (dx * (y[..., 1:] + y[..., :-1]) / 2.0).sum(axis=-1)


def kron(a: Any, b: Any) -> Any:
    a, b = as_arrays(a, b)
    rank = max(a.ndim, b.ndim)
    a, b = a.reshape((1,) * (rank - a.ndim) + a.shape), b.reshape((1,) * (rank - b.ndim) + b.shape)
    left = a.reshape([n for extent in a.shape for n in (extent, 1)])
    right = b.reshape([n for extent in b.shape for n in (1, extent)])
    return (left * right).reshape([m * n for m, n in zip(a.shape, b.shape, strict=True)])


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    a, b = as_arrays(a, b)
    if axis is not None:
        axisa = axisb = axisc = axis
    a = moveaxis(a, normalized_axis(axisa, a.ndim, "cross"), -1)
    b = moveaxis(b, normalized_axis(axisb, b.ndim, "cross"), -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        if a.shape[-1] in (2, 3) and b.shape[-1] in (2, 3):
            return NotImplemented
        raise ValueError(
            f"incompatible dimensions for cross product (dimension must be 2 or 3), got {a.shape[-1]} and {b.shape[-1]}"
        )
    (a0, a1, a2), (b0, b1, b2) = ([x[..., i] for i in range(3)] for x in (a, b))
    parts = [a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0]
    return moveaxis(_core.stack(parts, axis=-1), -1, axisc)


def _linalg_cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    x1, x2 = as_arrays(x1, x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(
            f"Both input arrays must be (arrays of) 3-dimensional vectors, got {x1.shape[axis]} and {x2.shape[axis]}"
        )
    return cross(x1, x2, axis=axis)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:  # noqa: N803
    x = asarray(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    count = x.size if N is None else operator.index(N)
    result = _core.ones((x.size, count), _core.result_type(x, int), device=x.device)
    powers = result if increasing else result[:, ::-1]
    for i in range(1, count):
        powers[:, i] = powers[:, i - 1] * x
    return result


def polyval(p: Any, x: Any) -> Any:
    p, x = as_arrays(p, x)
    if p.ndim != 1:
        return NotImplemented
    result = _core.zeros(x.shape, x.dtype, device=x.device)
    for i in range(p.size):
        result = result * x + p[i]
    return result


def convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    a, v = as_arrays(a, v)
    if a.size < v.size:
        a, v = v, a
    return _sliding("convolve", a, v[::-1] if v.ndim == 1 else v, mode)


def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    a, v = as_arrays(a, v)
    v = _core.conjugate(v) if v.dtype.kind == "c" else v
    if a.size >= v.size:
        return _sliding("correlate", a, v, mode)
    result = _sliding("correlate", v, a, mode)
    return result if result is NotImplemented else result[::-1]


def _sliding(caller: str, a: Array, v: Array, mode: Any) -> Any:
    """Products of `v` with the windows of `a`, which is not shorter."""
    if a.ndim != 1 or v.ndim != 1 or mode not in ("full", "same", "valid"):
        return NotImplemented
    if v.size == 0:
        raise ValueError(f"{caller}: expected vectors with elements, got {a.size} and {v.size}")
    before = {"full": v.size - 1, "same": v.size // 2, "valid": 0}[mode]
    after = {"full": v.size - 1, "same": v.size - 1 - v.size // 2, "valid": 0}[mode]
    dtype = _core.result_type(a, v)
    if dtype.kind == "b" or dtype.itemsize == 2:
        return NotImplemented
    padded = _core.zeros(a.size + before + after, dtype, device=a.device)
    padded[before : before + a.size] = a
    return lib.stride_tricks.sliding_window_view(padded, v.size) @ v.astype(dtype)


def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    device = next((a.device for a in (x, xp, fp) if isinstance(a, Array)), None)
    x, xp = asarray(x, "float64", device=device), asarray(xp, "float64", device=device)
    fp = asarray(fp, device=device)
    if (
        period is not None
        or fp.dtype.kind == "c"
        or xp.size < 2
        or xp.shape != fp.shape
        or xp.ndim != 1
    ):
        return NotImplemented
    fp = fp.astype("float64")
    place = searchsorted(xp, x, "right") - 1
    lower = _core.minimum(_core.maximum(place, 0), max(xp.size - 2, 0))
    upper = _core.minimum(lower + 1, xp.size - 1)
    x0, y0 = xp[lower], fp[lower]
    width = where(upper == lower, 1.0, xp[upper] - x0)
    result = (fp[upper] - y0) / width * (x - x0) + y0
    result = where(x == xp[-1], fp[-1], result)
    result = where(x > xp[-1], fp[-1] if right is None else right, result)
    result = where(x < xp[0], fp[0] if left is None else left, result)
    return where(_core.isnan(x), x, result)


def unwrap(p: Any, discont: float | None = None, axis: int = -1, *, period: float = 2 * pi) -> Any:
    p = asarray(p)
    if p.dtype.kind in "bui" or p.size == 0:
        return NotImplemented
    axis = normalized_axis(axis, p.ndim, "unwrap")
    step = diff(p, axis=axis)
    half = period / 2
    wrapped = _core.remainder(step + half, period) - half
    wrapped = where((wrapped == -half) & (step > 0), half, wrapped)
    limit = half if discont is None else max(discont, half)
    change = where(_core.absolute(step) < limit, 0, wrapped - step)
    first = (slice(None),) * axis + (slice(1, None),)
    result = p.copy()
    result[first] = p[first] + _core.cumsum(change, axis=axis)
    return result


def packbits(a: Any, axis: int | None = None, bitorder: str = "big") -> Any:
    a = asarray(a)
    if a.dtype.kind not in "bui" or bitorder not in ("big", "little"):
        return NotImplemented
    if axis is None:
        a, axis = a.ravel(), 0
    a = moveaxis(a, normalized_axis(axis, a.ndim, "packbits"), -1) != 0
    groups = -(-a.shape[-1] // 8)
    bits = _core.zeros((*a.shape[:-1], groups * 8), "uint8", device=a.device)
    bits[..., : a.shape[-1]] = a
    bits = bits.reshape(*a.shape[:-1], groups, 8)
    return moveaxis((bits << _shifts(bitorder, a.device)).sum(axis=-1, dtype="uint8"), -1, axis)


def unpackbits(
    a: Any, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> Any:
    a = asarray(a)
    if a.dtype != "uint8" or bitorder not in ("big", "little") or count is not None:
        return NotImplemented
    if axis is None:
        a, axis = a.ravel(), 0
    a = moveaxis(a, normalized_axis(axis, a.ndim, "unpackbits"), -1)
    bits = (a[..., None] >> _shifts(bitorder, a.device)) & 1
    return moveaxis(bits.reshape(*a.shape[:-1], a.shape[-1] * 8), -1, axis)


def _shifts(bitorder: str, device: Any) -> Array:
    shifts = _core.arange(8, dtype="uint8", device=device)
    return shifts if bitorder == "little" else shifts[::-1]


def diag_indices_from(arr: Any) -> tuple[Array, ...]:
    if arr.ndim < 2 or {*arr.shape} != {arr.shape[0]}:
        raise ValueError(
            f"expected an array of two or more axes of one extent, got shape {arr.shape}"
        )
    return (_core.arange(arr.shape[0], device=arr.device),) * arr.ndim


def require(a: Any, dtype: Any = None, requirements: Any = None) -> Any:
    wanted = {str(x).upper().split("_")[0][0] for x in requirements or ()}
    if wanted - {*"CFOWAE"}:
        raise ValueError(f"require: expected the flags C, F, O, W, A and E, got {requirements}")
    if wanted >= {"C", "F"}:
        raise ValueError("Cannot specify both 'C' and 'F' order")
    order = "F" if "F" in wanted else "C" if "C" in wanted else None
    result = _core.asarray(a, dtype, order=order)
    if "W" in wanted and not result.flags.writeable:
        return result.copy()
    return result.copy() if "O" in wanted and not result.flags.owndata else result


def asfortranarray(a: Any, dtype: Any = None) -> Array:
    result = _core.asarray(a, dtype, order="F")
    return result if result.ndim else result.reshape(1)  # type: ignore[no-any-return]


def shares_memory(a: Any, b: Any, max_work: Any = None) -> Any:
    return False if not _core.may_share_memory(a, b) else NotImplemented


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "array_equiv": array_equiv,
    "asfortranarray": asfortranarray,
    "average": average,
    "bincount": bincount,
    "bitwise_count": bitwise_count,
    "convolve": convolve,
    "corrcoef": corrcoef,
    "correlate": correlate,
    "cov": cov,
    "cross": cross,
    "diag_indices_from": diag_indices_from,
    "ediff1d": ediff1d,
    "fix": fix,
    "gcd": _gcd,
    "histogram": histogram,
    "histogram_bin_edges": histogram_bin_edges,
    "interp": interp,
    "iscomplex": iscomplex,
    "isfortran": isfortran,
    "isneginf": functools.partial(_is_infinity, infinity=float("-inf")),
    "isposinf": functools.partial(_is_infinity, infinity=float("inf")),
    "isreal": isreal,
    "kron": kron,
    "lcm": _lcm,
    "linalg.cross": _linalg_cross,
    "nan_to_num": nan_to_num,
    "nanargmax": _extremum("argmax", float("-inf")),
    "nanargmin": _extremum("argmin", float("inf")),
    "nancumprod": _without_nans("cumprod", 1),
    "nancumsum": _without_nans("cumsum", 0),
    "nanmax": _extremum("max", float("-inf")),
    "nanmean": nanmean,
    "nanmin": _extremum("min", float("inf")),
    "nanprod": _without_nans("prod", 1),
    "nanstd": nanstd,
    "nanvar": nanvar,
    "packbits": packbits,
    "polyval": polyval,
    "require": require,
    "shares_memory": shares_memory,
    "sinc": sinc,
    "spacing": spacing,
    "trapezoid": trapezoid,
    "unpackbits": unpackbits,
    "unwrap": unwrap,
    "vander": vander,
}
