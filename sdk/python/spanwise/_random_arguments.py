# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What the methods of a generator are given: seeds, shapes, dtypes, arrays to write to."""

from __future__ import annotations

import math
import operator
import os
from typing import Any

from . import _core
from ._core import Array, asarray
from ._shape import broadcast_shapes

Shape = tuple[int, ...]


def words_of_seed(seed: Any) -> tuple[int, ...]:
    """A seed as numbers >= 0. What has generate_state() is a SeedSequence."""
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
    """A Python number or a scalar of NumPy; arrays of any rank are not."""
    return isinstance(x, (int, float)) or (
        not isinstance(x, Array) and hasattr(x, "__float__") and getattr(x, "shape", None) == ()
    )


def as_shape(size: Any) -> Shape:
    """NumPy's size=: None is one element, of rank 0."""
    if size is None:
        return ()
    if isinstance(size, tuple | list):
        return tuple(map(operator.index, size))
    return (operator.index(size),)


def floating(who: str, dtype: Any, out: Any) -> Any:
    """The dtype of the result: what was asked, else that of `out`, else float64."""
    if dtype is None:
        wanted = asarray(out, copy=False).dtype if out is not None else _core.dtype("float64")
    else:
        wanted = _core.dtype(dtype)
    if str(wanted) not in ("float16", "bfloat16", "float32", "float64"):
        raise _core.DTypeError(
            f"{who}: Unsupported dtype {wanted}; expected float16, bfloat16, float32 or float64"
        )
    return wanted


def bounds_of(dtype: Any) -> tuple[Any, int, int]:
    """An integer dtype or bool with its least and greatest value."""
    wanted = _core.dtype("int64" if dtype is None else dtype)
    bits = 8 * wanted.itemsize
    if wanted == "bool":
        return wanted, 0, 1
    if wanted.kind == "u":
        return wanted, 0, (1 << bits) - 1
    if wanted.kind == "i":
        return wanted, -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    raise _core.DTypeError(
        f"integers: Unsupported dtype {wanted}; expected an integer dtype or bool"
    )


def result_for(who: str, size: Any, dtype: Any, out: Any, device: Any) -> Array:
    """Where the numbers go: `out` if it fits, else a new array."""
    if out is None:
        return _core.empty(as_shape(size), dtype, device=device)
    array = asarray(out, copy=False)
    if size is not None and as_shape(size) != array.shape:
        raise _core.LayoutError(
            f"{who}: size must match out.shape when used together: got {size} and {array.shape}"
        )
    if array.dtype != dtype:
        raise _core.DTypeError(
            f"{who}: Supplied output array has the wrong type. Expected {dtype}, got {array.dtype}"
        )
    return array


def delivered(result: Array, out: Any) -> Array:
    """What a method returns: `out` itself where it was given, which may be another library's."""
    returned: Array = result if out is None else out
    return returned


def broadcast_with(who: str, size: Any, out: Any, *shapes: Shape) -> Shape:
    """The shape of a result whose parameters have these shapes."""
    common = broadcast_shapes(*shapes)
    if size is None and out is None:
        return common
    wanted = as_shape(size) if size is not None else asarray(out, copy=False).shape
    if broadcast_shapes(common, wanted) != wanted:
        raise _core.LayoutError(
            f"{who}: size {wanted} does not fit parameters of the common shape {common}"
        )
    return wanted


def probabilities(p: Any, population: int) -> Array:
    """Probabilities as float64 on the host."""
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
    # NumPy's tolerance: the root of the dtype's epsilon.
    narrow = {"float32": 2.0**-11.5, "float16": 2.0**-5, "bfloat16": 2.0**-3.5}
    if abs(total - 1) > narrow.get(str(asarray(p).dtype), 2.0**-26):
        raise _core.ArgumentError(
            f"choice: Probabilities do not sum to 1: their sum is {total}; divide p by it"
        )
    return weights
