# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of ``theano.sandbox.cuda`` that custom ops use. Such ops need only other imports::

    import spanwise as theano
    import spanwise.compat.sandbox_cuda as cuda
    from spanwise import SourceModule

On a machine without a GPU, arrays and kernels are on the CPU.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from .. import _core
from ..graph import as_variable, contiguous

__all__ = ["CudaNdarray", "basic_ops"]


def _as_cuda_ndarray_variable(x: Any) -> _core.Variable:
    variable = as_variable(x)
    if variable.dtype != "float32":
        raise TypeError(
            f"as_cuda_ndarray_variable: expected float32, got {variable.dtype} ({variable})"
        )
    return variable


basic_ops = SimpleNamespace(
    as_cuda_ndarray_variable=_as_cuda_ndarray_variable, gpu_contiguous=contiguous
)


class CudaNdarray:
    """Constructs a spanwise.Array on the default device, as ``CudaNdarray`` did: a copy of a
    float32 array. Raises TypeError for other dtypes."""

    def __new__(cls, array: Any) -> Any:
        source = _core.asarray(array)
        if source.dtype != "float32":
            raise TypeError(f"CudaNdarray: can only copy from float arrays, got {source.dtype}")
        return _core.array(source, device=_core.default_device())

    @staticmethod
    def zeros(shape: Any) -> Any:
        return _core.zeros(shape, dtype="float32")
