# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Operands of functions that are written in Python, as arrays that can meet."""

from __future__ import annotations

from typing import Any

from .._core import Array, _asarray as asarray

# What has no device of its own.
_VALUES = (list, tuple, int, float, complex)


def as_arrays(*operands: Any) -> list[Array]:
    """All as arrays; lists and numbers go where the first array is."""
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
