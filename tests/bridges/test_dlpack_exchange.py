# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The C exchange API: our function table called as C code does, and the tables of other
libraries."""

import ctypes
import gc
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_int, c_int32, c_int64, c_void_p, py_object

import numpy as np
import pytest
from support import dlpack
from support.dlpack import ManagedVersioned, Producer, Tensor, Version

import spanwise as sw

SET_ERROR = CFUNCTYPE(None, c_void_p, c_char_p, c_char_p)


class Header(ctypes.Structure):
    pass


Header._fields_ = (("version", Version), ("previous", POINTER(Header)))

# PYFUNCTYPE: called with the GIL held, and a Python error that is set is raised.
PYFUNC = ctypes.PYFUNCTYPE


class Api(ctypes.Structure):
    _fields_ = (
        ("header", Header),
        ("allocate", PYFUNC(c_int, POINTER(Tensor), POINTER(c_void_p), c_void_p, SET_ERROR)),
        ("managed_from_object", PYFUNC(c_int, py_object, POINTER(c_void_p))),
        ("managed_to_object", PYFUNC(c_int, c_void_p, POINTER(py_object))),
        ("tensor_from_object", PYFUNC(c_int, py_object, POINTER(Tensor))),
        ("current_stream", PYFUNC(c_int, c_int32, c_int32, POINTER(c_void_p))),
    )


@pytest.fixture
def api():
    capsule = sw.Array.__dlpack_c_exchange_api__
    pointer = dlpack.pythonapi.PyCapsule_GetPointer(capsule, b"dlpack_exchange_api")
    return Api.from_address(pointer)


def test_the_table_names_its_version(api):
    assert (api.header.version.major, api.header.version.minor) == (1, 3)
    assert not api.header.previous


def test_a_tensor_is_borrowed_without_owning(api, device):
    ours = sw.asarray(np.arange(6.0).reshape(2, 3), device=device)[::-1, ::2]
    tensor = Tensor()
    assert api.tensor_from_object(ours, byref(tensor)) == 0
    assert tensor.data == ours.ptr
    assert [tensor.shape[i] for i in range(2)] == [2, 2]
    assert [tensor.strides[i] for i in range(2)] == [-3, 2]


@pytest.mark.parametrize("make", [sw.Array.copy, lambda x: sw.broadcast_to(x, (2, 6))])
def test_read_only_arrays_are_refused(api, device, make):
    ours = make(sw.asarray(np.arange(6.0), device=device, copy=True))
    if ours.ndim == 1:
        ours.flags.writeable = False
    tensor, managed = Tensor(), c_void_p()
    for array in (ours, ours[..., ::2], ours.T, ours[..., 0]):
        with pytest.raises(BufferError, match=r"read-only.*pass x\.copy\(\)"):
            api.tensor_from_object(array, byref(tensor))
        with pytest.raises(BufferError, match=r"read-only.*pass x\.copy\(\)"):
            api.managed_from_object(array, byref(managed))
        assert managed.value is None and tensor.data is None
    copied = ours.copy()
    assert api.tensor_from_object(copied, byref(tensor)) == 0
    assert tensor.data == copied.ptr


def test_managed_tensor_round_trips(api, device):
    ours = sw.asarray(np.arange(6.0), device=device)
    managed, back = c_void_p(), py_object()
    assert api.managed_from_object(ours, byref(managed)) == 0
    assert api.managed_to_object(managed, byref(back)) == 0
    assert back.value.ptr == ours.ptr
    address = ours.ptr
    del ours
    gc.collect()
    assert back.value.ptr == address
    assert back.value.tolist() == [0, 1, 2, 3, 4, 5]


def test_ownership_is_taken_also_where_the_tensor_is_malformed(api):
    producer = Producer(np.arange(3.0))
    producer.tensor.ndim = -1
    out = py_object()
    with pytest.raises(sw.BridgeError):
        api.managed_to_object(ctypes.addressof(producer.managed), byref(out))
    assert producer.deleted == 1


def test_other_objects_are_refused(api):
    managed = c_void_p()
    with pytest.raises(sw.BridgeError, match="spanwise.Array"):
        api.managed_from_object("text", byref(managed))
    with pytest.raises(sw.BridgeError, match="spanwise.Array"):
        api.tensor_from_object(3, byref(Tensor()))


def test_a_tensor_is_allocated_by_a_prototype(api):
    prototype = Producer(np.zeros((2, 3), np.int16)).tensor
    prototype.strides = ctypes.cast(ctypes.c_void_p(8), POINTER(c_int64))  # a read would crash
    errors, managed = [], c_void_p()
    report = SET_ERROR(lambda context, kind, message: errors.append((kind, message)))
    assert api.allocate(byref(prototype), byref(managed), None, report) == 0
    assert errors == []
    allocated = ManagedVersioned.from_address(managed.value)
    assert [allocated.tensor.shape[i] for i in range(2)] == [2, 3]
    assert [allocated.tensor.strides[i] for i in range(2)] == [3, 1]
    assert allocated.tensor.dtype.bits == 16
    allocated.deleter(managed)


def test_failed_allocation_gives_the_reason(api):
    prototype = Producer(np.zeros((2, 3))).tensor
    prototype.ndim = -1
    errors, managed = [], c_void_p()
    report = SET_ERROR(lambda context, kind, message: errors.append((kind, message)))
    assert api.allocate(byref(prototype), byref(managed), None, report) == -1
    ((kind, message),) = errors
    assert kind == b"ValueError"
    assert b"axes" in message


def test_current_stream_is_null_on_the_host_and_ours_on_a_gpu(api, device):
    stream = c_void_p(1)
    assert api.current_stream(dlpack.CPU, 0, byref(stream)) == 0
    assert stream.value is None
    if device.kind == "cuda":
        assert api.current_stream(dlpack.CUDA, device.ordinal, byref(stream)) == 0
        assert stream.value == sw.current_stream(device).handle


@pytest.fixture
def foreign():
    """A class whose instances carry a Producer, with an exchange table made of ctypes."""

    class Foreign:
        def __init__(self, producer):
            self.producer = producer

    def managed_from_object(object, out):
        producer = object.producer
        if producer is None:
            return -1
        out[0] = ctypes.addressof(producer.managed)
        return 0

    table = Api()
    table.header.version = Version(1, 3)
    table.managed_from_object = Api._fields_[2][1](managed_from_object)
    Foreign.table = table
    capsule = dlpack.pythonapi.PyCapsule_New(ctypes.addressof(table), b"dlpack_exchange_api", None)
    Foreign.__dlpack_c_exchange_api__ = capsule
    return Foreign


def test_table_of_another_library_is_used(foreign):
    producer = Producer(np.arange(6.0).reshape(2, 3).T)
    ours = sw.asarray(foreign(producer))
    assert producer.calls == []
    assert ours.ptr == producer.values.ctypes.data
    assert ours.tolist() == producer.values.tolist()
    del ours
    assert producer.deleted == 1


def test_producers_error_is_reported(foreign):
    with pytest.raises(sw.BridgeError, match="refused"):
        sw.asarray(foreign(None))


def test_an_older_table_in_the_chain_is_found(foreign):
    newest = Header()
    newest.version = Version(2, 0)
    newest.previous = ctypes.pointer(foreign.table.header)
    capsule = dlpack.pythonapi.PyCapsule_New(ctypes.addressof(newest), b"dlpack_exchange_api", None)
    foreign.__dlpack_c_exchange_api__ = capsule
    assert sw.asarray(foreign(Producer(np.arange(3.0)))).tolist() == [0, 1, 2]


def test_table_of_another_major_version_is_not_called(foreign):
    foreign.table.header.version = Version(2, 0)
    with pytest.raises(sw.BridgeError):
        sw.asarray(foreign(Producer(np.arange(3.0))))


def test_tvm_ffi_reads_our_table_and_we_read_its_tensors(device):
    tvm_ffi = pytest.importorskip("tvm_ffi")
    ours = sw.asarray(np.arange(6.0).reshape(2, 3), device=device)
    tensor = tvm_ffi.from_dlpack(ours)
    assert tuple(tensor.shape) == (2, 3)
    back = sw.from_dlpack(tensor)
    assert back.ptr == ours.ptr
    assert back.tolist() == ours.tolist()


def test_tvm_ffi_gets_no_read_only_array(device):
    tvm_ffi = pytest.importorskip("tvm_ffi")
    ours = sw.broadcast_to(sw.zeros(1, device=device), (3,))
    with pytest.raises(BufferError, match="read-only"):
        tvm_ffi.from_dlpack(ours)
    with pytest.raises(BufferError, match="read-only"):
        tvm_ffi.convert(lambda x: x)(ours)
    assert tuple(tvm_ffi.from_dlpack(ours.copy()).shape) == (3,)
