# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""GPUArray: a spanwise.Array with PyCUDA's members."""

import numpy as np

import spanwise as sw

from ._launch import on_stream
from ._layout import (
    array_over,
    as_shape,
    from_host,
    is_opaque,
    packed_like,
    packed_strides,
    to_host,
)
from ._memory import DeviceAllocation, mem_alloc, registered
from ._operators import Operators

_THREADS = 256


def splay(n, dev=None):
    """A (grid, block) with at least one thread for each of `n` elements."""
    return (max(-(-int(n) // _THREADS), 1), 1), (_THREADS, 1, 1)


class ArrayFlags:
    """c_contiguous, f_contiguous and forc (one of both) of an array."""

    def __init__(self, array):
        strides = np.lib.stride_tricks.as_strided(
            np.empty(1, "V1" if array.itemsize == 1 else f"V{array.itemsize}"),
            array.shape, array.strides,
        )  # fmt: skip
        self.c_contiguous = strides.flags.c_contiguous
        self.f_contiguous = strides.flags.f_contiguous
        self.forc = self.c_contiguous or self.f_contiguous


class GPUArray(Operators):
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
        nbytes = int(np.prod(shape, dtype=object)) * self.dtype.itemsize
        if gpudata is None:
            gpudata = self.allocator(nbytes) if nbytes else mem_alloc(0)
        self._gpudata = gpudata if nbytes else None
        self.array = array_over(gpudata, shape, self.dtype, tuple(int(s) for s in strides))

    @classmethod
    def of(cls, array, like=None, dtype=None, base=None):
        """The GPUArray over a spanwise.Array."""
        self = cls.__new__(cls)
        self.array, self.base, self._gpudata = array, base, None
        self.dtype = np.dtype(array.dtype) if dtype is None else dtype
        self.allocator = mem_alloc if like is None else like.allocator
        return self

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
            self._gpudata = registered(DeviceAllocation(self._bytes()))
        return self._gpudata

    def _bytes(self):
        """The memory from element 0 to the end of the array, or of the array it is a view of."""
        flags = self.flags
        if flags.c_contiguous:
            return self.array.reshape(-1).view("uint8")
        if flags.f_contiguous and not is_opaque(self.dtype):
            return self.array.T.reshape(-1).view("uint8")
        if self.base is not None:
            held = self.base.gpudata
            held = held if isinstance(held, sw.driver.DeviceAllocation) else None
            if held is not None and 0 <= self.ptr - int(held) < held.nbytes:
                return held.array.reshape(-1).view("uint8")[self.ptr - int(held) :]
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
                self.array[...] = sw.asarray(host)

    def set_async(self, ary, stream=None):
        """As set(), on `stream`."""
        self.set(ary, stream=stream)

    def fill(self, value, stream=None):
        """Sets all elements to `value`, and returns the array."""
        with on_stream(stream):
            if is_opaque(self.dtype):
                self.array[...] = sw.asarray(from_host(np.array(value, self.dtype), self.dtype))
            else:
                self.array[...] = value.item() if isinstance(value, np.ndarray) else value
        return self

    def copy(self):
        """A new array with the same order of axes in memory."""
        out = GPUArray(self.shape, self.dtype, self.allocator, strides=packed_like(self))
        sw.copyto(out.array, self.array)
        return out

    def _key(self, index):
        index = index if isinstance(index, tuple) else (index,)
        if not any(part is Ellipsis for part in index):
            return (*index, Ellipsis)
        return (*index, slice(None)) if is_opaque(self.dtype) else index

    def __getitem__(self, index):
        """A view; also for the index of one element."""
        return self._view(self.array[self._key(index)])

    def __setitem__(self, index, value):
        self[index]._assign(value)

    def _assign(self, value):
        if isinstance(value, GPUArray):
            self.array[...] = value.array
        elif isinstance(value, np.ndarray) and value.ndim:
            self.array[...] = sw.asarray(from_host(value, self.dtype))
        else:
            self.fill(value)

    def _view(self, array):
        return GPUArray.of(array, self, self.dtype, base=self if self.base is None else self.base)

    def transpose(self, axes=None):
        """A view with permuted axes, reversed by default. Raises ValueError for other axes."""
        axes = tuple(range(self.ndim))[::-1] if axes is None else tuple(axes)
        if len(axes) != self.ndim:
            raise ValueError(f"transpose: expected {self.ndim} axes, got {axes}")
        axes = tuple(axis + self.ndim if axis < 0 else axis for axis in axes)
        return self._view(
            self.array.transpose((*axes, self.ndim) if is_opaque(self.dtype) else axes)
        )

    def squeeze(self):
        """A view without the axes of extent 1."""
        return self[tuple(0 if extent == 1 else slice(None) for extent in self.shape)]

    def reshape(self, *shape, order="C"):
        """A view of the memory in the given order with another shape; unlike NumPy's, elements of
        an array in Fortran order are taken in the order of memory. Raises ValueError for another
        size, CopyNeededError for strided arrays."""
        shape = shape[0] if isinstance(shape[0], tuple | list) else shape
        shape = [int(extent) for extent in shape]
        if shape.count(-1) > 1:
            raise ValueError(f"reshape: expected at most one -1, got {tuple(shape)}")
        known = int(np.prod([extent for extent in shape if extent != -1], dtype=object))
        if -1 in shape:
            shape[shape.index(-1)] = self.size // known if known else 0
        if int(np.prod(shape, dtype=object)) != self.size:
            raise ValueError(f"reshape: expected {self.size} elements, got shape {tuple(shape)}")
        return self._reinterpreted(shape, self.dtype, order)

    def ravel(self):
        """A view of the memory with one axis."""
        return self.reshape(self.size)

    def _reinterpreted(self, shape, dtype, order):
        if not self.flags.forc:
            raise sw.CopyNeededError(
                f"GPUArray: expected contiguous memory, got strides {self.strides} for shape {self.shape}; "
                "call copy() first"
            )
        base = self if self.base is None else self.base
        return GPUArray(shape, dtype, self.allocator, base, self.gpudata, order=order)

    def view(self, dtype=None):
        """A view of the memory with another dtype. Raises ValueError where it does not fit."""
        dtype = self.dtype if dtype is None else np.dtype(dtype)
        if dtype == self.dtype:
            return self._view(self.array)
        order = "C" if self.flags.c_contiguous else "F"
        shape, axis = list(self.shape), -1 if order == "C" else 0
        if not shape or shape[axis] * self.itemsize % dtype.itemsize:
            raise ValueError(
                f"view: {self.shape} of {self.dtype} cannot be divided into {dtype} of {dtype.itemsize} bytes"
            )
        shape[axis] = shape[axis] * self.itemsize // dtype.itemsize
        return self._reinterpreted(shape, dtype, order)

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
        return _unpickled, (self.get(),)


def to_gpu(ary, allocator=mem_alloc, stream=None):
    """A new GPUArray with the elements of a NumPy array and its order of axes."""
    ary = np.asarray(ary)
    out = GPUArray(ary.shape, ary.dtype, allocator, strides=packed_like(ary))
    out.set(ary, stream=stream)
    return out


def _unpickled(host):
    return to_gpu(host)
