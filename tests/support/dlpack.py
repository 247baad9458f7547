# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A DLPack producer with ctypes: tests can set each field, and calls of deleters are counted."""

import ctypes
from collections import deque
from ctypes import (
    POINTER,
    c_int32,
    c_int64,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import ClassVar

import numpy as np

#: NumPy before 2.1 asks producers for DLPack without versions, which has no read-only arrays, and takes no
#: device.
NUMPY_ASKS_FOR_VERSIONS = np.lib.NumpyVersion(np.__version__) >= "2.1.0"

CPU, CUDA, PINNED, METAL, MANAGED = 1, 2, 3, 8, 13
READ_ONLY, IS_COPIED, PADDED = 1, 2, 4


class Device(ctypes.Structure):
    _fields_ = (("type", c_int32), ("id", c_int32))


class DataType(ctypes.Structure):
    _fields_ = (("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16))


class Tensor(ctypes.Structure):
    _fields_ = (
        ("data", c_void_p),
        ("device", Device),
        ("ndim", c_int32),
        ("dtype", DataType),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    )


class Version(ctypes.Structure):
    _fields_ = (("major", c_uint32), ("minor", c_uint32))


DELETER = ctypes.CFUNCTYPE(None, c_void_p)


class Managed(ctypes.Structure):
    _fields_ = (("tensor", Tensor), ("manager", c_void_p), ("deleter", DELETER))


class ManagedVersioned(ctypes.Structure):
    _fields_ = (
        ("version", Version),
        ("manager", c_void_p),
        ("deleter", DELETER),
        ("flags", c_uint64),
        ("tensor", Tensor),
    )


# Not ctypes.pythonapi, whose prototypes other libraries (Warp) change.
pythonapi = ctypes.PyDLL(None)
pythonapi.PyCapsule_New.restype = ctypes.py_object
pythonapi.PyCapsule_New.argtypes = (c_void_p, ctypes.c_char_p, c_void_p)
pythonapi.PyCapsule_GetPointer.restype = c_void_p
pythonapi.PyCapsule_GetPointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
pythonapi.PyCapsule_GetName.restype = ctypes.c_char_p
pythonapi.PyCapsule_GetName.argtypes = (ctypes.py_object,)

#: DLDataTypeCode by the kind of a NumPy dtype.
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


def data_type(dtype):
    dtype = np.dtype(dtype)
    if dtype.name == "bfloat16":
        return DataType(4, 16, 1)  # kDLBfloat
    return DataType(CODES[dtype.kind], dtype.itemsize * 8, 1)


class Producer:
    """An object with __dlpack__ over a NumPy array's memory; its tensor can be modified before use.

    `deleted` counts the calls of the deleter.
    """

    # The consumer of a capsule may call the deleter after the test has released the producer, and a
    # ctypes function must not be freed while it runs; so producers with capsules are kept, of those
    # whose deleter was called the last MAX_KEPT.
    MAX_KEPT = 1000
    keep_alive: ClassVar[deque] = deque()

    def __init__(self, values, versioned=True, flags=0, null_strides=False, device=CPU):
        self.values = values
        self.deleted = 0
        self.calls = []
        self._deleter = DELETER(self._delete)
        rank = values.ndim
        self._shape = (c_int64 * max(rank, 1))(*values.shape)
        strides = [stride // values.itemsize for stride in values.strides]
        self._strides = (c_int64 * max(rank, 1))(*strides)
        self.name = b"dltensor_versioned" if versioned else b"dltensor"
        self.managed = ManagedVersioned() if versioned else Managed()
        if versioned:
            self.managed.version = Version(1, 3)
            self.managed.flags = flags
        self.managed.deleter = self._deleter
        tensor = self.tensor = self.managed.tensor
        tensor.data = values.ctypes.data
        tensor.device = Device(device, 0)
        tensor.ndim = rank
        tensor.dtype = data_type(values.dtype)
        tensor.shape = ctypes.cast(self._shape, POINTER(c_int64))
        if not null_strides:
            tensor.strides = ctypes.cast(self._strides, POINTER(c_int64))

    def _delete(self, _):
        self.deleted += 1

    def capsule(self):
        self.keep_alive.append(self)
        while len(self.keep_alive) > self.MAX_KEPT and self.keep_alive[0].deleted:
            self.keep_alive.popleft()
        return pythonapi.PyCapsule_New(ctypes.addressof(self.managed), self.name, None)

    def __dlpack__(self, **keywords):
        self.calls.append(keywords)
        return self.capsule()

    def __dlpack_device__(self):
        return (self.tensor.device.type, self.tensor.device.id)


def name_of(capsule):
    return pythonapi.PyCapsule_GetName(capsule).decode()


def tensor_in(capsule):
    """The managed tensor that a capsule holds, as ctypes."""
    name = pythonapi.PyCapsule_GetName(capsule)
    kind = ManagedVersioned if b"versioned" in name else Managed
    return kind.from_address(pythonapi.PyCapsule_GetPointer(capsule, name))


def consume(capsule):
    """tensor_in(), and marks the capsule as used: the caller must call the deleter."""
    managed = tensor_in(capsule)
    name = b"used_dltensor_versioned" if isinstance(managed, ManagedVersioned) else b"used_dltensor"
    _used_names.append(name)
    pythonapi.PyCapsule_SetName(ctypes.py_object(capsule), ctypes.c_char_p(name))
    return managed


_used_names = []  # keeps the names alive, to which the capsules point
