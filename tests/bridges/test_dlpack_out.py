# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Export through DLPack: both kinds of capsules, the flags, and the arguments of the standard."""

import ctypes
import gc

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support import dlpack
from support.arrays import COMPUTABLE, pair, windows

import spanwise as sw

DLPACK_KIND = {"cpu": dlpack.CPU, "cuda": dlpack.CUDA}


def device_pair(device):
    return DLPACK_KIND[device.kind], device.ordinal if device.kind == "cuda" else 0


def delete(managed):
    address = ctypes.cast(managed.deleter, ctypes.c_void_p).value
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)(ctypes.addressof(managed))


@given(
    window=windows(),
    dtype=st.sampled_from(COMPUTABLE),
    version=st.sampled_from([None, (0, 8), (1, 0), (1, 3), (2, 0)]),
    seed=st.integers(0, 2**32),
)
def test_the_tensor_describes_the_array(device, window, dtype, version, seed):
    ours, oracle = pair(window, dtype, device, seed)
    versioned = version is not None and version[0] >= 1
    if not (versioned or ours.flags.writeable):  # an unversioned capsule has no flags
        with pytest.raises(BufferError, match="read"):
            ours.__dlpack__(max_version=version)
        return
    capsule = ours.__dlpack__(max_version=version)
    assert dlpack.name_of(capsule) == ("dltensor_versioned" if versioned else "dltensor")
    managed = dlpack.tensor_in(capsule)
    if versioned:
        assert (managed.version.major, managed.version.minor) == (1, 3)
        assert managed.flags == (0 if ours.flags.writeable else 1)  # DLPACK_FLAG_BITMASK_READ_ONLY
    tensor = managed.tensor
    assert (tensor.device.type, tensor.device.id) == device_pair(device)
    assert tensor.byte_offset == 0
    assert tensor.ndim == oracle.ndim
    expected = dlpack.data_type(oracle.dtype)
    assert (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes) == (
        expected.code,
        expected.bits,
        1,
    )
    assert tuple(tensor.shape[i] for i in range(tensor.ndim)) == oracle.shape
    if oracle.size == 0:
        assert tensor.data is None
        return
    assert tensor.data == ours.ptr
    for axis, extent in enumerate(oracle.shape):
        if extent > 1:
            assert tensor.strides[axis] * oracle.itemsize == oracle.strides[axis]
        else:
            assert tensor.strides[axis] > 0


def test_dlpack_device_is_the_pair_of_the_standard(device):
    assert sw.zeros(3, device=device).__dlpack_device__() == device_pair(device)


def test_the_tensor_keeps_the_memory_until_its_deleter(device):
    ours = sw.asarray(np.arange(1000.0), device=device, copy=True)
    managed = dlpack.consume(ours.__dlpack__(max_version=(1, 0)))
    again = sw.from_dlpack(ours.__dlpack__(max_version=(1, 0)))
    del ours
    gc.collect()
    delete(managed)
    assert again.tolist() == list(range(1000))


def test_read_only_arrays_need_a_version(device):
    if device.kind != "cpu":
        pytest.skip("the read-only array is one of NumPy")
    values = np.arange(3.0)
    values.flags.writeable = False
    ours = sw.asarray(values)
    managed = dlpack.tensor_in(ours.__dlpack__(max_version=(1, 0)))
    assert managed.flags == dlpack.READ_ONLY
    with pytest.raises(BufferError, match="max_version"):
        ours.__dlpack__()
    managed = dlpack.tensor_in(ours.__dlpack__(copy=True))
    assert managed.tensor.data != ours.ptr


def test_read_only_arrays_are_not_given_to_torch(device):
    ours = sw.broadcast_to(sw.zeros(1, device=device), (3,))
    # torch.from_dlpack() ignores the read-only flag; a producer knows it by the calling module.
    caller = {"__name__": "torch.utils.dlpack", "x": ours}
    with pytest.raises(BufferError, match=r"read-only.*to_torch\(x, copyif=True\)"):
        eval("x.__dlpack__(max_version=(1, 0))", caller)
    managed = dlpack.tensor_in(eval("x.__dlpack__(max_version=(1, 0), copy=True)", caller))
    assert managed.flags == dlpack.IS_COPIED
    assert dlpack.tensor_in(ours.__dlpack__(max_version=(1, 0))).flags == dlpack.READ_ONLY


def test_a_copy_is_marked_as_one(device):
    ours = sw.zeros(3, device=device)
    managed = dlpack.tensor_in(capsule := ours.__dlpack__(max_version=(1, 0), copy=True))
    assert managed.flags == dlpack.IS_COPIED
    assert managed.tensor.data != ours.ptr
    del capsule
    managed = dlpack.tensor_in(ours.__dlpack__(max_version=(1, 0), copy=False))
    assert managed.flags == 0


def test_export_to_the_host_from_any_device(device):
    ours = sw.asarray(np.arange(3.0), device=device)
    capsule = ours.__dlpack__(max_version=(1, 0), dl_device=(dlpack.CPU, 0))
    managed = dlpack.tensor_in(capsule)
    assert managed.tensor.device.type == dlpack.CPU
    assert managed.flags == (0 if device.kind == "cpu" else dlpack.IS_COPIED)
    assert sw.from_dlpack(capsule).tolist() == [0.0, 1.0, 2.0]
    if dlpack.NUMPY_ASKS_FOR_VERSIONS:
        assert np.from_dlpack(ours, device="cpu").tolist() == [0.0, 1.0, 2.0]


def test_export_to_another_device_is_refused(device):
    with pytest.raises(BufferError, match="move it first"):
        sw.zeros(3, device=device).__dlpack__(dl_device=(dlpack.METAL, 0))


def test_stream_for_a_host_array_is_refused():
    for stream in (-1, 0, 1, 2, 12345):
        with pytest.raises(ValueError, match="expected None"):
            sw.zeros(3, device="cpu").__dlpack__(stream=stream)


def test_gpu_array_accepts_any_stream_but_0(device):
    if device.kind == "cpu":
        pytest.skip("needs a GPU")
    ours = sw.zeros(3, device=device)
    for stream in (None, -1, 1, 2):
        assert dlpack.name_of(ours.__dlpack__(stream=stream)) == "dltensor"
    with pytest.raises(ValueError, match="stream 0"):
        ours.__dlpack__(stream=0)


@pytest.mark.parametrize(
    "kwargs",
    [
        {"max_version": 1},
        {"max_version": (1,)},
        {"max_version": ("1", "0")},
        {"dl_device": "cpu"},
        {"stream": "none"},
        {"unknown": 1},
    ],
    ids=str,
)
def test_malformed_arguments_are_type_errors(kwargs):
    with pytest.raises(TypeError):
        sw.zeros(3, device="cpu").__dlpack__(**kwargs)


def test_positional_arguments_raise():
    with pytest.raises(TypeError, match="0 arguments by position"):
        sw.zeros(3).__dlpack__(None)


def test_numpy_takes_every_layout_without_a_copy():
    base = sw.asarray(np.arange(24.0).reshape(2, 3, 4))
    for view in (base, base.T, base[::-1, :, ::2], base[:, 1], base[None, ..., 0]):
        assert np.from_dlpack(view).ctypes.data == view.ptr
        np.testing.assert_array_equal(np.from_dlpack(view), np.asarray(view))


def test_the_exchange_api_is_on_the_type():
    api = sw.Array.__dlpack_c_exchange_api__
    assert dlpack.name_of(api) == "dlpack_exchange_api"
    assert sw.Array.__dlpack_c_exchange_api__ is api
