# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What CudaNdarray and GpuArray share: an array on the device, and its exchange with libraries."""

from __future__ import annotations

from typing import Any

import numpy as np

import spanwise as sw


class DeviceArray:
    """An array on the device; `array` is the spanwise.Array, whose memory is shared."""

    def __init__(self, array: sw.Array) -> None:
        self.array = array

    shape = property(lambda self: self.array.shape)
    ndim = property(lambda self: self.array.ndim)
    size = property(lambda self: self.array.size)
    itemsize = property(lambda self: self.array.itemsize)
    gpudata = property(lambda self: self.array.ptr, doc="The address of the first element.")

    @property
    def __cuda_array_interface__(self) -> Any:
        return self.array.__cuda_array_interface__

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The values on the host: a new array."""
        values = np.array(self.array.numpy())
        return values if dtype is None else values.astype(dtype)

    def __len__(self) -> int:
        return len(self.array)

    def __float__(self) -> float:
        return float(self.array)

    def is_c_contiguous(self) -> bool:
        return self.array.flags.c_contiguous

    def view(self) -> Any:
        return type(self)(self.array[...])

    def copy(self) -> Any:
        return type(self)(self.array.copy())

    def reshape(self, *shape: Any) -> Any:
        return type(self)(self.array.reshape(*shape))

    def sync(self) -> None:
        """Waits for the work queued on the array."""
        self.array.sync()

    def __getitem__(self, key: Any) -> Any:
        """A view for integers, slices and Ellipsis. IndexError out of range."""
        keys = key if isinstance(key, tuple) else (key,)
        if self.array.ndim and Ellipsis not in keys:
            key = (*keys, Ellipsis)  # an integer for each axis gives a view too
        return type(self)(self.array[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.array[key] = unwrap(value)

    def _operate(self, name: str, other: Any) -> Any:
        return type(self)(getattr(sw, name)(self.array, unwrap(other)))


def unwrap(value: Any) -> Any:
    """The spanwise.Array of a DeviceArray; other values as they are."""
    return value.array if isinstance(value, DeviceArray) else value


def _binary(name: str, is_inplace: bool = False) -> Any:
    def operate(self: DeviceArray, other: Any) -> Any:
        if is_inplace:
            self.array[...] = getattr(sw, name)(self.array, unwrap(other))
            return self
        return self._operate(name, other)

    return operate


for _method, _name in {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide"}.items():
    setattr(DeviceArray, f"__{_method}__", _binary(_name))
    setattr(DeviceArray, f"__i{_method}__", _binary(_name, is_inplace=True))
