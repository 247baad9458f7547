# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Conversion and checks of the arguments of random.Generator: seeds, shapes, dtypes, out=,
bounds."""

from __future__ import annotations

import math
import operator
import os
from typing import Any

from .. import _core
from .._core import Array, _asarray as asarray
from .operands import integers
from .shape import broadcast_shapes

Shape = tuple[int, ...]


def words_of_seed(seed: Any) -> tuple[int, ...]:
    """A seed as a tuple of integers >= 0. An object with generate_state() is a SeedSequence; None
    is 128 random bits. Raises DTypeError or ArgumentError."""
    if seed is None:
        return (int.from_bytes(os.urandom(16), "little"),)
    if hasattr(seed, "generate_state"):
        return tuple(int(word) for word in seed.generate_state(8))
    if hasattr(seed, "tolist"):
        seed = seed.tolist()
    try:
        words = tuple(map(operator.index, seed if isinstance(seed, list | tuple) else (seed,)))
    except TypeError:
        raise _core.DTypeError(
            f"default_rng: expected an integer or a sequence of integers as seed, got {seed!r}"
        ) from None
    if any(word < 0 for word in words):
        raise _core.ArgumentError(f"default_rng: expected non-negative integers, got {seed!r}")
    return words


def is_number(x: Any) -> bool:
    """Whether `x` is a Python number or a NumPy scalar; an Array of any rank is not."""
    return isinstance(x, (int, float)) or (
        not isinstance(x, Array) and hasattr(x, "__float__") and getattr(x, "shape", None) == ()
    )


def as_shape(size: Any) -> Shape:
    """NumPy's size= as a shape; None is ()."""
    return () if size is None else integers(size)


def floating_dtype(caller: str, dtype: Any, out: Any) -> Any:
    """The floating dtype of the result: `dtype`, else that of `out`, else float64. Raises
    DTypeError."""
    if dtype is None:
        dtype = asarray(out, copy=False).dtype if out is not None else "float64"
    dtype = _core.dtype(dtype)
    if dtype.name not in ("float16", "bfloat16", "float32", "float64"):
        raise _core.DTypeError(
            f"{caller}: Unsupported dtype {dtype}; expected float16, bfloat16, float32 or float64"
        )
    return dtype


def bounds_of(dtype: Any) -> tuple[Any, int, int]:
    """(dtype, minimum, maximum) of an integer dtype or bool; None is int64. Raises DTypeError."""
    dtype = _core.dtype("int64" if dtype is None else dtype)
    bits = 8 * dtype.itemsize
    if dtype == "bool":
        return dtype, 0, 1
    if dtype.kind == "u":
        return dtype, 0, (1 << bits) - 1
    if dtype.kind == "i":
        return dtype, -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    raise _core.DTypeError(
        f"integers: Unsupported dtype {dtype}; expected an integer dtype or bool"
    )


def result_for(caller: str, size: Any, dtype: Any, out: Any, device: Any) -> Array:
    """The array to fill: `out` if given, else a new array. Raises LayoutError or DTypeError where
    `out` does not fit."""
    if out is None:
        return _core.empty(as_shape(size), dtype, device=device)
    array = asarray(out, copy=False)
    if size is not None and as_shape(size) != array.shape:
        raise _core.LayoutError(
            f"{caller}: size must match out.shape when used together: got {size} and {array.shape}"
        )
    if array.dtype != dtype:
        raise _core.DTypeError(
            f"{caller}: Supplied output array has the wrong type. Expected {dtype}, got {array.dtype}"
        )
    return array


def out_or_result(result: Array, out: Any) -> Any:
    """The return value of a method: the object passed as `out` if any, else `result`."""
    return result if out is None else out


def broadcast_with(caller: str, size: Any, out: Any, *shapes: Shape) -> Shape:
    """The shape of a result whose parameters have these shapes: `size`, else the shape of `out`,
    else their broadcast shape. Raises LayoutError where they do not broadcast to it."""
    common = broadcast_shapes(*shapes)
    if size is None and out is None:
        return common
    shape = as_shape(size) if size is not None else asarray(out, copy=False).shape
    if broadcast_shapes(common, shape) != shape:
        raise _core.LayoutError(
            f"{caller}: size {shape} does not fit parameters of the common shape {common}"
        )
    return shape


def probabilities(p: Any, population: int) -> Array:
    """The argument p= of choice() as a float64 vector on the host. Raises LayoutError or
    ArgumentError."""
    weights = asarray(p).to("cpu").astype("float64")
    if weights.ndim != 1:
        raise _core.LayoutError(f"choice: p must be 1-dimensional, got shape {weights.shape}")
    if weights.size != population:
        raise _core.LayoutError(
            f"choice: a and p must have same size, got {population} and {weights.size}"
        )
    total = float(_core.sum(weights).item())
    if math.isnan(total):
        raise _core.ArgumentError("choice: Probabilities contain NaN")
    if weights.size and bool(_core.any(weights < 0)):
        raise _core.ArgumentError("choice: Probabilities are not non-negative")
    # As NumPy: the tolerance is the square root of the dtype's epsilon; 2**-26 for float64.
    tolerances = {"float32": 2.0**-11.5, "float16": 2.0**-5, "bfloat16": 2.0**-3.5}
    if abs(total - 1) > tolerances.get(str(asarray(p).dtype), 2.0**-26):
        raise _core.ArgumentError(
            f"choice: Probabilities do not sum to 1: their sum is {total}; divide p by it"
        )
    return weights


def device_of(*values: Any, default: Any = "cpu") -> Any:
    """The device of the first Array among `values`, else `default`."""
    return next((x.device for x in values if isinstance(x, Array)), default)


def integer_bound(value: Any) -> int:
    """A bound as an integer; a float is accepted if it is one. Raises DTypeError."""
    try:
        return operator.index(value)
    except TypeError:
        if isinstance(value, float) and value.is_integer():
            return int(value)
        raise _core.DTypeError(
            f"integers: expected integers as bounds, got {value!r}; round them first"
        ) from None


def _all_integers(values: Any) -> bool:
    if isinstance(values, list | tuple):
        return all(map(_all_integers, values))
    return isinstance(values, int)


def with_inclusive_high(high: Any, endpoint: bool) -> tuple[Any, bool]:
    """(high, endpoint), made inclusive (high - 1, True) where an exclusive bound is 2**64, which no
    dtype holds."""
    if endpoint or not _all_integers(high):
        return high, endpoint

    def has_2_64(values: Any) -> bool:
        return any(map(has_2_64, values)) if isinstance(values, list | tuple) else values == 1 << 64

    def less_one(values: Any) -> Any:
        return list(map(less_one, values)) if isinstance(values, list | tuple) else values - 1

    return (less_one(high), True) if has_2_64(high) else (high, False)


def bound_array(which: str, values: Any, dtype: Any, device: Any) -> Array:
    """The bounds `which` ("low" or "high") as an array on `device`: uint64 if any needs it, else int64.
    Raises ArgumentError or DTypeError."""
    try:
        array = asarray(values)
        if array.dtype == "float64" and _all_integers(values):  # integers of more than 63 bits
            array = asarray(values, "uint64")
    except OverflowError:
        raise _core.ArgumentError(
            f"integers: {which} is out of bounds for {dtype}: got {values}; use a wider dtype"
        ) from None
    array = array.to(device)
    if array.size and array.dtype.kind not in "biu":
        raise _core.DTypeError(
            f"integers: expected integers as bounds, got {array.dtype} {array.shape}; "
            "use astype('int64'), and endpoint=True where high would not fit"
        )
    return array if array.dtype == "uint64" else array.astype("int64")


def check_span(finite: bool, negative: bool, low: Any, high: Any) -> None:
    """Raises OverflowError unless high - low is finite, ArgumentError if it is negative."""
    if not finite:
        raise OverflowError(f"uniform: high - low range exceeds valid bounds: {low} to {high}")
    if negative:
        raise _core.ArgumentError(
            f"uniform: high - low < 0: expected low <= high, got {low}, {high}"
        )


def check_scale(caller: str, scale: Any) -> None:
    """Raises ArgumentError for a negative scale: -0.0 is negative, as in NumPy, and NaN is not."""
    if is_number(scale):
        negative = math.copysign(1.0, scale) < 0 and not math.isnan(scale)
    else:
        signs = _core.signbit(scale) & _core.logical_not(_core.isnan(scale))
        negative = bool(_core.any(signs))
    if negative:
        raise _core.ArgumentError(f"{caller}: scale < 0: expected a scale >= 0, got {scale}")


def check_range(
    under: bool, over: bool, empty: bool, dtype: Any, low: Any, high: Any, endpoint: bool
) -> None:
    """Raises ArgumentError if a bound is outside the range of `dtype`, or the range is empty."""
    if under or over:
        which = "low" if under else "high"
        raise _core.ArgumentError(
            f"integers: {which} is out of bounds for {dtype}: got {low} to {high}; use a wider dtype"
        )
    if empty:
        relation = ">" if endpoint else ">="
        raise _core.ArgumentError(f"integers: low {relation} high: got {low} and {high}")
