# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Read-only memory stays read-only in every export: the other side gets the flag, an error, or a
copy."""

import copy
import pickle

import numpy as np
import pytest
from support.dlpack import NUMPY_ASKS_FOR_VERSIONS

import spanwise as sw

LIBRARIES = [bridge.name for bridge in sw.bridges() if "out" in bridge.directions]


def frozen(device):
    array = sw.asarray(np.arange(12.0, dtype="float32").reshape(3, 4), device=device, copy=True)
    array.flags.writeable = False
    return array


ARRAYS = {
    "frozen": frozen,
    "view of a frozen": lambda device: frozen(device)[::2, ::-1],
    "broadcast": lambda device: sw.broadcast_to(
        sw.arange(4.0, dtype="float32", device=device), (3, 4)
    ),
    "broadcast_arrays": lambda device: sw.broadcast_arrays(
        sw.arange(4.0, dtype="float32", device=device), sw.zeros((3, 1), device=device)
    )[0],
    "meshgrid": lambda device: sw.meshgrid(
        sw.arange(4.0, dtype="float32", device=device),
        sw.arange(3.0, dtype="float32", device=device),
        copy=False,
    )[0],
}


@pytest.fixture(params=ARRAYS.values(), ids=ARRAYS)
def array(request, device):
    array = request.param(device)
    before = array.tolist()
    yield array
    sw.synchronize(device)
    assert array.tolist() == before
    assert not array.flags.writeable


def test_views_and_imports_keep_the_flag(array):
    for view in (array.T, array[0], array[None], array.view("int32"), sw.flip(array)):
        assert not view.flags.writeable
    for same in (sw.asarray(array), sw.from_dlpack(array), array.to(array.device)):
        assert not same.flags.writeable
    capsule = array.__dlpack__(max_version=(1, 0))
    assert not sw.from_dlpack(capsule).flags.writeable
    assert not pickle.loads(pickle.dumps(array)).flags.writeable
    assert copy.deepcopy(array).flags.writeable


def test_numpy_and_buffers_cannot_write(array):
    if array.device.kind != "cpu":
        assert array.__cuda_array_interface__["data"][1] is True
        return
    assert array.__array_interface__["data"][1] is True
    assert memoryview(array).readonly
    views = [np.asarray(array), array.numpy(), sw.to_numpy(array)]
    if NUMPY_ASKS_FOR_VERSIONS:
        views.append(np.from_dlpack(array))
    for view in views:
        assert np.shares_memory(view, array.numpy())
        with pytest.raises(ValueError, match="WRITEABLE"):
            view.flags.writeable = True


# Numba uses timedelta64 in a way that NumPy 2.5 deprecates.
@pytest.mark.filterwarnings("ignore:The 'generic' unit:DeprecationWarning")
@pytest.mark.parametrize("library", LIBRARIES)
def test_libraries_of_writable_arrays_get_a_copy_or_nothing(array, library):
    if library in ("numpy", "jax", "tensorflow"):
        pytest.skip("its arrays are read-only where the memory is")
    try:
        with pytest.raises(sw.CopyNeededError, match="read-only|strides|broadcast|memory is on"):
            sw.convert(array, library)
    except (sw.BridgeError, sw.DeviceError, ImportError) as error:
        pytest.skip(f"{library} cannot be used here: {error}")


def test_kernels_get_it_for_pointers_to_const_only(array):
    module = sw.SourceModule("__global__ void f(float *x) { x[0] = 7; }", device=array.device)
    with pytest.raises(sw.ReadOnlyError), array.device:
        module.get_function("f")(sw.asarray(array), block=(1, 1, 1), grid=(1, 1))
