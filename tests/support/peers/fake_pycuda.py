# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for PyCUDA without a GPU: GPUArray's attributes and rules over host memory.

It has these properties of the real one (pycuda/gpuarray.py, 2026.1): ``gpudata`` is an allocation in
arrays that own memory, an integer in views, None without elements; ``strides`` are bytes and unchecked;
views reference their base; a base needs an address.
"""

import ctypes
import sys
from types import ModuleType

import numpy as np


class DeviceAllocation:
    live = 0  #: allocations that have not been freed

    def __init__(self, nbytes):
        self.memory = np.empty(nbytes, np.uint8)
        DeviceAllocation.live += 1

    def __int__(self):
        return self.memory.ctypes.data

    def __del__(self):
        DeviceAllocation.live -= 1


class DeviceMemoryPool:
    """Reuses freed blocks at once."""

    def __init__(self):
        self.free = {}

    def allocate(self, nbytes):
        return PooledDeviceAllocation(self, nbytes)


class PooledDeviceAllocation:
    def __init__(self, pool, nbytes):
        self.pool, self.nbytes = pool, nbytes
        blocks = pool.free.setdefault(nbytes, [])
        self.block = blocks.pop() if blocks else DeviceAllocation(nbytes)

    def __int__(self):
        return int(self.block)

    def __del__(self):
        self.pool.free[self.nbytes].append(self.block)


class GPUArray:
    def __init__(
        self,
        shape,
        dtype,
        allocator=DeviceAllocation,
        base=None,
        gpudata=None,
        strides=None,
        order="C",
    ):
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.dtype = np.dtype(dtype)
        self.size = int(np.prod(self.shape, dtype=np.int64))
        if strides is None:
            strides = np.empty(self.shape, self.dtype, order).strides
        self.strides = tuple(strides)
        self.nbytes = self.size * self.dtype.itemsize
        self.allocator, self.base = allocator, base
        if gpudata is None:
            assert base is None
            gpudata = allocator(self.nbytes) if self.size else None
        self.gpudata = gpudata

    @property
    def ptr(self):
        return int(self.gpudata)

    def _memory(self):
        """The array as a NumPy view."""
        if self.size == 0:
            return np.empty(self.shape, self.dtype)
        offsets = [(n - 1) * s for n, s in zip(self.shape, self.strides, strict=True)]
        lowest = sum(o for o in offsets if o < 0)
        nbytes = sum(abs(o) for o in offsets) + self.dtype.itemsize
        interface = {"shape": (nbytes,), "typestr": "|u1", "data": (self.ptr + lowest, False)}
        holder = type("Bytes", (), {"__array_interface__": {**interface, "version": 3}})()
        flat = np.asarray(holder)
        return np.ndarray(self.shape, self.dtype, flat, -lowest, self.strides)

    def get(self):
        return self._memory().copy()

    def set(self, values):
        self._memory()[...] = values

    def fill(self, value):
        self._memory().fill(value)
        return self

    def __getitem__(self, index):
        view = self._memory()[index]
        offset = view.__array_interface__["data"][0]
        return GPUArray(
            view.shape, self.dtype, self.allocator, base=self, gpudata=offset, strides=view.strides
        )

    @property
    def T(self):  # noqa: N802
        return GPUArray(
            self.shape[::-1],
            self.dtype,
            self.allocator,
            base=self if self.base is None else self.base,
            gpudata=self.gpudata,
            strides=self.strides[::-1],
        )


def to_gpu(values, allocator=DeviceAllocation):
    array = GPUArray(values.shape, values.dtype, allocator, strides=_packed(values).strides)
    array.set(values)
    return array


def _packed(values):
    return values.copy(order="F" if values.flags.f_contiguous else "C")


def memcpy_dtoh(values, address):
    ctypes.memmove(values.ctypes.data, address, values.nbytes)


def memcpy_htod(address, values):
    ctypes.memmove(address, values.ctypes.data, values.nbytes)


def install():
    """Makes ``import pycuda.gpuarray`` import this module."""
    package, module = ModuleType("pycuda"), ModuleType("pycuda.gpuarray")
    driver = ModuleType("pycuda.driver")
    driver.memcpy_dtoh, driver.memcpy_htod = memcpy_dtoh, memcpy_htod
    package.__spanwise_device__ = "cpu"
    package.__version__ = "stand-in"
    package.__path__ = []
    package.gpuarray = module
    module.GPUArray, module.to_gpu = GPUArray, to_gpu
    sys.modules |= {"pycuda": package, "pycuda.gpuarray": module, "pycuda.driver": driver}
    return module
