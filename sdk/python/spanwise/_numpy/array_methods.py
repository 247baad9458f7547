# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Methods of Array that are implemented in Python; the first argument is the array."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._core import Array


def setflags(array: Array, write: Any = None, align: Any = None, uic: Any = None) -> None:
    """Sets the flags that are not None, as numpy.ndarray.setflags. Raises ReadOnlyError for
    write=True of memory that another library shared as read-only, ArgumentError for align=True of
    unaligned memory and for uic=True."""
    if align and not array.flags.aligned:
        raise _core.ArgumentError(
            "setflags: cannot set aligned flag of mis-aligned array to True; copy it: a.copy()"
        )
    if uic:
        raise _core.ArgumentError(
            "setflags: cannot set WRITEBACKIFCOPY flag to True; Spanwise's arrays never write back to another"
        )
    if write is not None:
        array.flags.writeable = write


def tobytes(array: Array, order: str = "C") -> bytes:
    """The elements as bytes in `order`, as numpy.ndarray.tobytes. Waits for a GPU."""
    # Viewed as uint8, since the buffer protocol has no format for some dtypes (bfloat16).
    flat = array.flatten(order)
    return memoryview(flat.to("cpu").view("uint8")).tobytes()
