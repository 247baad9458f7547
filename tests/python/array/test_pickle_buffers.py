# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Out-of-band pickle buffers are used without a copy and keep strides and the read-only flag."""

import pickle

import numpy as np
import pytest
from support.arrays import assert_same, numbers

import spanwise as sw


def round_trip(array, transport=bytearray):
    """The array after pickling and unpickling with out-of-band buffers, each copied by
    `transport`."""
    buffers = []
    stream = pickle.dumps(array, 5, buffer_callback=buffers.append)
    assert len(stream) < 1000
    return pickle.loads(stream, buffers=[transport(buffer.raw()) for buffer in buffers])


def test_large_buffers_are_pickled_out_of_band(device):
    array = sw.array(numbers((100, 1000), "float32", 1), device=device)
    buffers = []
    stream = pickle.dumps(array, protocol=5, buffer_callback=buffers.append)
    assert len(stream) < 1000
    assert sum(buffer.raw().nbytes for buffer in buffers) == array.nbytes
    assert_same(pickle.loads(stream, buffers=buffers), array.numpy())


def test_out_of_band_buffer_is_shared():
    array = sw.array(numbers((3, 4), "float32", 1), device="cpu")
    buffers = []
    stream = pickle.dumps(array, 5, buffer_callback=buffers.append)
    assert buffers[0].raw().nbytes == array.nbytes
    assert np.shares_memory(np.frombuffer(buffers[0], "uint8"), array.numpy())
    storage = bytearray(buffers[0].raw())
    back = pickle.loads(stream, buffers=[storage])
    np.frombuffer(storage, "float32")[5] = 77
    assert back[1, 1].item() == 77
    back[0, 0] = 55
    assert np.frombuffer(storage, "float32")[0] == 55
    with pytest.raises(BufferError):
        storage.append(0)  # exported as long as the array exists
    del back
    storage.append(0)


def test_read_only_out_of_band_buffer_gives_a_read_only_array(device):
    array = sw.array(numbers((3, 4), "float32", 1), device=device)
    back = round_trip(array, bytes)
    assert_same(back, array.numpy())
    assert back.flags.writeable is (device.kind != "cpu")  # on a GPU the array has a copy


@pytest.mark.parametrize("transport", [bytes, bytearray, memoryview])
def test_unaligned_buffer_is_copied(transport):
    array = sw.array(numbers((3, 4), "float64", 1), device="cpu")
    back = round_trip(array, lambda raw: memoryview(transport(b"x" + bytes(raw)))[1:])
    assert_same(back, array.numpy())
    back[0, 0] = 1


@pytest.mark.parametrize("step", [-1, 2])
def test_a_strided_buffer_is_refused(device, step):
    x = np.arange(8.0)
    stream = pickle.dumps(
        sw.array(x[::2] if step == 2 else x, device=device), 5, buffer_callback=lambda _: None
    )
    strided = memoryview(x)[::step]
    with pytest.raises(sw.ArgumentError, match="expected a contiguous buffer of .* got a strided"):
        pickle.loads(stream, buffers=[strided])


def test_a_buffer_of_another_size_is_refused():
    stream = pickle.dumps(sw.arange(8.0), 5, buffer_callback=lambda _: None)
    with pytest.raises(sw.ArgumentError, match="64 bytes.*got 63"):
        pickle.loads(stream, buffers=[bytes(63)])
    with pytest.raises(sw.ArgumentError, match="64 bytes.*got 64000"):
        pickle.loads(stream, buffers=[np.zeros(8000)])


def test_dense_buffer_of_any_order_is_shared():
    array = sw.array(numbers((3, 4), "float32", 1), device="cpu")
    stream = pickle.dumps(array, 5, buffer_callback=lambda _: None)
    column_major = np.asfortranarray(array.numpy().reshape(4, 3).T)
    back = pickle.loads(stream, buffers=[pickle.PickleBuffer(column_major)])
    assert_same(back, array.numpy())
    assert np.shares_memory(back.numpy(), column_major)


VIEWS = {
    "rows": lambda a: a,
    "columns": lambda a: a.transpose(),
    "permuted": lambda a: a.transpose((1, 2, 0)),
    "reversed": lambda a: a[::-1],
    "every second": lambda a: a[:, ::2],
    "with an axis": lambda a: a[:, None],
    "no elements": lambda a: a[:0],
    "one element": lambda a: a[1, 1, 1:2],
}


@pytest.mark.parametrize("transport", [bytes, bytearray])
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_pickle_keeps_the_order_of_axes(device, view, protocol, transport):
    oracle = view(numbers((3, 4, 5), "int32", 1))
    array = view(sw.array(numbers((3, 4, 5), "int32", 1), device=device))
    dense = oracle.copy("K")  # without gaps, in the same order of axes
    unpickled = [pickle.loads(pickle.dumps(array, protocol))]
    if protocol == 5:
        unpickled.append(round_trip(array, transport))
    for back in unpickled:
        assert_same(back, oracle)
        strided = [i for i, extent in enumerate(dense.shape) if extent > 1]
        if dense.size:
            assert [back.strides[i] for i in strided] == [dense.strides[i] for i in strided]
        assert back.flags.f_contiguous == dense.flags.f_contiguous
        assert back.flags.c_contiguous == dense.flags.c_contiguous


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_read_only_flag_survives_pickling(device, protocol):
    array = sw.array(np.arange(6.0), device=device)
    array.flags.writeable = False
    back = pickle.loads(pickle.dumps(array, protocol))
    assert_same(back, np.arange(6.0))
    assert not back.flags.writeable
    assert not round_trip(array).flags.writeable


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_broadcast_elements_are_pickled_once(device, protocol):
    oracle = np.broadcast_to(np.arange(4.0)[:, None], (1000, 4, 1000))
    array = sw.broadcast_to(sw.array(np.arange(4.0)[:, None], device=device), oracle.shape)
    stream = pickle.dumps(array, protocol)
    assert len(stream) < 1000
    back = pickle.loads(stream)
    assert back.shape == oracle.shape
    assert back.strides == oracle.strides == (0, 8, 0)
    assert not back.flags.writeable
    assert back[::999, :, ::999].tolist() == oracle[::999, :, ::999].tolist()
