# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""GPUArray: a spanwise.Array with PyCUDA's members."""

import math

import numpy as np

import spanwise as sw

from .._driver.memory import all_bytes
from ._layout import (
    array_over,
    as_shape,
    axes_by_stride,
    from_host,
    is_opaque,
    packed_like,
    packed_strides,
    splay,
    to_host,
)
from ._memory import DeviceAllocation, as_allocation, is_address, mem_alloc, on_stream, registered
from ._operators import Operators
from ._views import Views


class ArrayFlags:
    """c_contiguous, f_contiguous and forc (one of both) of an array."""

    def __init__(self, array):
        element = np.empty(1, f"V{array.itemsize}")  # never read: NumPy computes the flags
        flags = np.lib.stride_tricks.as_strided(element, array.shape, array.strides).flags
        self.c_contiguous, self.f_contiguous = flags.c_contiguous, flags.f_contiguous
        self.forc = self.c_contiguous or self.f_contiguous


class GPUArray(Views, Operators):
    """An array on the device, of any dtype of NumPy.

    ``GPUArray(shape, dtype, gpudata=memory)`` is an array over memory that exists: an allocation,
    an address, or an object with get_pointer(). Basic indices, transpose(), view(), reshape() and
    squeeze() share memory. Operators work for all strides and broadcast as NumPy's. `array` is the
    spanwise.Array over the same memory; records and other dtypes that Spanwise lacks are bytes
    there, in an additional last axis.
    """

    def __init__(
        self, shape, dtype, allocator=mem_alloc, base=None, gpudata=None, strides=None, order="C"
    ):
        self.dtype, shape = np.dtype(dtype), as_shape(shape)
        if strides is None:
            strides = packed_strides(shape, self.dtype.itemsize, order)
        self.allocator, self.base = allocator or mem_alloc, base
        nbytes = math.prod(shape) * self.dtype.itemsize
        if gpudata is None:
            gpudata = self.allocator(nbytes) if nbytes else mem_alloc(0)
        elif not is_address(gpudata):
            gpudata = as_allocation(gpudata, nbytes, "GPUArray")
        self._gpudata = gpudata if nbytes else None
        self.array = array_over(gpudata, shape, self.dtype, tuple(int(s) for s in strides))

    @classmethod
    def of(cls, array, like=None, dtype=None, base=None):
        """The GPUArray over the spanwise.Array `array`, with the allocator of the GPUArray `like`.
        `base` is the GPUArray that owns the memory of a view."""
        self = cls.__new__(cls)
        self.array, self.base, self._gpudata = array, base, None
        self.dtype = np.dtype(array.dtype) if dtype is None else dtype
        self.allocator = mem_alloc if like is None else like.allocator
        return self

    @classmethod
    def _allocated(cls, result, like=None, allocator=None):
        """`result` of an operation as a GPUArray, in memory of `allocator` if there is one."""
        result = sw.asarray(result)
        if allocator is None or allocator is mem_alloc:
            return cls.of(result, like)
        out = GPUArray(result.shape, np.dtype(result.dtype), allocator)
        sw.copyto(out.array, result)
        return out

    @classmethod
    def over(cls, gpudata, shape, dtype, allocator, base, order):
        """The contiguous GPUArray over the memory at `gpudata`."""
        return GPUArray(shape, dtype, allocator, base, gpudata, order=order)

    @property
    def shape(self):
        return self.array.shape[:-1] if is_opaque(self.dtype) else self.array.shape

    @property
    def strides(self):
        """Bytes between neighbours on each axis."""
        return self.array.strides[:-1] if is_opaque(self.dtype) else self.array.strides

    @property
    def size(self):
        return self.array.size // (self.dtype.itemsize if is_opaque(self.dtype) else 1)

    mem_size = size
    ndim = property(lambda self: len(self.shape))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.dtype.itemsize)
    flags = property(ArrayFlags)
    ptr = property(lambda self: self.array.ptr)
    T = property(lambda self: self.transpose())
    _grid = property(lambda self: splay(self.size)[0])
    _block = property(lambda self: splay(self.size)[1])

    @property
    def gpudata(self):
        """The memory from element 0 on, None if the array is empty. int() is its address."""
        if self._gpudata is None and self.size:
            self._gpudata = DeviceAllocation(self._bytes())
            if isinstance(self.base, GPUArray):
                _ = self.base.gpudata  # registers all the memory, not the part that this view has
            else:
                registered(self._gpudata)
        return self._gpudata

    def _bytes(self):
        """The memory from element 0 to the end of the array, or of the array it is a view of."""
        axes = axes_by_stride(self.strides, self.shape)
        # An opaque dtype's axis of bytes stays the last.
        ordered = self.array.transpose((*axes, *range(self.ndim, self.array.ndim)))
        if ordered.flags.c_contiguous:
            return ordered.reshape(-1).view("uint8")
        if isinstance(self.base, GPUArray | sw.driver.DeviceAllocation):
            memory = as_allocation(self.base, 0, "GPUArray")
            start = self.ptr - int(memory)
            if 0 <= start < memory.nbytes:
                return all_bytes(memory, "GPUArray")[start:]
        raise sw.CopyNeededError(
            f"GPUArray: expected contiguous memory, got strides {self.strides} for shape {self.shape}; "
            "pass x.copy()"
        )

    @property
    def __cuda_array_interface__(self):
        return {
            "shape": self.shape, "strides": self.strides, "typestr": self.dtype.str,
            "data": (self.ptr, False), "stream": None, "version": 3,
        }  # fmt: skip

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __array__(self, dtype=None, copy=None):
        return self.get() if dtype is None else self.get().astype(dtype)

    def get(self, ary=None, pagelocked=False, async_=False, stream=None):
        """A NumPy array with the elements, or `ary`, after filling it. It waits for the copy.
        Raises ValueError for another size and TypeError for another dtype."""
        with on_stream(stream):
            host = to_host(self.array, self.dtype)
        if ary is None and not pagelocked:
            return host
        if ary is None:
            ary = sw.driver.pagelocked_empty(self.shape, self.dtype)
        if ary.size != self.size:
            raise ValueError(f"GPUArray.get: expected {self.size} elements, got shape {ary.shape}")
        if ary.dtype != self.dtype:
            raise TypeError(f"GPUArray.get: expected dtype {self.dtype}, got {ary.dtype}")
        ary[...] = host.reshape(ary.shape)
        return ary

    def get_async(self, stream=None, ary=None):
        """As get(), on `stream`."""
        return self.get(ary=ary, stream=stream)

    def set(self, ary, async_=False, stream=None):
        """Fills the array from a NumPy array of the same size and dtype. Raises ValueError."""
        if ary.size != self.size or ary.dtype != self.dtype:
            raise ValueError(
                f"GPUArray.set: expected {self.dtype} of shape {self.shape}, got {ary.dtype} of shape {ary.shape}; "
                "convert it with astype() and reshape()"
            )
        with on_stream(stream):
            if isinstance(ary, GPUArray):
                sw.copyto(self.array, ary.array.reshape(self.array.shape))
            elif self.size:
                host = from_host(np.asarray(ary).reshape(self.shape), self.dtype)
                sw.copyto(self.array, sw.asarray(host))

    def set_async(self, ary, stream=None):
        """As set(), on `stream`."""
        self.set(ary, stream=stream)

    def fill(self, value, stream=None):
        """Sets all elements to `value`, and returns the array."""
        with on_stream(stream):
            self.array[...] = self._element(value)
        return self

    def _element(self, value):
        """One element as a value that can be assigned to parts of `self.array`."""
        if is_opaque(self.dtype):
            return self._on_device(np.array(value, self.dtype))
        return value.item() if isinstance(value, np.ndarray) else value

    def _on_device(self, host):
        return sw.asarray(from_host(host, self.dtype), device=self.array.device)

    def copy(self):
        """A new array with the same order of axes in memory."""
        out = GPUArray(self.shape, self.dtype, self.allocator, strides=packed_like(self))
        sw.copyto(out.array, self.array)
        return out

    def __setitem__(self, index, value):
        if isinstance(value, GPUArray):
            value = value.array
        elif isinstance(value, np.ndarray) and value.ndim:
            value = self._on_device(value)
        else:
            value = self._element(value)
        self.array[self._key(index)] = value  # not self[index]: arrays as indices select a copy

    def bind_to_texref(self, texref, *args, **kwargs):
        """Binds the array to a texture reference that is read by tex1Dfetch, or to a factor of
        get_linear_combination_kernel(). Returns the offset, 0."""
        return texref.set_address(self.gpudata, self.nbytes)

    bind_to_texref_ext = bind_to_texref

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of a GPUArray without axes")
        return self.shape[0]

    def __bool__(self):
        if self.size != 1:
            raise ValueError(
                f"the truth value of {self.size} elements is ambiguous; use x.any() or x.all()"
            )
        return bool(self.get())

    def __str__(self):
        return str(self.get())

    def __repr__(self):
        return repr(self.get())

    def __reduce__(self):
        return to_gpu, (self.get(),)


def to_gpu(ary, allocator=mem_alloc, stream=None):
    """A new GPUArray with the elements of a NumPy array and its order of axes."""
    ary = np.asarray(ary)
    out = GPUArray(ary.shape, ary.dtype, allocator, strides=packed_like(ary))
    out.set(ary, stream=stream)
    return out
