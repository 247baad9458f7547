# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""sw.driver calls cuda.bindings: conversion of handles, results and errors."""

import enum
import sys
import types

import numpy as np
import pytest

import spanwise as sw
import spanwise.driver as drv


class Status(enum.IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1


@pytest.fixture
def fake_bindings(monkeypatch):
    """A fake of cuda.bindings.driver, whose cuEcho returns its arguments; the default device is cpu."""
    module = types.ModuleType("cuda.bindings.driver")
    module.cuEcho = lambda *values, **named: (Status(0), *values, *named.values())
    module.cuNothing = lambda: (Status(0),)
    module.cuFail = lambda: (Status(1), None)
    module.CU_STREAM_LEGACY = 7
    module.CUresult = Status
    for name in ("cuda", "cuda.bindings"):
        package = types.ModuleType(name)
        package.__path__ = []
        monkeypatch.setitem(sys.modules, name, package)
    sys.modules["cuda.bindings"].driver = module
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", module)
    with sw.device("cpu"):
        yield module


def test_results_omit_the_status(fake_bindings):
    assert drv.cuEcho(3) == 3
    assert drv.cuEcho(3, more=4) == (3, 4)
    assert drv.cuNothing() is None
    assert drv.CU_STREAM_LEGACY == 7 and drv.CUresult is Status


def test_errors_are_device_errors(fake_bindings):
    with pytest.raises(sw.DeviceError, match="cuFail.*CUDA_ERROR_INVALID_VALUE") as caught:
        drv.cuFail()
    assert caught.value.code == 1 and caught.value.name == "CUDA_ERROR_INVALID_VALUE"


def test_spanwise_objects_are_passed_as_handles(fake_bindings):
    array = sw.zeros(4, device="cpu")
    memory = drv.mem_alloc(16)
    module = sw.SourceModule("__global__ void k() {}", device="cpu")
    event = drv.Event().record()
    texture = sw.Texture(np.zeros(3, "float32"))
    objects = (array, memory, sw.Stream("cpu"), event, module, module.get_function("k"), texture)
    assert drv.cuEcho(*objects) == (array.ptr, int(memory), 0, 0, 0, 0, int(texture))
    assert all(type(value) is int for value in drv.cuEcho(*objects))
    assert drv.cuEcho("text", 2.5) == ("text", 2.5)
    assert drv.cuEcho(sw.device("cpu"), drv.Context(sw.device("cpu"))) == (0, 0)


def test_missing_driver_functions_name_a_remedy(monkeypatch, fake_bindings):
    with pytest.raises(AttributeError, match="cuda.bindings has none either"):
        drv.cuNoSuchFunction  # noqa: B018
    with pytest.raises(AttributeError, match="coming-from-pycuda"):
        drv.no_name_of_pycudas  # noqa: B018
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    monkeypatch.delitem(sys.modules, "cuda.bindings.driver")
    with pytest.raises(AttributeError, match="pip install cuda-bindings"):
        drv.cuEcho  # noqa: B018
    assert not hasattr(drv, "__wrapped__")


def test_handles_on_the_cpu_are_0():
    stream, event = sw.Stream("cpu"), sw.Event()
    assert stream.handle == int(stream) == 0
    with pytest.raises(sw.ArgumentError, match="record"):
        event.handle  # noqa: B018
    event.record(stream)
    assert event.handle == int(event) == 0
    module = sw.SourceModule("__global__ void k() {}", device="cpu")
    assert module.handle == int(module) == module.get_function("k").handle == 0
    with pytest.raises(sw.ArgumentError, match="Event.foreign"):
        sw.Event.foreign(12345, "cpu")
    with pytest.raises(sw.ArgumentError, match="Event.foreign"):
        sw.Event.foreign("event", "cpu")
    with pytest.raises(sw.DeviceError, match="no CUdevice"):
        int(drv.Device("cpu"))


@pytest.fixture
def gpu(device):
    """The device, a GPU on which the functions of cuda.bindings can be called."""
    pytest.importorskip("cuda.bindings.driver")
    if device.kind != "cuda":
        pytest.skip("the driver's functions need a GPU")
    with sw.device(device):
        yield device


def test_real_driver_takes_arrays_and_streams(gpu):
    x = sw.array(np.arange(8, dtype="int32"), device=gpu)
    drv.cuMemsetD32(x, 5, 4)
    drv.cuCtxSynchronize()
    assert x.tolist() == [5, 5, 5, 5, 4, 5, 6, 7]
    stream = sw.Stream(gpu)
    drv.cuMemsetD32Async(x, 6, 8, stream)
    drv.cuStreamSynchronize(stream)
    assert x.tolist() == [6] * 8
    with pytest.raises(sw.DeviceError, match="cuMemsetD32"):
        drv.cuMemsetD32(1, 5, 4)


def test_stream_and_event_of_the_real_driver_are_imported(gpu):
    created = drv.cuStreamCreate(0)
    stream = sw.Stream.foreign(created, gpu)
    assert stream.handle == int(created)
    event = drv.cuEventCreate(0)
    drv.cuEventRecord(event, stream)
    imported = sw.Event.foreign(event, gpu)
    assert imported.handle == int(event)
    imported.synchronize()
    assert imported.query()
    sw.Stream(gpu).wait(event)
    del imported
    drv.cuEventDestroy(event)
    drv.cuStreamDestroy(created)


def test_real_driver_takes_kernels_and_modules(gpu):
    module = sw.SourceModule('extern "C" __global__ void k(int *p) { *p += 3; }', device=gpu)
    kernel = module.get_function("k")
    p = sw.zeros(1, dtype="int32", device=gpu)
    address = np.array([p.ptr], "uint64")
    pointers = np.array([address.ctypes.data], "uint64")
    for function in (kernel, drv.cuModuleGetFunction(module, b"k")):
        stream = sw.current_stream(gpu)
        drv.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, pointers.ctypes.data, 0)
    sw.synchronize(gpu)
    assert p.item() == 6
