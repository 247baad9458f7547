# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Devices: names, the thread's default, and the errors of absent devices."""

import operator
import pickle
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest
from support.arrays import numbers

import spanwise as sw


def has_cuda():
    return "cuda:0" in sw.devices()


def test_devices_equal_their_names():
    assert sw.device("cuda") == sw.device("cuda:0") == "cuda:0"
    assert sw.device("cuda:1") != "cuda:0"
    assert operator.eq("cpu", sw.device("cpu"))
    assert sw.device("cpu") != 0
    assert sw.device("cpu") != "no device at all"
    assert len({sw.device("cuda"), sw.device("cuda:0"), sw.device("cpu")}) == 2
    assert str(sw.device("cuda:3")) == "cuda:3"
    assert repr(sw.device("cpu")) == "device('cpu')"
    assert (sw.device("cuda:3").kind, sw.device("cuda:3").ordinal) == ("cuda", 3)
    assert pickle.loads(pickle.dumps(sw.device("cuda:2"))) == "cuda:2"


def test_devices_of_other_libraries_are_accepted():
    torch_like = SimpleNamespace(type="cuda", index=2)
    assert sw.device(torch_like) == "cuda:2"
    assert sw.device(SimpleNamespace(type="cuda", index=None)) == "cuda:0"
    assert sw.device(SimpleNamespace(type="cpu", index=0)) == "cpu"
    assert sw.device(SimpleNamespace(platform="gpu", id=1)) == "cuda:1"
    assert sw.device(SimpleNamespace(platform="cpu", id=0)) == "cpu"
    assert sw.device(SimpleNamespace(device=torch_like)) == "cuda:2"
    cupy_device = type("Device", (), {"__module__": "cupy.cuda.device", "id": 1})
    assert sw.device(cupy_device()) == "cuda:1"


@pytest.mark.parametrize("wrong", ["tpu", "cuda:", "cuda:-1", "cpu0x", 0, object(), 1.5])
def test_invalid_device_raises(wrong):
    with pytest.raises(sw.ArgumentError) as caught:
        sw.device(wrong)
    assert isinstance(caught.value, ValueError)


def test_last_device_is_the_cpu(device):
    present = sw.devices()
    assert present[-1] == "cpu"
    assert device in present
    assert sw.default_device() == present[0] or sw.config.device != "auto"


def test_properties_describe_the_device(device):
    properties = device.properties
    assert properties.name
    assert properties.architecture
    assert 0 < properties.free_memory <= properties.total_memory
    assert properties.multiprocessors > 0
    assert len(properties.max_block) == len(properties.max_grid) == 3
    assert properties.name in repr(properties)


def test_absent_device_error_names_the_device():
    for use in (
        lambda: sw.device("cuda:99").properties,
        lambda: sw.zeros(2, device="cuda:99"),
        lambda: sw.zeros(2).to("cuda:99"),
        lambda: sw.Stream("cuda:99"),
        lambda: sw.synchronize("cuda:99"),
    ):
        with pytest.raises(sw.DeviceError, match="cuda:99"):
            use()
    with pytest.raises(sw.DeviceError), sw.device("cuda:99"):
        pytest.fail("entered the context of a device that does not exist")


def test_with_device_is_the_threads_default(device):
    before = sw.default_device()
    in_thread = []
    with device as entered:
        assert entered == device
        assert sw.zeros(2).device == device
        with sw.device("cpu"):
            assert sw.zeros(2).device == "cpu"
        assert sw.default_device() == device
        thread = threading.Thread(target=lambda: in_thread.append(sw.default_device()))
        thread.start()
        thread.join()
    assert sw.default_device() == before
    assert in_thread == [before]


def test_leaving_without_entering_is_an_error():
    with pytest.raises(sw.ArgumentError, match="not entered"):
        sw.device("cpu").__exit__(None, None, None)


def test_an_exception_passes_through_the_block(device):
    before = sw.default_device()
    with pytest.raises(KeyError), device:
        raise KeyError
    assert sw.default_device() == before


def test_to_copies_only_to_another_device(device):
    values = numbers((3, 4), "float32", 1)
    on_device = sw.array(values, device="cpu")[:, ::2].to(device)
    assert on_device.device == device
    back = on_device.to("cpu")
    assert (back.numpy() == values[:, ::2]).all()
    assert on_device.to(device) is on_device
    copied = on_device.to(device, copy=True)
    copied[...] = 0
    assert (on_device.numpy() == values[:, ::2]).all()
    if device != "cpu":
        with pytest.raises(sw.CopyNeededError):
            on_device.to("cpu", copy=False)


def test_synchronize_waits_for_queued_work(device):
    array = sw.zeros(1000, device=device)
    array.fill(2)
    sw.synchronize(device)
    sw.synchronize()
    device.synchronize()
    assert array.stream.query()


@pytest.mark.skipif(not has_cuda(), reason="needs a GPU")
def test_a_gpu_is_the_default():
    assert sw.default_device() == "cuda:0" or sw.config.device != "auto"


def test_import_touches_no_cuda_and_no_array_library():
    program = """
import sys
before = set(sys.modules)
import spanwise
maps = open("/proc/self/maps").read()
assert "libcuda.so" not in maps and "libnvrtc" not in maps, "a CUDA library is loaded"
heavy = {"numpy", "torch", "cupy", "jax", "numba", "pycuda"} & (set(sys.modules) - before)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", program], check=True)
