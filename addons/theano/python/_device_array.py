# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The base class of CudaNdarray and GpuArray: a spanwise.Array with other conventions."""

from __future__ import annotations

from typing import Any

import numpy as np

import spanwise as sw

_get = sw.Array.__getitem__


class _Memory(sw.driver.DeviceAllocation):
    """Memory that equals other memory, or a number, with the same address, as in Theano."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (int, sw.driver.DeviceAllocation)):
            return NotImplemented
        return int(self) == int(other)

    def __hash__(self) -> int:
        return int(self)


class DeviceArray(sw.Array):
    """An array on the device, which shares the memory of the spanwise.Array that it is made from.

    Kernels, compiled functions and conversions accept it as that array.
    """

    @property
    def gpudata(self) -> Any:
        """The memory from the first element on; int() is its address. A kernel may use it with the
        array's strides."""
        plain = unwrap(self)
        if not plain.flags.c_contiguous:
            plain = _get(plain, (*[0] * plain.ndim, ...))
        return _Memory(plain)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The values on the host: a new array."""
        values = np.array(unwrap(self).numpy())
        return values if dtype is None else values.astype(dtype)

    def is_c_contiguous(self) -> bool:
        return self.flags.c_contiguous

    def view(self) -> Any:  # type: ignore[override]
        return self._view_as(unwrap(self))

    def _view_as(self, plain: sw.Array) -> Any:
        """An array of this class over `plain`, which may share the memory of this one."""
        return type(self)(plain)

    def copy(self) -> Any:  # type: ignore[override]
        return type(self)(unwrap(self).copy())

    def reshape(self, *shape: Any) -> Any:
        return self._view_as(unwrap(self).reshape(*shape))

    def __getitem__(self, key: Any) -> Any:
        """A view for integers, slices and Ellipsis. IndexError out of range."""
        keys = key if isinstance(key, tuple) else (key,)
        if self.ndim and Ellipsis not in keys:
            key = (*keys, Ellipsis)  # an integer for each axis gives a view too
        return self._view_as(_get(self, key))

    def __copy__(self) -> Any:
        return self.copy()


def unwrap(value: Any) -> Any:
    """A DeviceArray as a plain spanwise.Array of the same memory; other values as they are."""
    return _get(value, ...) if isinstance(value, DeviceArray) else value


def for_library(x: DeviceArray) -> sw.Array:
    """The array for a conversion to another library, which does not know the names cpu:1, ... that
    stand for GPUs."""
    plain = unwrap(x)
    return sw.asarray(plain.numpy()) if plain.device.kind == "cpu" else plain


def _operator(name: str, is_inplace: bool = False) -> Any:
    plain = getattr(sw.Array, name)

    def operate(self: DeviceArray, other: Any) -> Any:
        result = plain(unwrap(self), unwrap(other))
        if result is NotImplemented:
            return result
        return self if is_inplace else type(self)(result)

    return operate


for _name in ("add", "sub", "mul", "truediv"):
    setattr(DeviceArray, f"__{_name}__", _operator(f"__{_name}__"))
    setattr(DeviceArray, f"__r{_name}__", _operator(f"__r{_name}__"))
    setattr(DeviceArray, f"__i{_name}__", _operator(f"__i{_name}__", is_inplace=True))
