# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.misc.pycuda_utils``: conversion of CudaNdarrays to and from PyCUDA without a copy."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import spanwise as sw
from spanwise.compat import pycuda_utils as _compat

from .._device_array import CudaNdarray, for_library, unwrap
from . import _is_importable as is_importable

__all__ = ["to_cudandarray", "to_gpuarray"]


def _own_pycuda() -> Any:
    """spanwise.pycuda.gpuarray if scripts that import pycuda.gpuarray get it, else None."""
    if not is_importable("pycuda"):
        return None
    used = import_module("pycuda.gpuarray")
    return used if used.__name__ == "spanwise.pycuda.gpuarray" else None


def to_gpuarray(x: Any, copyif: bool = False) -> Any:
    """A GPUArray over the memory of the CudaNdarray `x` if that is in C order; else a copy if
    `copyif` allows it, or CopyNeededError, a ValueError. Raises ValueError for other objects."""
    if not isinstance(x, CudaNdarray):
        raise ValueError(f"to_gpuarray: expected a CudaNdarray, got {type(x).__name__}")
    if (own := _own_pycuda()) is None:
        return _compat.to_gpuarray(for_library(x), copyif)
    if not x.is_c_contiguous() and not copyif:
        raise sw.CopyNeededError(
            f"to_gpuarray: expected memory in C order, got strides {x.strides} for shape {x.shape}; "
            "allow a copy (copyif=True)"
        )
    plain = unwrap(x)
    return own.GPUArray.of(plain if x.is_c_contiguous() else plain.copy(), base=x)


def to_cudandarray(x: Any, copyif: bool = False) -> CudaNdarray:
    """A CudaNdarray over the memory of the float32 GPUArray `x`, with its strides. Raises ValueError
    for another dtype or another object."""
    own = _own_pycuda()
    if own is None or not isinstance(x, own.GPUArray):
        return CudaNdarray(_compat.to_cudandarray(x, copyif))
    if x.dtype != "float32":
        raise ValueError(f"to_cudandarray: expected float32, got {x.dtype}; cast it first")
    array = CudaNdarray(x.array)
    array._owner = x
    return array
