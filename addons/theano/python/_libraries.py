# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Conversions of CudaNdarrays to and from PyCUDA, CUDAMat and Gnumpy without a copy, the modules of
``theano.misc``.

As in Theano, the memory of a C-ordered matrix is read in column-major order by CUDAMat:
``m.asarray().T.reshape(shape)`` is the array.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import spanwise as sw
from spanwise.compat import cudamat_utils, gnumpy_utils, is_installed, pycuda_utils
from spanwise.compat.pycuda_init import init as set_gpu_from_theano

from ._device_array import CudaNdarray, for_library, unwrap

__all__ = [
    "cudamat_available", "cudamat_to_cudandarray", "cudandarray_to_cudamat", "cudandarray_to_garray",
    "garray_to_cudandarray", "gnumpy_available", "pycuda_available", "set_gpu_from_theano",
    "to_cudandarray", "to_gpuarray",
]  # fmt: skip

cudamat_available = is_installed("cudamat")
gnumpy_available = is_installed("gnumpy")
#: spanwise.pycuda serves where PyCUDA itself is not installed.
pycuda_available = True


def cudandarray_to_cudamat(x: Any, copyif: bool = False) -> Any:
    """A CUDAMatrix over the memory of the matrix `x`; `copyif` allows a copy. Raises TypeError for
    another rank or another object."""
    if not isinstance(x, CudaNdarray) or x.ndim != 2:
        raise TypeError(f"cudandarray_to_cudamat: expected a CudaNdarray of rank 2, got {x!r}")
    return cudamat_utils.cudandarray_to_cudamat(unwrap(x), copyif)


def cudamat_to_cudandarray(x: Any, copyif: bool = False) -> CudaNdarray:
    """A CudaNdarray over the memory of the CUDAMatrix `x`."""
    return CudaNdarray(cudamat_utils.cudamat_to_cudandarray(x, copyif))


def cudandarray_to_garray(x: Any, copyif: bool = False) -> Any:
    """A garray over the memory of `x`; `copyif` allows a copy. Raises ValueError for an object that
    is no CudaNdarray."""
    if not isinstance(x, CudaNdarray):
        raise ValueError(f"cudandarray_to_garray: expected a CudaNdarray, got {type(x).__name__}")
    return gnumpy_utils.cudandarray_to_garray(unwrap(x), copyif)


def garray_to_cudandarray(x: Any, copyif: bool = False) -> CudaNdarray:
    """A CudaNdarray over the memory of the garray `x`."""
    return CudaNdarray(gnumpy_utils.garray_to_cudandarray(x, copyif))


def _own_pycuda() -> Any:
    """spanwise.pycuda.gpuarray if scripts that import pycuda.gpuarray get it, else None."""
    if not is_installed("pycuda"):
        return None
    used = import_module("pycuda.gpuarray")
    return used if used.__name__ == "spanwise.pycuda.gpuarray" else None


def to_gpuarray(x: Any, copyif: bool = False) -> Any:
    """A GPUArray over the memory of the CudaNdarray `x` if that is in C order; else a copy if
    `copyif` allows it, or CopyNeededError, a ValueError. Raises ValueError for other objects."""
    if not isinstance(x, CudaNdarray):
        raise ValueError(f"to_gpuarray: expected a CudaNdarray, got {type(x).__name__}")
    if (own := _own_pycuda()) is None:
        return pycuda_utils.to_gpuarray(for_library(x), copyif)
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
        return CudaNdarray(pycuda_utils.to_cudandarray(x, copyif))
    if x.dtype != "float32":
        raise ValueError(f"to_cudandarray: expected float32, got {x.dtype}; cast it first")
    array = CudaNdarray(x.array)
    array._owner = x
    return array
