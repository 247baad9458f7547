# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays on the device, which are spanwise.Array with other conventions: ``CudaNdarray``, float32 as in
``theano.sandbox.cuda``, and ``GpuArray`` as in libgpuarray's ``pygpu.gpuarray``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import spanwise as sw
from spanwise.driver import array_at

from ._config import devices, is_host

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


# ---- theano.sandbox.cuda ----


class CudaNdarray(DeviceArray):
    """A float32 array on the GPU. ``strides`` count elements and are 0 on axes of extent 1;
    ``copy.copy`` returns a view.

    ``CudaNdarray(x)`` copies `x`, a float32 array of any library in any layout, in C order. Raises
    TypeError for other dtypes.
    """

    dtype = "float32"
    _owner: Any = None

    def __new__(cls, array: Any) -> CudaNdarray:
        plain = unwrap(array)
        if plain is array and not isinstance(array, sw.Array):
            plain = sw.asarray(array)
        if plain.dtype != "float32":
            raise TypeError(f"CudaNdarray: can only copy from float arrays, got {plain.dtype}")
        if not isinstance(array, sw.Array):
            plain = sw.array(plain, device=devices.gpu, order="C")
        return super().__new__(cls, plain)  # type: ignore[call-arg]

    @staticmethod
    def zeros(shape: Sequence[int]) -> CudaNdarray:
        """Zeros. Raises ValueError for negative extents, TypeError if `shape` is no sequence."""
        if not isinstance(shape, Sequence):
            raise TypeError(f"CudaNdarray.zeros: expected a sequence of extents, got {shape!r}")
        if any(extent < 0 for extent in shape):
            raise ValueError(f"CudaNdarray.zeros: expected extents >= 0, got {tuple(shape)}")
        return CudaNdarray(sw.zeros(tuple(shape), dtype="float32", device=devices.gpu))

    @property
    def strides(self) -> tuple[int, ...]:
        steps = zip(self.shape, unwrap(self).strides, strict=True)
        return tuple(0 if extent == 1 else step // self.itemsize for extent, step in steps)

    _strides = strides
    mem_size = sw.Array.size
    _dev_data = DeviceArray.gpudata

    @property
    def base(self) -> Any:
        """The object that owns the memory of a view; None for an array that owns its memory."""
        return self._owner

    def _view_as(self, plain: sw.Array) -> CudaNdarray:
        view = CudaNdarray(plain)
        if plain.base is not None:  # else it is a copy, which reshape() may make
            view._owner = self if self.base is None else self.base
        return view

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The values on the host: a new array. Raises TypeError for another dtype than float32."""
        if dtype is not None and np.dtype(dtype) != np.float32:
            raise TypeError(
                f"CudaNdarray: expected dtype float32, got {np.dtype(dtype)}; convert the NumPy "
                "array: numpy.asarray(x).astype(dtype)"
            )
        return super().__array__(copy=copy)

    def __copy__(self) -> CudaNdarray:
        return self.view()

    def __deepcopy__(self, memo: dict[int, Any]) -> CudaNdarray:
        return memo.setdefault(id(self), self.copy())

    def __reduce__(self) -> tuple[Any, ...]:
        return CudaNdarray, (self.__array__(),)

    def __getitem__(self, key: Any) -> Any:
        """A view for integers, slices and Ellipsis. IndexError out of range, ValueError for a slice
        of an array of rank 0."""
        if not self.ndim and isinstance(key, slice):
            raise ValueError("CudaNdarray: an array of rank 0 has no slices; use x[...]")
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Raises TypeError for an array of another dtype than float32."""
        dtype = getattr(value, "dtype", "float32") if getattr(value, "ndim", 0) else "float32"
        if dtype != "float32":
            raise TypeError(f"CudaNdarray: expected values of dtype float32, got {dtype}")
        super().__setitem__(key, value)

    def exp(self) -> CudaNdarray:
        return CudaNdarray(sw.exp(unwrap(self)))

    def reduce_sum(self, mask: Sequence[int]) -> CudaNdarray:
        """The sum over the axes whose element of `mask` is 1."""
        axes = tuple(axis for axis, chosen in enumerate(mask) if chosen)
        return CudaNdarray(sw.sum(unwrap(self), axis=axes))

    def __str__(self) -> str:
        return f"<CudaNdarray object at {id(self):#x}>"

    def __repr__(self) -> str:
        return f"CudaNdarray({self.__array__()})"


def dimshuffle(a: CudaNdarray, pattern: Sequence[int]) -> CudaNdarray:
    """A view with the axes in the order `pattern`; -1 is a new axis. Raises ValueError for an axis
    that occurs twice, is out of range, or is dropped and not of extent 1."""
    axes = [axis for axis in pattern if axis != -1]
    if len(set(axes)) != len(axes) or not all(0 <= axis < a.ndim for axis in axes):
        raise ValueError(
            f"dimshuffle: expected axes from 0 to {a.ndim - 1}, each once, got {pattern}"
        )
    dropped = [axis for axis in range(a.ndim) if axis not in axes]
    if any(a.shape[axis] != 1 for axis in dropped):
        raise ValueError(
            f"dimshuffle: only axes of extent 1 can be dropped; shape {a.shape}, pattern {pattern}"
        )
    moved = sw.permute_dims(unwrap(a), (*axes, *dropped))[(..., *[0] * len(dropped))]
    return a._view_as(moved[tuple(None if axis == -1 else slice(None) for axis in pattern)])


def dot(a: CudaNdarray, b: CudaNdarray) -> CudaNdarray:
    """The product of two matrices. Raises TypeError for other ranks."""
    if a.ndim != 2 or b.ndim != 2:
        raise TypeError(f"dot: expected two matrices, got ranks {a.ndim} and {b.ndim}")
    return CudaNdarray(sw.matmul(unwrap(a), unwrap(b)))


def from_gpu_pointer(
    pointer: Any, shape: Sequence[int], strides: Sequence[int], base: Any
) -> CudaNdarray:
    """An array over float32 memory on the GPU at the address `pointer`, with strides in elements.
    `base` owns the memory and is kept alive."""
    byte_strides = tuple(4 * step for step in strides)
    with sw.device(devices.gpu):
        plain = array_at(int(pointer), tuple(shape), "<f4", byte_strides, base)
    array = CudaNdarray(plain)
    array._owner = base
    return array


# ---- theano.gpuarray, and the class of the dialect ----


class GpuArray(DeviceArray):
    """An array on the GPU, returned by a compiled function. ``strides``
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
