# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.gpuarray``: transfers and types of arrays on the GPU, of all dtypes, and classes of ops, which
scripts test for and profiles print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spanwise.graph import TensorType, Variable, as_variable, contiguous

from ._config import devices
from ._function import is_on_gpu, transfer
from ._ops import gpu_classes_of

globals().update(gpu_classes_of("gpuarray.basic_ops"))
pygpu_activated = devices.is_gpu


def GpuArrayType(  # noqa: N802
    dtype: Any, broadcastable: Sequence[bool], context_name: Any = None, name: Any = None
) -> TensorType:
    """The type of variables on the GPU of a context; an axis that is broadcastable has extent 1."""
    return TensorType(dtype, broadcastable, devices.target(context_name))


def as_gpuarray_variable(x: Any, context_name: Any = None) -> Variable:
    """`x` on the GPU of a context, itself if it is on a GPU."""
    variable = as_variable(x)
    return variable if is_on_gpu(variable) else transfer(variable, context_name)


def gpu_from_host(x: Any, context_name: Any = None) -> Variable:
    """`x` on the GPU of a context; a function returns it as a GpuArray."""
    return transfer(x, context_name)


def host_from_gpu(x: Any) -> Variable:
    """`x` on the host."""
    return transfer(x, "cpu")


def gpu_contiguous(x: Any) -> Variable:
    """`x` on the GPU in C order: the same memory if it is in C order already, else a copy."""
    return contiguous(as_gpuarray_variable(x))


def GpuFromHost(context_name: Any) -> Any:  # noqa: N802
    """A function that transfers a variable to the GPU of a context."""
    return lambda x: transfer(x, context_name)
