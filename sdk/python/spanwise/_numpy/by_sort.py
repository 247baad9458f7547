# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy's sorts, and functions that follow from one, on a GPU: with NumPy's names, parameters and
results, for arrays of any device. A function returns NotImplemented for arguments that it does not
take."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import _core
from .._core import Array, _asarray as asarray
from .elementwise import where
from .lines import diff, searchsorted
from .shape import normalized_axis


def sort(x: Any, axis: int | None = -1, kind: Any = None, *, descending: bool = False) -> Array:
    array, axis = _along(x, axis)
    if array.dtype.kind == "c":
        return _core.take_along_axis(array, _complex_order(array, axis, descending), axis)
    return _core._sort(array, axis, descending, True, False)  # type: ignore[no-any-return]


def argsort(x: Any, axis: int | None = -1, kind: Any = None, *, descending: bool = False) -> Array:
    array, axis = _along(x, axis)
    if array.dtype.kind == "c":
        return _complex_order(array, axis, descending)
    return _core._sort(array, axis, descending, False, True)  # type: ignore[no-any-return]


def _along(x: Any, axis: int | None) -> tuple[Array, int]:
    """The array, flattened for None, and its axis from 0 on."""
    array = asarray(x)
    if axis is None:
        array, axis = array.ravel(), 0
    return array, normalized_axis(axis, array.ndim, "sort")


def _complex_order(x: Array, axis: int, descending: bool) -> Array:
    """By real parts, then by imaginary parts; numbers with NaNs last, in NumPy's order."""
    nans = _core.isnan(x.real).astype("uint8") * 2 + _core.isnan(x.imag).astype("uint8")
    order = argsort(x.imag, axis, descending=descending)
    for key, reverse in ((x.real, descending), (nans, False)):
        by_key = argsort(_core.take_along_axis(key, order, axis), axis, descending=reverse)
        order = _core.take_along_axis(order, by_key, axis)
    return order


def partition(a: Any, kth: Any, axis: int | None = -1, kind: Any = None) -> Array:
    return sort(a, axis)


def argpartition(a: Any, kth: Any, axis: int | None = -1, kind: Any = None) -> Array:
    return argsort(a, axis)


def lexsort(keys: Any, axis: int = -1) -> Array:
    order = None
    for key in keys:
        key = asarray(key)
        if order is not None:
            key = _core.take_along_axis(key, order, axis)
        by_key = argsort(key, axis)
        order = by_key if order is None else _core.take_along_axis(order, by_key, axis)
    if order is None:
        raise TypeError("lexsort: expected at least one key")
    return order


# ---- Distinct elements


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: None = None,
    *,
    equal_nan: bool = True,
) -> Any:
    array = asarray(ar)
    if axis is not None or (array.dtype.kind == "c" and equal_nan):
        return NotImplemented
    flat = array.ravel()
    order: Any = None
    if array.dtype.kind == "c":
        order = argsort(flat)
        values = _core.take(flat, order)
    elif return_index or return_inverse:
        values, order = _core._sort(flat, 0, False, True, True)
    else:
        values = sort(flat)
    is_first = _core.empty(flat.shape, "bool", device=flat.device)
    is_first[:1] = True
    _core.not_equal(values[1:], values[:-1], out=is_first[1:])
    if equal_nan and values.dtype.kind in "fV" and flat.size and bool(values[-1] != values[-1]):
        is_first[1:] &= values[:-1] == values[:-1]
    if order is None and not return_counts:
        return values[is_first]
    firsts = _core.flatnonzero(is_first)
    results = [values[firsts]]
    if return_index:
        results.append(order[firsts])
    if return_inverse:
        inverse = _core.empty(flat.shape, "int64", device=flat.device)
        inverse[order] = _core.cumsum(is_first, dtype="int64") - 1
        results.append(inverse.reshape(array.shape))
    if return_counts:
        results.append(diff(firsts, append=flat.size))
    return tuple(results) if len(results) > 1 else results[0]


def isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> Array:
    values, others = _comparable(element, test_elements)
    if values is NotImplemented:
        return NotImplemented  # type: ignore[no-any-return]
    if others.size == 0:
        return _core.full(values.shape, invert, "bool", device=values.device)
    ordered = sort(others, None)
    places = _core.minimum(searchsorted(ordered, values), ordered.size - 1)
    found = _core.take(ordered, places)
    return found != values if invert else found == values


def _comparable(*operands: Any) -> Any:
    """The arrays in their common dtype; NotImplemented for each if they have no order."""
    device = next((x.device for x in operands if isinstance(x, Array)), None)
    arrays = [asarray(x, device=device) for x in operands]
    dtype = _core.result_type(*arrays)
    return [NotImplemented if dtype.kind == "c" else x.astype(dtype) for x in arrays]


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    first, second = _comparable(ar1, ar2)
    if first is NotImplemented:
        return first  # type: ignore[no-any-return]
    first = sort(first, None) if assume_unique else unique(first)
    return first[isin(first, second)]  # type: ignore[no-any-return]


def union1d(ar1: Any, ar2: Any) -> Array:
    first, second = _comparable(ar1, ar2)
    if first is NotImplemented:
        return first  # type: ignore[no-any-return]
    return unique(_core.concatenate([first.ravel(), second.ravel()]))  # type: ignore[no-any-return]


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    first, second = _comparable(ar1, ar2)
    if first is NotImplemented:
        return first  # type: ignore[no-any-return]
    kept = first.ravel() if assume_unique else unique(first)
    return kept[isin(kept, second, invert=True)].astype(asarray(ar1).dtype)


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    first, second = _comparable(ar1, ar2)
    if first is NotImplemented:
        return first  # type: ignore[no-any-return]
    first, second = (x.ravel() if assume_unique else unique(x) for x in (first, second))
    only = [first[isin(first, second, invert=True)], second[isin(second, first, invert=True)]]
    return sort(_core.concatenate(only))


def digitize(x: Any, bins: Any, right: bool = False) -> Array:
    values, edges = _comparable(x, bins)
    if values is NotImplemented:
        return values  # type: ignore[no-any-return]
    falls = edges.size > 1 and bool(edges[-1] < edges[0])
    lower, upper = (edges[1:], edges[:-1]) if falls else (edges[:-1], edges[1:])
    if not bool((lower <= upper).all()):
        raise ValueError("bins must be monotonically increasing or decreasing")
    side = "left" if right else "right"
    if falls:
        return edges.size - searchsorted(edges[::-1], values, side)
    return searchsorted(edges, values, side)


# ---- Order statistics

_METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
    skips_nans: bool = False,
    scale: float = 1,
) -> Any:
    """numpy.quantile; of the elements that are not NaN if `skips_nans`."""
    array = asarray(a)
    if method not in _METHODS or array.dtype.kind in "cb" or array.size == 0:
        return NotImplemented
    is_between = method in ("linear", "midpoint")  # elements, else one of them
    if array.dtype.kind in "iu" and is_between:
        array = array.astype("float64")
    wanted = array.dtype
    if is_between and not isinstance(q, int | float):
        wanted = _core.result_type(wanted, "float64")
    # Positions are computed in float64 on the host for the values of q, which are few.
    levels = asarray(q, "float64", device="cpu") / scale
    if not bool(((levels >= 0) & (levels <= 1)).all()):
        raise ValueError(f"quantiles must be in the range [0, {scale:g}], got {q}")
    shape = array.shape
    axes = (
        range(len(shape)) if axis is None else axis if isinstance(axis, tuple | list) else (axis,)
    )
    axes = [normalized_axis(each, len(shape), "quantile") for each in axes]
    others = [each for each in range(len(shape)) if each not in axes]
    if len(axes) + len(others) != len(shape):
        raise ValueError(f"quantile: expected different axes, got {axis}")
    rows = array.transpose(*others, *axes).reshape([shape[each] for each in others] + [-1])
    ordered = _core._sort(rows, -1, False, True, False)
    is_nan = _core.isnan(ordered)
    counts = (~is_nan).sum(axis=-1, keepdims=True)
    has_nan = is_nan.any(axis=-1, keepdims=True)
    results = []
    for level in levels.ravel().tolist():
        value = _at_level(ordered, counts, level, method).astype(wanted)
        if wanted.kind not in "iu":
            nan = asarray(float("nan"), wanted, device=value.device)
            value = where(counts == 0 if skips_nans else has_nan, nan, value)
        results.append(value)
    final = [
        1 if each in axes else shape[each]
        for each in sorted((*others, *axes) if keepdims else others)
    ]
    results = [x.reshape(final) for x in results]
    if levels.ndim == 0:
        return results[0]
    return _core.stack(results).reshape((*levels.shape, *results[0].shape))


def _at_level(ordered: Array, counts: Array, level: float, method: str) -> Array:
    last = _core.maximum(counts - 1, 0)
    place = last.astype("float64") * level
    if method == "nearest":
        place = _core.rint(place)
    lower, upper = _core.floor(place).astype("int64"), _core.ceil(place).astype("int64")
    low = _core.take_along_axis(ordered, lower, -1)
    if method in ("lower", "nearest"):
        return low
    high = _core.take_along_axis(ordered, upper, -1)
    if method == "higher":
        return high
    share = 0.5 * (upper - lower) if method == "midpoint" else place - lower
    share = share.astype(ordered.dtype)
    # As NumPy: from the nearer one, and exact where both are equal or infinite.
    rise = where(lower == upper, 0, high - low)
    return where(share >= 0.5, high - rise * (1 - share), low + rise * share)


def median(a: Any, axis: Any = None, *, keepdims: bool = False, skips_nans: bool = False) -> Any:
    array = asarray(a)
    if array.size == 0 or array.dtype.kind == "b":
        return NotImplemented
    return quantile(array, 0.5, axis, keepdims=keepdims, skips_nans=skips_nans, method="linear")


percentile = functools.partial(quantile, scale=100)

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "argpartition": argpartition,
    "argsort": argsort,
    "digitize": digitize,
    "intersect1d": intersect1d,
    "isin": isin,
    "lexsort": lexsort,
    "median": median,
    "nanmedian": functools.partial(median, skips_nans=True),
    "nanpercentile": functools.partial(percentile, skips_nans=True),
    "nanquantile": functools.partial(quantile, skips_nans=True),
    "partition": partition,
    "percentile": percentile,
    "quantile": quantile,
    "setdiff1d": setdiff1d,
    "setxor1d": setxor1d,
    "sort": sort,
    "union1d": union1d,
    "unique": unique,
}
