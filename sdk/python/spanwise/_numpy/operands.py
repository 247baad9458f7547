# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Conversion of the arguments of functions implemented in Python: to arrays, sequences and devices."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from .. import _core
from .._core import Array, _asarray as asarray

# Types without a device.
_VALUES = (list, tuple, int, float, complex)


def as_arrays(*operands: Any) -> list[Array]:
    """All operands as Arrays, without copies of arrays of any library. Lists and numbers become
    arrays on the device of the first array."""
    for x in operands:
        if not isinstance(x, Array):
            break
    else:
        return list(operands)
    arrays = [
        x if isinstance(x, Array) else None if isinstance(x, _VALUES) else asarray(x)
        for x in operands
    ]
    device = next((array.device for array in arrays if array is not None), None)
    return [
        asarray(x, device=device) if array is None else array
        for x, array in zip(operands, arrays, strict=True)
    ]


def is_listed(x: Any) -> bool:
    """Whether `x` is a sequence. An array of rank 0 is not, though it has __iter__."""
    return isinstance(x, Iterable) and getattr(x, "ndim", 1) != 0


def listed(x: Any) -> tuple[Any, ...]:
    """The elements of a sequence, or (x,)."""
    return tuple(x) if is_listed(x) else (x,)


def integers(x: Any) -> tuple[int, ...]:
    """`x`, one integer or a sequence of them, as a tuple. Raises TypeError for other values. Waits
    for an array on a GPU."""
    return tuple(map(operator.index, listed(x)))


def writable_array(a: Any, caller: str) -> Array:
    """`a`, an array of any library, as an Array over the same memory. Raises ReadOnlyError."""
    array = asarray(a, copy=False)
    if not array.flags.writeable:
        raise _core.ReadOnlyError(
            f"{caller}: assignment destination is read-only, {array.dtype} {array.shape}; "
            "write to a copy: a.copy()"
        )
    return array


def on_host(x: Any) -> Any:
    """`x` with arrays of any device converted to NumPy arrays, also inside tuples and lists."""
    if isinstance(x, tuple | list):
        return type(x)(on_host(part) for part in x)
    return asarray(x).numpy() if hasattr(x, "shape") else x


def device_of(x: Any) -> Any:
    first = x[0] if isinstance(x, tuple | list) and len(x) else x
    return asarray(first).device if hasattr(first, "shape") else None


def moved(values: Any, device: Any) -> Any:
    if isinstance(values, tuple):
        return tuple(_core.array(v, device=_core.device(device)) for v in values)
    return _core.array(values, device=_core.device(device))
