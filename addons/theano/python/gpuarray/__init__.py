# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.gpuarray``: ops and types of arrays on the GPU, of all dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spanwise.graph import TensorType

from .._config import devices
from .._device_array import GpuArray
from . import basic_ops, elemwise
from .basic_ops import as_gpuarray_variable, gpu_contiguous, gpu_from_host, host_from_gpu

__all__ = [
    "GpuArray", "GpuArrayType", "as_gpuarray_variable", "basic_ops", "elemwise", "gpu_contiguous",
    "gpu_from_host", "host_from_gpu", "pygpu_activated",
]  # fmt: skip

pygpu_activated = devices.is_gpu


def GpuArrayType(  # noqa: N802
    dtype: Any, broadcastable: Sequence[bool], context_name: Any = None, name: Any = None
) -> TensorType:
    """The type of variables on the GPU of a context; an axis that is broadcastable has extent 1."""
    return TensorType(dtype, broadcastable, devices.target(context_name))
