# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Views of GPUArray: indices, axes, shapes and dtypes over the same memory."""

import math

import numpy as np

from ._layout import is_opaque, require_contiguous


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
