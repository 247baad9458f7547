# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""An array whose type is a mapping to CPython and not a sequence, like torch.Tensor.

The type comes from PyType_FromSpec(): a class with __getitem__ has the slots of a sequence, too.
"""

import ctypes

import numpy as np

MP_SUBSCRIPT = 5  # Py_mp_subscript of CPython's typeslots.h
BASETYPE = 1 << 10  # Py_TPFLAGS_BASETYPE


class _PyTypeSlot(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_int), ("function", ctypes.c_void_p)]


class _PyTypeSpec(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_PyTypeSlot)),
    ]


# In the module, since ctypes frees the C function together with this object.
_SUBSCRIPT = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object)(
    lambda self, key: self.values[key]
)


def _mapping_type():
    subscript = ctypes.cast(_SUBSCRIPT, ctypes.c_void_p)
    slots = (_PyTypeSlot * 2)(_PyTypeSlot(MP_SUBSCRIPT, subscript), _PyTypeSlot(0, None))
    spec = _PyTypeSpec(b"mapping_array.Mapping", 0, 0, BASETYPE, slots)
    type_from_spec = ctypes.pythonapi.PyType_FromSpec
    type_from_spec.restype = ctypes.py_object
    return type_from_spec(ctypes.byref(spec))


class MappingArray(_mapping_type()):
    def __init__(self, values):
        self.values = np.asarray(values)
        self.__array_interface__ = self.values.__array_interface__

    def __len__(self):
        if self.values.ndim == 0:
            raise TypeError("len() of a 0-d array")
        return len(self.values)

    def __iter__(self):
        return iter(self.values)

    def __index__(self):
        if self.values.dtype == bool and self.values.size == 1:
            return int(self.values)  # like a bool tensor of PyTorch
        return self.values.__index__()


def is_sequence(x):
    return ctypes.pythonapi.PySequence_Check(ctypes.py_object(x)) == 1
