# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.misc.cudamat_utils``: conversion of CudaNdarrays to and from CUDAMat without a copy.

As in Theano, the memory of a C-ordered matrix is read in column-major order by CUDAMat:
``m.asarray().T.reshape(shape)`` is the array.
"""

from __future__ import annotations

from typing import Any

from spanwise.compat import cudamat_utils as _compat

from .._device_array import CudaNdarray, for_library
from . import _is_importable as is_importable

__all__ = ["cudamat_available", "cudamat_to_cudandarray", "cudandarray_to_cudamat"]

cudamat_available = is_importable("cudamat")


def cudandarray_to_cudamat(x: Any, copyif: bool = False) -> Any:
    """A CUDAMatrix over the memory of the matrix `x`; `copyif` allows a copy. Raises TypeError for
    another rank or another object."""
    if not isinstance(x, CudaNdarray) or x.ndim != 2:
        raise TypeError(f"cudandarray_to_cudamat: expected a CudaNdarray of rank 2, got {x!r}")
    return _compat.cudandarray_to_cudamat(for_library(x), copyif)


def cudamat_to_cudandarray(x: Any, copyif: bool = False) -> CudaNdarray:
    """A CudaNdarray over the memory of the CUDAMatrix `x`."""
    return CudaNdarray(_compat.cudamat_to_cudandarray(x, copyif))
