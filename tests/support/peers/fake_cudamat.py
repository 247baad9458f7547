# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for CUDAMat without a GPU: the same struct and the same rules over host memory.

It has these properties of the real one (cudamat/cudamat.py and .cu, version 0.3): the struct's layout,
sizes that ignore ``is_trans``, ``T`` as a copy of the struct without ownership, slices as views that
reference their root, ``reshape`` in place, and freeing by ``owns_data``.
"""

import ctypes as ct

import numpy as np

from .fake_cudamat_arithmetic import *  # noqa: F403
from .fake_cudamat_arithmetic import Arithmetic, CUDAMatException

__spanwise_device__ = "cpu"
__version__ = "stand-in"

#: The memory of "the device" by address, until it is freed.
allocated = {}


class cudamat(ct.Structure):  # noqa: N801
    _fields_ = (
        ("data_host", ct.POINTER(ct.c_float)),
        ("data_device", ct.POINTER(ct.c_float)),
        ("on_device", ct.c_int),
        ("on_host", ct.c_int),
        ("size", ct.c_int * 2),
        ("is_trans", ct.c_int),
        ("owns_data", ct.c_int),
    )


def _allocate(mat, rows, columns):
    memory = np.empty(max(rows * columns, 1), np.float32)
    address = memory.ctypes.data
    allocated[address] = memory
    _point(mat, address)
    mat.size[:] = rows, columns
    mat.on_device = mat.owns_data = 1


def _point(mat, address):
    mat.data_device = ct.cast(address, ct.POINTER(ct.c_float))


def _address(mat):
    return ct.cast(mat.data_device, ct.c_void_p).value


def _view(mat):
    """The matrix as a NumPy view, as kernels interpret it."""
    if not mat.on_device:
        raise CUDAMatException("Matrix is not in device memory.")
    rows, columns = mat.size
    flat = np.ctypeslib.as_array(mat.data_device, (rows * columns,))
    return flat.reshape((rows, columns), order="F")


class TransposedCUDAMatrix:
    def __init__(self, mat):
        self.mat = cudamat()
        ct.memmove(ct.pointer(self.mat), ct.pointer(mat), ct.sizeof(mat))
        self.mat.is_trans = 1


class CUDAMatrix(Arithmetic):
    def __init__(self, array, copy_to_device=True):
        if isinstance(array, cudamat):
            self.mat = array
        else:
            self.numpy_array = np.array(array, np.float32, order="F")
            self.mat = cudamat()
            if copy_to_device:
                _allocate(self.mat, *self.numpy_array.shape)
                self._memory()[...] = self.numpy_array
            else:
                self.mat.size[:] = self.numpy_array.shape
                self.mat.owns_data = 1
        self.T = TransposedCUDAMatrix(self.mat)

    def __del__(self):
        if hasattr(self, "T"):  # missing if the constructor failed
            self.free_device_memory()

    def free_device_memory(self):
        if self.mat.owns_data and self.mat.on_device:
            allocated.pop(_address(self.mat), None)
            self.mat.on_device = 0

    @staticmethod
    def init_random(seed=0):
        np.random.default_rng(seed)

    @property
    def shape(self):
        return tuple(self.mat.size)

    def _memory(self):
        return _view(self.mat)

    def asarray(self):
        self.numpy_array = self._memory().copy(order="F")
        return self.numpy_array

    def reshape(self, shape):
        if shape[0] * shape[1] != self.shape[0] * self.shape[1]:
            raise CUDAMatException("Incompatible matrix dimensions.")
        self.mat.size[:] = self.T.mat.size[:] = shape
        return self

    def slice(self, first, last):
        if not 0 <= first < last <= self.shape[1]:
            raise CUDAMatException("Incompatible matrix dimensions.")
        mat = cudamat()
        ct.memmove(ct.pointer(mat), ct.pointer(self.mat), ct.sizeof(mat))
        _point(mat, _address(self.mat) + 4 * first * self.shape[0])
        mat.size[1] = last - first
        mat.owns_data = 0
        view = CUDAMatrix(mat)
        view.sliceof = getattr(self, "sliceof", self)
        return view

    get_col_slice = slice

    def set_trans(self, is_trans):
        self.mat.is_trans = int(is_trans)

    def assign(self, value):
        if isinstance(value, CUDAMatrix):
            value = value._memory()
        self._memory()[...] = value
        return self

    @staticmethod
    def _empty(shape):
        return empty(shape)

    def dot(self, other):
        return dot(self, other)


def dot(m1, m2):
    return CUDAMatrix(_as_factor(m1.mat) @ _as_factor(m2.mat))


def _as_factor(mat):
    values = _view(mat)
    return values.T if mat.is_trans else values


def empty(shape):
    mat = cudamat()
    _allocate(mat, *shape)
    return CUDAMatrix(mat)


def cublas_init(max_ones=None):
    pass


def cuda_set_device(ordinal):
    pass
