# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Import of DLPack tensors: every deleter is called exactly once, every malformed tensor raises."""

import gc

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support import dlpack
from support.arrays import COMPUTABLE, assert_same, numbers, windows
from support.dlpack import Producer

import spanwise as sw


@given(
    window=windows(),
    dtype=st.sampled_from(COMPUTABLE),
    versioned=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_any_window_is_shared_and_deleted_once(window, dtype, versioned, seed):
    values = window.of(numbers(window.base_shape, dtype, seed))
    producer = Producer(values, versioned)
    ours = sw.from_dlpack(producer)
    assert_same(ours, values)
    if values.size > 0:
        assert ours.ptr == values.ctypes.data
    view = ours[...] if ours.ndim else ours.reshape(1)
    del ours
    assert producer.deleted == 0
    del view
    assert producer.deleted == 1


@pytest.mark.parametrize("versioned", [True, False])
def test_null_strides_are_c_order(versioned):
    values = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    ours = sw.from_dlpack(Producer(values, versioned, null_strides=True))
    assert_same(ours, values)


def test_null_shape_and_strides_are_right_for_rank_0():
    producer = Producer(np.array(2.5), null_strides=True)
    producer.tensor.shape = None
    assert sw.from_dlpack(producer).item() == 2.5


def test_byte_offset_is_added_to_the_address():
    producer = Producer(np.arange(4.0))
    producer.tensor.ndim = 0
    producer.tensor.byte_offset = 16
    assert sw.from_dlpack(producer).item() == 2.0


@pytest.mark.parametrize("data", [0, 0xDEADBEEF])
def test_address_of_an_empty_tensor_is_ignored(data):
    producer = Producer(np.zeros((0, 3), np.float32))
    producer.tensor.data = data
    assert sw.from_dlpack(producer).shape == (0, 3)


def test_strides_of_axes_with_at_most_one_element_are_ignored():
    producer = Producer(np.arange(3.0).reshape(1, 3))
    producer._strides[0] = -(2**62)
    assert sw.from_dlpack(producer).tolist() == [[0.0, 1.0, 2.0]]


def test_read_only_flag_is_preserved():
    ours = sw.from_dlpack(Producer(np.arange(3.0), flags=dlpack.READ_ONLY))
    assert not ours.flags.writeable
    assert sw.from_dlpack(Producer(np.arange(3.0))).flags.writeable
    assert sw.from_dlpack(Producer(np.arange(3.0), versioned=False)).flags.writeable


def test_a_copy_that_the_producer_made_is_refused_without_copies():
    producer = Producer(np.arange(3.0), flags=dlpack.IS_COPIED)
    with pytest.raises(sw.CopyNeededError):
        sw.from_dlpack(producer, copy=False)
    assert producer.deleted == 1
    assert sw.from_dlpack(Producer(np.arange(3.0), flags=dlpack.IS_COPIED)).tolist() == [0, 1, 2]


def test_misaligned_memory_is_copied_and_the_tensor_released():
    raw = np.zeros(33, np.uint8)
    raw[1:].view("<f8")[...] = np.arange(4)
    producer = Producer(raw[1:].view("<f8"))
    with pytest.raises(sw.CopyNeededError, match="address"):
        sw.from_dlpack(producer, copy=False)
    assert producer.deleted == 1
    assert sw.from_dlpack(producer).tolist() == [0, 1, 2, 3]
    gc.collect()
    assert producer.deleted == 2


@pytest.mark.parametrize("versioned", [True, False])
def test_capsule_is_consumed_once(versioned):
    producer = Producer(np.arange(3.0), versioned)
    capsule = producer.capsule()
    ours = sw.from_dlpack(capsule)
    assert dlpack.name_of(capsule).startswith("used_dltensor")
    with pytest.raises(sw.ArgumentError, match="once"):
        sw.from_dlpack(capsule)
    assert ours.tolist() == [0.0, 1.0, 2.0]
    del ours
    assert producer.deleted == 1


def test_a_capsule_of_something_else_is_refused():
    capsule = dlpack.pythonapi.PyCapsule_New(1, b"something_else", None)
    with pytest.raises(sw.BridgeError):
        sw.from_dlpack(capsule)


def set_shape(producer, *extents):
    for axis, extent in enumerate(extents):
        producer._shape[axis] = extent


MALFORMED = {
    "negative rank": lambda p: setattr(p.tensor, "ndim", -1),
    "huge rank": lambda p: setattr(p.tensor, "ndim", 65),
    "no shape": lambda p: setattr(p.tensor, "shape", None),
    "negative extent": lambda p: set_shape(p, 2, -3),
    "size overflow": lambda p: set_shape(p, 2**40, 2**40),
    "byte overflow": lambda p: set_shape(p, 2**61, 1),
    "stride overflow": lambda p: p._strides.__setitem__(0, 2**62),
    "address underflow": lambda p: p._strides.__setitem__(0, -(2**59)),
    "null address": lambda p: setattr(p.tensor, "data", None),
    "unknown device": lambda p: setattr(p.tensor.device, "type", 77),
    "no bits": lambda p: setattr(p.tensor.dtype, "bits", 0),
    "no lanes": lambda p: setattr(p.tensor.dtype, "lanes", 0),
    "broken bytes": lambda p: setattr(p.tensor.dtype, "bits", 12),
}


@pytest.mark.parametrize("versioned", [True, False])
@pytest.mark.parametrize("spoil", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_tensors_are_errors_and_released(spoil, versioned):
    producer = Producer(np.zeros((2, 3), np.float64), versioned)
    spoil(producer)
    with pytest.raises(sw.Error):
        sw.from_dlpack(producer.capsule())
    assert producer.deleted == 1


def test_unsupported_device_raises_naming_it():
    producer = Producer(np.zeros(3), device=dlpack.METAL)
    with pytest.raises(sw.BridgeError, match="Metal"):
        sw.from_dlpack(producer)


def test_error_for_an_absent_gpu_gives_the_reason():
    if any(device.kind == "cuda" for device in sw.devices()):
        pytest.skip("there is a GPU")
    producer = Producer(np.zeros(3), device=dlpack.CUDA)
    with pytest.raises(sw.DeviceError, match="cuda:0"):
        sw.from_dlpack(producer)
    with pytest.raises(sw.DeviceError, match="cuda:0"):
        sw.from_dlpack(producer.capsule())
    assert producer.deleted == 1


def test_pinned_memory_is_imported_as_memory_of_the_cpu():
    ours = sw.from_dlpack(Producer(np.arange(3.0), device=dlpack.PINNED))
    assert str(ours.device) == "cpu"
    assert ours.tolist() == [0.0, 1.0, 2.0]


def test_vector_elements_are_carried_as_they_are():
    producer = Producer(np.arange(8, dtype=np.float32).reshape(2, 4)[:, 0])
    producer.tensor.dtype = dlpack.DataType(2, 32, 4)  # a float of 32 bits, 4 lanes
    producer._strides[0] = 1
    ours = sw.from_dlpack(producer)
    assert ours.dtype.name == "float32x4"
    assert ours.nbytes == 32


@pytest.mark.parametrize(
    ("code", "bits", "lanes", "name"),
    [(10, 8, 1, "float8_e4m3fn"), (12, 8, 1, "float8_e5m2"), (17, 4, 2, "float4_e2m1fnx2")],
)
def test_narrow_floats_are_carried(code, bits, lanes, name):
    producer = Producer(np.arange(4, dtype=np.uint8))
    producer.tensor.dtype = dlpack.DataType(code, bits, lanes)
    assert sw.from_dlpack(producer).dtype.name == name


def test_padded_sub_byte_elements_are_refused():
    producer = Producer(np.arange(4, dtype=np.uint8), flags=dlpack.PADDED)
    producer.tensor.dtype = dlpack.DataType(17, 4, 2)
    with pytest.raises(sw.DTypeError, match="packed"):
        sw.from_dlpack(producer)
    assert producer.deleted == 1


def test_a_deleter_may_be_missing():
    producer = Producer(np.arange(3.0))
    producer.managed.deleter = dlpack.DELETER()
    assert sw.from_dlpack(producer).tolist() == [0.0, 1.0, 2.0]
