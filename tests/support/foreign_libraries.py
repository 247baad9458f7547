# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Making, reading and writing arrays of each library, by the library's own functions."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

import spanwise as sw


class Unavailable(Exception):
    """The reason why a library is not available on this machine."""


def has_gpu():
    return any(device.kind == "cuda" for device in sw.devices())


@dataclass
class Library:
    """A library whose arrays hold anything that NumPy's do, unless a subclass says otherwise."""

    name: str
    module: Any
    device: str  #: the device of its arrays
    is_fake: bool = False
    #: The dtypes of the tests that it supports.
    dtypes: ClassVar[tuple] = (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
    is_mutable: ClassVar[bool] = True
    has_views: ClassVar[bool] = True

    def supports(self, array):
        """Whether it has arrays of this dtype and rank, at least as copies."""
        return True

    def holds(self, array):
        """Whether it can share the memory of an array on its device, by the library's documentation,
        independent of Spanwise."""
        return array.flags.writeable

    def shares(self, array):
        """Whether it can share the array's memory."""
        return str(array.device) == self.device and self.holds(array)

    def can_make(self, values):
        """Whether make() supports these values."""
        return True

    def make(self, values):
        """A new array with these values."""
        raise NotImplementedError

    def is_writable(self, array):
        """Whether write() supports the array."""
        return self.is_mutable

    def read(self, array):
        """Its values, read with the library's own functions."""
        raise NotImplementedError

    def write(self, array, value):
        """Sets every element, in place, and waits for it."""
        self.fill(array, value)
        sw.synchronize()

    def fill(self, array, value):
        """Sets every element, in place; may return before."""
        raise NotImplementedError


def steps(array):
    """(extent, stride) of the axes of more than one element; none of an empty array."""
    pairs = zip(array.shape, array.strides, strict=True)
    return [(extent, stride) for extent, stride in pairs if extent > 1 and array.size]


class Numpy(Library):
    def holds(self, array):
        return True

    def make(self, values):
        return np.array(values)

    def read(self, array):
        return np.array(array)

    def fill(self, array, value):
        array[...] = value


class CpuAndGpuLibrary(Library):
    """A library with arrays on the CPU and on its own device."""

    def shares(self, array):
        return str(array.device) in ("cpu", self.device) and self.holds(array)


class Torch(CpuAndGpuLibrary):
    dtypes = tuple(d for d in Library.dtypes if not d.startswith("uint") or d == "uint8")

    def holds(self, array):
        return array.flags.writeable and all(stride >= 0 for _, stride in steps(array))

    def make(self, values):
        return self.module.from_numpy(np.array(values)).to(self.device)

    def read(self, array):
        return array.cpu().numpy().copy()

    def fill(self, array, value):
        array.fill_(value)


class Jax(CpuAndGpuLibrary):
    dtypes = tuple(d for d in Library.dtypes if not d.endswith("64") or d == "complex64")
    is_mutable = False
    has_views = False

    def holds(self, array):
        """Dense in any order of the axes, and aligned to 64 bytes on the CPU, to 16 on a GPU."""
        step = array.itemsize
        for extent, stride in sorted(steps(array), key=lambda pair: pair[1]):
            if stride != step:
                return False
            step *= extent
        alignment = 64 if array.device.kind == "cpu" else 16
        return array.size == 0 or array.ptr % alignment == 0

    def make(self, values):
        return self.module.device_put(np.array(values))

    def read(self, array):
        # np.array(x) may return values that JAX has cached.
        if array.platform() == "cpu":
            return np.array(np.from_dlpack(array))
        return np.array(self.module.numpy.copy(array))


class Tensorflow(Library):
    is_mutable = False
    has_views = False

    def holds(self, array):
        """C order at a multiple of 64 bytes."""
        return array.size == 0 or (array.flags.c_contiguous and array.ptr % 64 == 0)

    def make(self, values):
        return self.module.constant(np.array(values))

    def read(self, array):
        return np.array(array.numpy())


class Cupy(Library):
    def make(self, values):
        return self.module.array(values)

    def read(self, array):
        return self.module.asnumpy(array)

    def fill(self, array, value):
        array.fill(value)


class Numba(Library):
    def holds(self, array):
        return array.flags.writeable and all(stride != 0 for _, stride in steps(array))

    def make(self, values):
        return self.module.to_device(np.ascontiguousarray(values))

    def is_writable(self, array):
        return False  # Numba fills contiguous arrays only

    def read(self, array):
        # Numba copies contiguous arrays only.
        return sw.asarray(array).numpy()


class Warp(CpuAndGpuLibrary):
    dtypes = tuple(d for d in Library.dtypes if not d.startswith("complex"))

    def supports(self, array):
        return 1 <= array.ndim <= 4

    def can_make(self, values):
        return 1 <= values.ndim <= 4

    def make(self, values):
        return self.module.array(np.ascontiguousarray(values), device=self.device)

    def read(self, array):
        return np.array(array.numpy())

    def fill(self, array, value):
        array.fill_(value)


class Pycuda(Library):
    def holds(self, array):
        return array.flags.writeable and all(stride > 0 for _, stride in steps(array))

    def make(self, values):
        return self.module.to_gpu(np.ascontiguousarray(values).reshape(np.shape(values)))

    def _bytes(self, array):
        """Address and size of the bytes that the array spans, and the offset of element 0 in them.

        Read and fill use them, since PyCUDA copies and fills contiguous arrays and few others.
        """
        offsets = [(n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)]
        first = -sum(offset for offset in offsets if offset < 0)
        count = sum(abs(offset) for offset in offsets) + array.dtype.itemsize
        return int(array.gpudata) - first, count, first

    def _window(self, array):
        address, count, first = self._bytes(array)
        memory = np.empty(count, np.uint8)
        self.driver.memcpy_dtoh(memory, address)
        return memory, np.ndarray(array.shape, array.dtype, memory, first, array.strides)

    @property
    def driver(self):
        return import_module("pycuda.driver")

    def read(self, array):
        if array.size == 0:
            return np.empty(array.shape, array.dtype)
        return self._window(array)[1].copy()

    def fill(self, array, value):
        memory, window = self._window(array)
        window[...] = value
        self.driver.memcpy_htod(self._bytes(array)[0], memory)


class Cudamat(Library):
    dtypes = ("float32",)

    def supports(self, array):
        return array.ndim == 2 and array.size > 0

    def holds(self, array):
        return array.flags.writeable and array.flags.f_contiguous

    def can_make(self, values):
        return values.ndim == 2 and values.size > 0

    def make(self, values):
        return self.module.CUDAMatrix(np.array(values))

    def read(self, array):
        return array.asarray().copy()

    def fill(self, array, value):
        array.assign(float(value))


class Gnumpy(Library):
    dtypes = ("float32",)

    def shares(self, array):
        return array.size == 0 or super().shares(array)

    def holds(self, array):
        return array.size == 0 or (array.flags.writeable and array.flags.c_contiguous)

    def make(self, values):
        return self.module.garray(np.array(values))

    def read(self, array):
        return array.as_numpy_array(dtype=np.float32).copy()

    def fill(self, array, value):
        array._base.assign(float(value))
