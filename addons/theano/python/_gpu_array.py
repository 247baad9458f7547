# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``GpuArray``: an array with the conventions of libgpuarray's ``pygpu.gpuarray``."""

from __future__ import annotations

from typing import Any

import numpy as np

import spanwise as sw

from ._cuda_ndarray import CudaNdarray
from ._device_array import DeviceArray, unwrap
from ._devices import devices, is_host


class GpuArray(DeviceArray):
    """An array on the GPU, made by ``array()``, ``zeros()`` or a compiled function. ``strides``
    count bytes; ``repr`` copies the values to the host."""

    dtype = property(lambda self: np.dtype(str(unwrap(self).dtype)))
    T = property(lambda self: GpuArray(unwrap(self).T))
    context = property(lambda self: devices.context_of(self.device))

    def transpose(self, *axes: Any) -> GpuArray:
        return GpuArray(unwrap(self).transpose(*axes))

    def astype(self, dtype: Any) -> GpuArray:
        return GpuArray(unwrap(self).astype(dtype))

    def transfer(self, context: Any) -> GpuArray:
        """A copy on the GPU of another context."""
        return GpuArray(unwrap(self).to(devices.target(context)))

    def __str__(self) -> str:
        return str(self.__array__())

    def __repr__(self) -> str:
        return f"gpuarray.array({self.__array__()}, dtype={self.dtype})"


def array(values: Any, dtype: Any = None, copy: bool = True, context: Any = None) -> GpuArray:
    """A GpuArray with a copy of `values`, which may be an array of any library or nested lists."""
    del copy  # a copy to the device is always new
    return GpuArray(sw.array(unwrap(values), dtype=dtype, device=devices.target(context)))


asarray = array


def zeros(shape: Any, dtype: Any = "float64", context: Any = None) -> GpuArray:
    """A GpuArray of zeros."""
    return GpuArray(sw.zeros(shape, dtype=dtype, device=devices.target(context)))


def empty(shape: Any, dtype: Any = "float64", context: Any = None) -> GpuArray:
    """A GpuArray whose elements are not set."""
    return GpuArray(sw.empty(shape, dtype=dtype, device=devices.target(context)))


def class_for(dtype: Any) -> type[DeviceArray]:
    """The class of device arrays of the dialect: CudaNdarray for float32 under ``device=gpu``."""
    return CudaNdarray if devices.dialect == "gpu" and dtype == "float32" else GpuArray


def on_device(array: sw.Array) -> DeviceArray:
    """`array` as the class of the dialect."""
    return class_for(array.dtype)(array)


def as_theano(value: Any) -> Any:
    """A NumPy array that shares the memory of an array on the host; else a device array. Other
    values as they are."""
    if not isinstance(value, sw.Array):
        return value
    return value.numpy() if is_host(value.device) else on_device(value)
