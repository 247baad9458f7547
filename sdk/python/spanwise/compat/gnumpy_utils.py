# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.misc.gnumpy_utils``: arrays to Gnumpy and back without a copy."""

from __future__ import annotations

from typing import Any

from .. import _core
from ._array import our_array

__all__ = ["cudandarray_to_garray", "garray_to_cudandarray"]


def cudandarray_to_garray(x: Any, copyif: bool = False) -> Any:
    """A garray over the memory of ``x``. ``copyif`` allows a copy where ``x`` is not in C order."""
    return _core.to_gnumpy(our_array(x, "cudandarray_to_garray", TypeError), copyif)


def garray_to_cudandarray(x: Any, copyif: bool = False) -> _core.Array:
    """An array over the memory of the garray ``x``, which Gnumpy hands to nobody else meanwhile."""
    return _core.from_gnumpy(x, copyif)
