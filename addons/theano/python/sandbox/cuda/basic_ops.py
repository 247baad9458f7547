# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.sandbox.cuda.basic_ops``: transfers, and classes of ops, which scripts test for and
profiles print."""

from __future__ import annotations

from typing import Any

from spanwise.graph import Variable, as_variable, contiguous

from ..._function import is_on_gpu, transfer
from ..._ops import gpu_classes_of
from ...gpuarray.basic_ops import host_from_gpu

_CLASSES = gpu_classes_of("sandbox.cuda.basic_ops")
globals().update(_CLASSES)

__all__ = [
    *_CLASSES, "as_cuda_ndarray_variable", "gpu_contiguous", "gpu_from_host", "host_from_gpu",
]  # fmt: skip


def gpu_from_host(x: Any) -> Variable:
    """`x`, a float32 variable, on the GPU; a function returns it as a CudaNdarray. Raises TypeError
    for another dtype."""
    variable = as_variable(x)
    if variable.dtype != "float32":
        raise TypeError(
            f"gpu_from_host: expected float32, got {variable.dtype} ({variable}); cast it"
        )
    return transfer(variable, None)


def as_cuda_ndarray_variable(x: Any) -> Variable:
    """`x` on the GPU, itself if it is there. Raises TypeError if it is not float32."""
    variable = as_variable(x)
    return variable if is_on_gpu(variable) else gpu_from_host(variable)


def gpu_contiguous(x: Any) -> Variable:
    """`x` on the GPU in C order: the same memory if it is in C order already, else a copy."""
    return contiguous(as_cuda_ndarray_variable(x))
