# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""GPUArray: a spanwise.Array with PyCUDA's members."""

import math
import operator
from functools import lru_cache, partial

import numpy as np

import spanwise as sw
from spanwise.driver import all_bytes, array_at

from ._devices import DeviceAllocation, as_allocation, is_address, mem_alloc, on_stream, registered

# ---- Shapes, strides and dtypes of arrays over raw memory ----


_THREADS = 256


@lru_cache(maxsize=256)
def is_opaque(dtype):
    """Whether Spanwise has no such dtype (records, strings): its elements are moved as bytes, in an
    additional last axis."""
    try:
        return np.dtype(sw.dtype(dtype)) != dtype
    except (TypeError, ValueError):
        return True


def require_contiguous(arrays, caller):
    """Raises ArgumentError without an array, and CopyNeededError unless the elements of each array
    fill their memory, in C or Fortran order."""
    if not arrays:
        raise sw.ArgumentError(f"{caller}: expected a GPUArray among the arguments, got none")
    for array in arrays:
        if not array.flags.forc:
            raise sw.CopyNeededError(
                f"{caller}: expected contiguous memory, got strides {array.strides} for shape "
                f"{array.shape}; call copy() first"
            )


def selected_indices(selection, part, size):
    """The range of indices of a kernel's arguments `range`, an object with start, stop and step, and
    `slice`, of an array with `size` elements, which takes precedence. Without both, all indices."""
    if part is not None:
        return range(*part.indices(size))
    if selection is None:
        return range(size)
    return range(selection.start, selection.stop, 1 if selection.step is None else selection.step)


def as_shape(shape):
    """PyCUDA's shapes, integers, sequences and NumPy arrays, as a tuple of int."""
    shape = np.asarray(shape, dtype=object)
    return tuple(operator.index(extent) for extent in np.atleast_1d(shape).tolist())


def packed_strides(shape, itemsize, order):
    """Strides in bytes of a contiguous array. Raises ValueError for an order other than C or F."""
    if order not in ("C", "F"):
        raise ValueError(f"GPUArray: expected order 'C' or 'F', got {order!r}")
    axes = range(len(shape))
    return _strides_by(axes if order == "F" else reversed(axes), shape, itemsize)


def _strides_by(axes, shape, itemsize):
    """Strides in bytes of a contiguous array; `axes` lists that with the smallest stride first."""
    strides, step = [0] * len(shape), itemsize
    for axis in axes:
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


def axes_by_stride(strides, shape):
    """The axes, that with the largest stride first."""
    return sorted(range(len(strides)), key=lambda axis: (-abs(strides[axis]), -shape[axis], axis))


def packed_like(x, dtype=None):
    """Strides of a contiguous array with the shape of `x` and its order of axes."""
    itemsize = np.dtype(x.dtype if dtype is None else dtype).itemsize
    return _strides_by(reversed(axes_by_stride(x.strides, x.shape)), x.shape, itemsize)


def _is_packed(shape, strides, axes, itemsize):
    """Whether the array is contiguous with the axes in the order `axes`, the largest stride first."""
    packed = _strides_by(reversed(axes), shape, itemsize)
    return all(shape[axis] == 1 or strides[axis] == packed[axis] for axis in axes)


def array_over(gpudata, shape, dtype, strides):
    """The spanwise.Array over the memory at `gpudata`. Opaque dtypes have an additional last axis
    of bytes. Packed layouts share the storage of the allocation, so that work on both is ordered."""
    axes, itemsize = axes_by_stride(strides, shape), dtype.itemsize
    opaque = is_opaque(dtype)
    nbytes = math.prod(shape) * itemsize
    if nbytes == 0 or _is_packed(shape, strides, axes, itemsize):
        flat = all_bytes(as_allocation(gpudata, nbytes, "GPUArray"), "GPUArray")
        if flat.nbytes < nbytes:
            raise sw.ArgumentError(
                f"GPUArray: expected at least {nbytes} bytes for shape {shape} of {dtype}, got {flat.nbytes}; "
                "allocate more or pass a smaller shape"
            )
        flat = flat[:nbytes]
        extents = tuple(shape[axis] for axis in axes)
        if opaque:
            ordered = flat.reshape((*extents, itemsize))
        elif nbytes:
            ordered = flat.view(dtype).reshape(extents)
        else:
            ordered = sw.empty(extents, dtype=dtype)
        inverse = sorted(range(len(axes)), key=axes.__getitem__)
        return ordered.transpose((*inverse, *range(len(inverse), ordered.ndim)))
    owner = as_allocation(gpudata, nbytes, "GPUArray")
    if opaque:
        return array_at(int(owner), (*shape, itemsize), "|u1", (*strides, 1), owner)
    return array_at(int(owner), shape, dtype.str, tuple(strides), owner)


def to_host(array, dtype):
    """A new NumPy array with the elements of `array`, its axes in the same order in memory."""
    opaque = is_opaque(dtype)
    ndim = array.ndim - opaque
    axes = axes_by_stride(array.strides[:ndim], array.shape[:ndim])
    ordered = array.transpose((*axes, ndim) if opaque else tuple(axes)) if ndim else array
    host = np.array(ordered.numpy(), order="C", copy=array.device.kind == "cpu" or None)
    if opaque:
        host = np.ascontiguousarray(host).view(dtype)[..., 0]
    return host.transpose(sorted(range(ndim), key=axes.__getitem__)) if ndim else host


def from_host(host, dtype):
    """`host` as an array that can be assigned to one of array_over()'s."""
    if not is_opaque(dtype):
        return host
    packed = np.ascontiguousarray(host)
    return packed.view("uint8").reshape(*host.shape, dtype.itemsize)


def splay(n, dev=None):
    """A (grid, block) with at least one thread for each of `n` elements."""
    return (max(-(-int(n) // _THREADS), 1), 1), (_THREADS, 1, 1)


# ---- Arithmetic and comparisons, by Spanwise's operators ----


def _is_plain(x):
    """Whether `x` is an ndarray, and not of a subclass that computes itself, as one with units does."""
    return isinstance(x, np.ndarray) and type(x).__array_ufunc__ is np.ndarray.__array_ufunc__


def _operand(x):
    """`x` as an operand of a spanwise.Array; None for other types than GPUArray and numbers."""
    if isinstance(x, Operators):
        return x.array
    if np.isscalar(x) and not isinstance(x, str | bytes):
        return x
    return x[()] if _is_plain(x) and x.ndim == 0 else None


def device_array(x):
    """The spanwise.Array of a GPUArray. Raises TypeError for another object."""
    if not isinstance(x, Operators):
        raise TypeError(
            f"expected a GPUArray, got an object of type {type(x).__name__}; copy an array of the host by "
            "gpuarray.to_gpu(x)"
        )
    return x.array


def _binary(function, reflected=False, is_comparison=False):
    def method(self, other):
        value = _operand(other)
        if value is None:
            if _is_plain(other) and not is_comparison:
                device_array(other)  # raises
            return NotImplemented
        args = (value, self.array) if reflected else (self.array, value)
        result = sw.asarray(function(*args))
        if is_comparison:
            dtypes = [x.dtype for x in (self, other) if isinstance(x, Operators)]
            result = result.astype(np.result_type(*dtypes))
        return self.of(result, self)

    return method


_comparison = partial(_binary, is_comparison=True)


def _in_place(function):
    def method(self, other):
        value = _operand(other)
        if value is None:
            if _is_plain(other):
                device_array(other)  # raises
            return NotImplemented
        self.array[...] = sw.asarray(function(self.array, value)).astype(self.dtype)
        return self

    return method


class Operators:
    """Results are in the array's own dtype for comparisons, as PyCUDA's, and follow NumPy's rules
    otherwise. In-place operators convert to the dtype of the array."""

    __array_priority__ = 100
    __array_ufunc__ = None
    __hash__ = None

    __add__, __radd__ = _binary(operator.add), _binary(operator.add, True)
    __sub__, __rsub__ = _binary(operator.sub), _binary(operator.sub, True)
    __mul__, __rmul__ = _binary(operator.mul), _binary(operator.mul, True)
    __truediv__, __rtruediv__ = _binary(operator.truediv), _binary(operator.truediv, True)
    __pow__, __rpow__ = _binary(operator.pow), _binary(operator.pow, True)
    __iadd__, __isub__ = _in_place(operator.add), _in_place(operator.sub)
    __imul__, __itruediv__ = _in_place(operator.mul), _in_place(operator.truediv)
    __ipow__ = _in_place(operator.pow)
    __eq__, __ne__ = _comparison(operator.eq), _comparison(operator.ne)
    __le__, __ge__ = _comparison(operator.le), _comparison(operator.ge)
    __lt__, __gt__ = _comparison(operator.lt), _comparison(operator.gt)

    def __pos__(self):
        return self

    def __neg__(self):
        return self.of(-self.array, self)

    def __abs__(self):
        return self.of(sw.abs(self.array), self)

    def mul_add(self, selffac, other, otherfac, add_timer=None, stream=None, out=None):
        """``selffac * self + otherfac * other``, written to `out` if it is given."""
        with on_stream(stream):
            return self._out_or_result(selffac * self.array + otherfac * other.array, out)

    def _out_or_result(self, result, out):
        if out is None:
            return self.of(result, self)
        out.array[...] = result.astype(out.dtype)
        return out

    def reverse(self, stream=None):
        """A new array with the elements in reverse order, taken as one axis."""
        with on_stream(stream):
            reversed_ = self.ravel().array[::-1].copy()
        return self.of(reversed_, self).reshape(self.shape)

    def astype(self, dtype, stream=None):
        """A new array with the elements converted to `dtype`."""
        with on_stream(stream):
            return self.of(self.array.astype(np.dtype(dtype)), self)

    def any(self, stream=None, allocator=None):
        """Whether an element is not 0, as an array without axes."""
        with on_stream(stream):
            return self._allocated(sw.any(self.array), self, allocator)

    def all(self, stream=None, allocator=None):
        """Whether no element is 0, as an array without axes."""
        with on_stream(stream):
            return self._allocated(sw.all(self.array), self, allocator)

    @property
    def real(self):
        """A new array of the real parts; the array itself if it is not complex."""
        return self.of(self.array.real.copy(), self) if self.dtype.kind == "c" else self

    @property
    def imag(self):
        """A new array of the imaginary parts; zeros if it is not complex."""
        if self.dtype.kind == "c":
            return self.of(self.array.imag.copy(), self)
        return self.of(sw.zeros_like(self.array), self)

    def conj(self, out=None):
        """The complex conjugate, written to `out` if it is given; the array itself if it is real."""
        if self.dtype.kind != "c":
            return self
        return self._out_or_result(sw.conj(self.array), out)

    conjugate = conj


# ---- Views ----


class Views:
    """Members that return arrays over the memory of `self`."""

    def _key(self, index):
        """`index` for `self.array`, which has the bytes of an opaque dtype on an additional axis."""
        index = index if isinstance(index, tuple) else (index,)
        if not any(part is Ellipsis for part in index):
            return (*index, Ellipsis)  # a view also for the index of one element
        return (*index, slice(None)) if is_opaque(self.dtype) else index

    def __getitem__(self, index):
        """A view, of rank 0 for the index of one element."""
        return self._view(self.array[self._key(index)])

    def _view(self, array):
        return self.of(array, self, self.dtype, base=self if self.base is None else self.base)

    def transpose(self, axes=None):
        """A view with permuted axes, reversed by default. Raises ValueError for other axes."""
        axes = tuple(range(self.ndim))[::-1] if axes is None else tuple(axes)
        if len(axes) != self.ndim:
            raise ValueError(f"transpose: expected {self.ndim} axes, got {axes}")
        axes = tuple(axis + self.ndim if axis < 0 else axis for axis in axes)
        return self._view(self.array.transpose((*axes, *range(self.ndim, self.array.ndim))))

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
        known = math.prod(extent for extent in shape if extent != -1)
        if -1 in shape:
            shape[shape.index(-1)] = self.size // known if known else 0
        if math.prod(shape) != self.size:
            raise ValueError(f"reshape: expected {self.size} elements, got shape {tuple(shape)}")
        return self._reinterpreted(shape, self.dtype, order)

    def ravel(self):
        """A view of the memory with one axis."""
        return self.reshape(self.size)

    def _reinterpreted(self, shape, dtype, order):
        require_contiguous([self], "GPUArray")
        base = self if self.base is None else self.base
        return self.over(self.gpudata, shape, dtype, self.allocator, base, order)

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


# ---- GPUArray ----


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
        if nbytes and is_address(gpudata) and int(gpudata) == 0:
            gpudata = mem_alloc(nbytes)  # until the derived class sets `gpudata`
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
    flags = property(ArrayFlags)
    ptr = property(lambda self: self.array.ptr)
    T = property(lambda self: self.transpose())
    _grid = property(lambda self: splay(self.size)[0])
    _block = property(lambda self: splay(self.size)[1])

    @property
    def nbytes(self):
        # PyCUDA's is a plain attribute, which derived classes set.
        return self.__dict__.get("_nbytes", self.size * self.dtype.itemsize)

    @nbytes.setter
    def nbytes(self, nbytes):
        self._nbytes = nbytes

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

    @gpudata.setter
    def gpudata(self, memory):
        self._gpudata = memory
        self.array = array_over(memory, self.shape, self.dtype, self.strides)

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
        return value.item() if _is_plain(value) else value

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
