# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What pickles of arrays call, by a path that stays: ``spanwise.rebuild_array``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _core


def rebuild_array(
    content: Any,
    dtype: str,
    shape: Sequence[int],
    strides: Sequence[int] | None = None,
    device: str = "cpu",
    readonly: bool | None = None,
    kind: type[_core.Array] | None = None,
) -> _core.Array:
    """The array that a pickle describes. Programs that restrict what unpickling may call, allow this.

    `content` is a contiguous buffer that holds exactly the elements; `strides` (bytes, none
    negative) say how they lie, None in C order. On the CPU the array uses the buffer where it lies.
    It is copied where it is not aligned for the dtype, and where it is read-only and `readonly` is
    False; with None the array is as the buffer is. On another device, or the CPU where `device` is
    absent, the elements are copied. `kind` is the subclass of Array to return.
    """
    if kind is not None and not (isinstance(kind, type) and issubclass(kind, _core.Array)):
        raise TypeError(f"rebuild_array: expected a subclass of spanwise.Array, got {kind!r}")
    array = _core._array_from_buffer(content, dtype, shape, strides, device, readonly)
    return array if kind is None else kind(array)


rebuild_array.__module__ = "spanwise"
