# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.misc.pycuda_utils``: conversion of CudaNdarrays to and from PyCUDA without a copy."""

from __future__ import annotations

from typing import Any

from spanwise.compat import pycuda_utils as _compat

from .._cuda_ndarray import CudaNdarray
from .._device_array import for_library

__all__ = ["to_cudandarray", "to_gpuarray"]


def to_gpuarray(x: Any, copyif: bool = False) -> Any:
    """A GPUArray over the memory of the CudaNdarray `x` if that is in C order; else a copy if
    `copyif` allows it, or CopyNeededError, a ValueError. Raises ValueError for other objects."""
    if not isinstance(x, CudaNdarray):
        raise ValueError(f"to_gpuarray: expected a CudaNdarray, got {type(x).__name__}")
    return _compat.to_gpuarray(for_library(x), copyif)


def to_cudandarray(x: Any, copyif: bool = False) -> CudaNdarray:
    """A CudaNdarray over the memory of the float32 GPUArray `x`, with its strides. Raises ValueError
    for another dtype or another object."""
    return CudaNdarray(_compat.to_cudandarray(x, copyif))
