# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""sw.capture: work that is captured once and queued again, and priorities of streams."""

import gc

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor


def gpu(device):
    if device.kind != "cuda":
        pytest.skip("the CPU executes work when it is queued; test_capture_needs_a_gpu")
    return device


def test_capture_needs_a_gpu():
    with (
        pytest.raises(sw.DeviceError, match=r"capture: expected a GPU, got cpu.* function\(\)"),
        sw.capture("cpu"),
    ):
        raise AssertionError
    assert sw.current_stream("cpu") == sw.current_stream("cpu")
    with pytest.raises(sw.ArgumentError, match=r"CapturedGraph.replay: nothing was captured"):
        sw.capture("cpu").replay()


def test_streams_have_priorities(device):
    with sw.Stream(device, priority=-1) as stream:
        x = sw.ones(3, device=device) + 1
    stream.synchronize()
    assert x.tolist() == [2, 2, 2]
    assert sw.Stream(device, priority=100).query()


def test_replay_computes_with_the_present_values(device):
    gpu(device)
    x = sw.arange(1000, dtype="float32", device=device)
    y = sw.exp(x * 0)  # compiles and allocates before the capture
    with sw.capture(device) as graph:
        assert sw.current_stream(device) == graph.stream
        z = x * 2
        y = z + x
        total = y.sum()
    assert sw.current_stream(device) != graph.stream
    for k in range(3):
        x[...] = k
        graph.replay()
        np.testing.assert_array_equal(y.to("cpu").numpy(), np.full(1000, 3 * k, "float32"))
        assert total.item() == 3000 * k
        assert (y + 1).to("cpu").numpy()[5] == 3 * k + 1
    stream = sw.Stream(device)
    x[...] = 7
    stream.wait(x)
    graph.replay(stream)
    graph.replay(stream=stream)
    assert y.to("cpu").numpy()[0] == 21


def test_capture_of_a_kernel_and_of_a_compiled_function(device):
    gpu(device)
    kernel = sw.SourceModule(
        "__global__ void add(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x;"
        " if (i < n) x[i] += 1; }",
        device=device,
    ).get_function("add")
    v = T.fvector()
    f = sw.function([v], T.exp(v) * 2, device=device)
    x = sw.zeros(100, dtype="float32", device=device)
    f(x)
    with sw.capture(device) as graph:
        kernel(x, 100, block=(128, 1, 1), grid=(1, 1, 1))
        result = f(x)
    assert np.all(x.to("cpu").numpy() == 0)
    for k in range(1, 4):
        graph.replay()
        assert np.all(x.to("cpu").numpy() == k)
        np.testing.assert_allclose(result.to("cpu").numpy(), 2 * np.exp(k), rtol=1e-6)


def test_memory_of_a_capture_is_not_given_to_others(device):
    gpu(device)
    x = sw.ones(100_000, dtype="float32", device=device)
    sw.sqrt(x * 3) + 1
    with sw.capture(device) as graph:
        y = sw.sqrt(x * 3) + 1  # the product is a temporary
    others = [sw.full((100_000,), 9, dtype="float32", device=device) for _ in range(8)]
    graph.replay()
    for other in others:
        assert np.all(other.to("cpu").numpy() == 9)
    np.testing.assert_allclose(y.to("cpu").numpy(), np.sqrt(3) + 1, rtol=1e-6)
    del graph
    gc.collect()
    assert np.all((y * 0).to("cpu").numpy() == 0)


def test_errors_end_the_capture(device):
    gpu(device)
    x = sw.ones(10, device=device)
    graph = sw.capture(device)

    def fail():
        with graph:
            sw.multiply(x, 2)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with pytest.raises(sw.ArgumentError, match="nothing was captured"):
        graph.replay()
    with pytest.raises(sw.Error), sw.capture(device):
        (x * 2).item()  # waits for the device
    with sw.capture(device) as graph:
        y = x * 5
    graph.replay()
    assert y.to("cpu").tolist() == [5] * 10


def test_default_device_is_captured(device):
    gpu(device)
    with device, sw.capture() as graph:
        y = sw.ones(4) * 3
    graph.replay()
    assert graph.device == device and y.tolist() == [3] * 4
