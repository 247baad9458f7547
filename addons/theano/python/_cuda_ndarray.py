# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``CudaNdarray``: a float32 array with the conventions of ``theano.sandbox.cuda``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import spanwise as sw

from .._driver.memory import array_at
from ._device_array import DeviceArray, unwrap
from ._devices import devices


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
