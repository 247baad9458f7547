# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.sandbox.cuda``: transfers and types of float32 arrays on the GPU, classes of variables for
isinstance, and classes of ops, which scripts test for and profiles print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spanwise.graph import (
    Constant,
    SharedVariable,
    TensorType,
    Variable,
    as_variable,
    contiguous,
)

from ._config import devices
from ._function import is_on_gpu, shared, transfer
from ._gpuarray import host_from_gpu as host_from_gpu
from ._ops import gpu_classes_of

for _module in ("basic_ops", "blas"):
    globals().update(gpu_classes_of(f"sandbox.cuda.{_module}"))

#: True: without a GPU, arrays and kernels are on the CPU in its place.
cuda_available = True
cuda_enabled = devices.is_gpu
devices.choose_dialect("gpu")


def use(
    device: str,
    force: bool = False,
    default_to_move_computation_to_gpu: bool = True,
    **options: object,
) -> None:
    """Refused: the device is chosen at start. Raises NotImplementedError for another one."""
    if devices.target(device) != devices.default:
        raise NotImplementedError(
            f"theano.sandbox.cuda.use({device!r}): functions run on {devices.default}; set "
            f"THEANO_FLAGS=device={device} before the start"
        )


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


def CudaNdarrayType(  # noqa: N802
    broadcastable: Sequence[bool], name: Any = None, dtype: Any = "float32"
) -> TensorType:
    """The type of float32 variables on the GPU; an axis that is broadcastable has extent 1. Raises
    TypeError for another dtype."""
    if dtype != "float32":
        raise TypeError(f"CudaNdarrayType: expected dtype float32, got {dtype}")
    return TensorType(dtype, broadcastable, devices.gpu)


class _OnGpu(type):
    """``isinstance(v, C)``: whether v is a variable of the class ``C.kind`` and on the GPU."""

    kind: type

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.kind) and is_on_gpu(instance)


class CudaNdarrayVariable(metaclass=_OnGpu):
    kind = Variable


class CudaNdarrayConstant(metaclass=_OnGpu):
    kind = Constant


class CudaNdarraySharedVariable(metaclass=_OnGpu):
    kind = SharedVariable


def float32_shared_constructor(
    value: Any, name: str | None = None, **options: Any
) -> SharedVariable:
    """A shared variable on the GPU. Raises TypeError if `value` is not float32."""
    if getattr(value, "dtype", None) != "float32":
        raise TypeError(f"float32_shared_constructor: expected a float32 array, got {value!r}")
    return shared(value, name, target=None, **options)
