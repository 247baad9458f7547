# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.misc.gnumpy_utils``: conversion of CudaNdarrays to and from Gnumpy without a copy."""

from __future__ import annotations

from typing import Any

from spanwise.compat import gnumpy_utils as _compat

from .._device_array import CudaNdarray, for_library
from . import _is_importable as is_importable

__all__ = ["cudandarray_to_garray", "garray_to_cudandarray", "gnumpy_available"]

gnumpy_available = is_importable("gnumpy")


def cudandarray_to_garray(x: Any, copyif: bool = False) -> Any:
    """A garray over the memory of `x`; `copyif` allows a copy. Raises ValueError for an object that
    is no CudaNdarray."""
    if not isinstance(x, CudaNdarray):
        raise ValueError(f"cudandarray_to_garray: expected a CudaNdarray, got {type(x).__name__}")
    return _compat.cudandarray_to_garray(for_library(x), copyif)


def garray_to_cudandarray(x: Any, copyif: bool = False) -> CudaNdarray:
    """A CudaNdarray over the memory of the garray `x`."""
    return CudaNdarray(_compat.garray_to_cudandarray(x, copyif))
