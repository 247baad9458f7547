# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Shapes, strides and dtypes of arrays over raw memory."""

import math
import operator
from functools import lru_cache

import numpy as np

import spanwise as sw

from .._driver.memory import all_bytes, array_at
from ._memory import as_allocation

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
