# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.misc.gnumpy_utils``: conversion of arrays to and from Gnumpy without a copy."""

from __future__ import annotations

from typing import Any

from .. import _core
from . import _our_array as our_array

__all__ = ["cudandarray_to_garray", "garray_to_cudandarray"]


def cudandarray_to_garray(x: Any, copyif: bool = False) -> Any:
    """A garray over the memory of ``x``. ``copyif`` allows a copy if Gnumpy cannot share the memory,
    for instance because ``x`` is not in C order or is on another device; without it that raises
    CopyNeededError. Raises TypeError if ``x`` is no spanwise.Array, and DTypeError unless its dtype
    is Gnumpy's (float32 on a GPU)."""
    return _core.to_gnumpy(our_array(x, "cudandarray_to_garray", TypeError), copyif)


def garray_to_cudandarray(x: Any, copyif: bool = False) -> _core.Array:
    """An array over the memory of the garray ``x``; Gnumpy does not reuse that memory while the
    array lives. ``copyif`` allows a copy if the memory cannot be shared."""
    return _core.from_gnumpy(x, copyif)
