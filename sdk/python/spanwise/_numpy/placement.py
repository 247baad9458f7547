# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of functions over indices: on which device they are, and whether they can be assigned."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._core import Array, _asarray as asarray


def writable_array(a: Any, who: str) -> Array:
    """`a`, an array of any library, as an Array over the same memory. Raises ReadOnlyError."""
    array = asarray(a, copy=False)
    if not array.flags.writeable:
        raise _core.ReadOnlyError(
            f"{who}: assignment destination is read-only, {array.dtype} {array.shape}; "
            "write to a copy: a.copy()"
        )
    return array


def cycled(values: Array, count: int) -> Array:
    if values.size >= count:
        return values[:count]
    if values.size == 1:
        return values
    from .tiling import tile

    return tile(values, -(-count // values.size))[:count]


def on_host(x: Any) -> Any:
    """`x` with arrays of any device converted to NumPy arrays, also inside tuples and lists."""
    if isinstance(x, tuple | list):
        return type(x)(on_host(part) for part in x)
    return asarray(x).numpy() if hasattr(x, "shape") else x


def device_of(x: Any, device: Any = None) -> Any:
    if device is not None:
        return device
    first = x[0] if isinstance(x, tuple | list) and len(x) else x
    return asarray(first).device if hasattr(first, "shape") else None


def moved(values: Any, device: Any) -> Any:
    if isinstance(values, tuple):
        return tuple(_core.array(v, device=_core.device(device)) for v in values)
    return _core.array(values, device=_core.device(device))
