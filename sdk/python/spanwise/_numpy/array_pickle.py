# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The function that pickles of arrays refer to, by the stable path ``spanwise.rebuild_array``."""

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
    """Makes the array that a pickle describes. Unpicklers that restrict globals have to allow it.

    `content` is a contiguous buffer of exactly the elements; `strides` are in bytes and not
    negative, None is C order. On the CPU the array shares the buffer, unless it is not aligned for
    the dtype or is read-only and `readonly` is False: then it is copied. With readonly=None the
    array is read-only if the buffer is. The elements of a GPU's array, of any ordinal, are copied to
    the default device of this process: its GPU, or the CPU without one. `kind` is the subclass of
    Array to return; TypeError for another type.
    """
    if kind is not None and not (isinstance(kind, type) and issubclass(kind, _core.Array)):
        raise TypeError(f"rebuild_array: expected a subclass of spanwise.Array, got {kind!r}")
    array = _core._array_from_buffer(content, dtype, shape, strides, device, readonly)
    return array if kind is None else kind(array)


rebuild_array.__module__ = "spanwise"
