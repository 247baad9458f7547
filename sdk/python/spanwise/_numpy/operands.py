# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Conversion of the arguments of functions implemented in Python: to arrays, sequences and integers."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

from .. import _core
from .._core import Array, _asarray as asarray

#: Types of operands that become arrays on the device of the other operands.
_WITHOUT_DEVICE = (list, tuple, int, float, complex)
_KEPT_AT_FIRST = (Array, *_WITHOUT_DEVICE)


def as_arrays(*operands: Any, convert: Callable[[Any], Any] = asarray) -> list[Array]:
    """All operands as Arrays, those of other libraries by `convert`, without copies. Lists and numbers
    become arrays on the device of the first array."""
    for x in operands:
        if not isinstance(x, Array):
            break
    else:
        return list(operands)
    arrays = [x if isinstance(x, _KEPT_AT_FIRST) else convert(x) for x in operands]
    device = next((x.device for x in arrays if isinstance(x, Array)), None)
    return [asarray(x, device=device) if isinstance(x, _WITHOUT_DEVICE) else x for x in arrays]


def is_sequence(x: Any) -> bool:
    """Whether `x` is a sequence. An array of rank 0 is not, though it has __iter__."""
    return isinstance(x, Iterable) and getattr(x, "ndim", 1) != 0


def as_tuple(x: Any) -> tuple[Any, ...]:
    """The elements of a sequence, or (x,)."""
    return tuple(x) if is_sequence(x) else (x,)


def integers(x: Any) -> tuple[int, ...]:
    """`x`, one integer or a sequence of them, as a tuple. Raises TypeError for other values. Waits
    for an array on a GPU."""
    return tuple(map(operator.index, as_tuple(x)))


def writable_array(a: Any, caller: str) -> Array:
    """`a`, an array of any library, as an Array over the same memory. Raises ReadOnlyError."""
    array = asarray(a, copy=False)
    if not array.flags.writeable:
        raise _core.ReadOnlyError(
            f"{caller}: assignment destination is read-only, {array.dtype} {array.shape}; "
            "write to a copy: a.copy()"
        )
    return array
