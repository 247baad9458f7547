# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Streams and events: order, the thread's current stream, other libraries' streams."""

import ctypes
import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import spanwise as sw


@pytest.fixture
def gpu(device):
    if device.kind != "cuda":
        pytest.skip("needs a GPU")
    return device


def test_a_stream_belongs_to_its_device(device):
    stream = sw.Stream(device)
    assert stream.device == device
    assert (stream.handle != 0) == (device.kind == "cuda")
    assert str(device) in repr(stream)
    stream.synchronize()
    assert stream.query()


def test_with_stream_is_the_threads_current(device):
    stream = sw.Stream(device)
    before = sw.current_stream(device)
    in_thread = []
    with stream as entered:
        assert entered == stream
        assert sw.current_stream(device) == stream
        inner = sw.Stream(device)
        with inner:
            assert sw.current_stream(device) == inner
        assert sw.current_stream(device) == stream
        thread = threading.Thread(target=lambda: in_thread.append(sw.current_stream(device)))
        thread.start()
        thread.join()
    assert sw.current_stream(device) == before
    assert in_thread == [before]
    assert {before: 1}[sw.current_stream(device)] == 1
    with pytest.raises(sw.ArgumentError, match="not entered"):
        stream.__exit__(None, None, None)


def test_work_on_two_streams_is_in_order(device):
    first, second = sw.Stream(device), sw.Stream(device)
    values = np.arange(100_000, dtype="float32")
    with first:
        array = sw.array(values, device=device)
        array[...] = array[::-1]
    with second:  # the array orders it after `first`
        result = array.copy()
    assert (result.numpy() == values[::-1]).all()
    second.wait(first)
    first.wait(array)
    first.wait(second.record())
    assert isinstance(array.stream, sw.Stream)


def test_events_order_streams_and_measure_time(device):
    stream = sw.Stream(device)
    start, end = sw.Event(timing=True), sw.Event(timing=True)
    start.record(stream)
    with stream:
        sw.zeros(1000, device=device).fill(1)
    end.record(stream)
    end.synchronize()
    assert end.query()
    assert start.device == device
    assert start.elapsed(end) >= 0
    stream.wait(end)
    event = stream.record(timing=True)
    event.synchronize()
    assert event.query()


def test_event_records_the_current_stream_of_a_device(device):
    event = sw.Event()
    event.record(device=device)
    event.synchronize()
    assert event.device == device


def test_event_that_was_not_recorded_raises():
    event = sw.Event()
    for use in (event.synchronize, event.query, lambda: event.device, lambda: event.elapsed(event)):
        with pytest.raises(sw.ArgumentError, match="record"):
            use()


def test_wait_rejects_other_objects():
    with pytest.raises(sw.ArgumentError, match="__cuda_stream__"):
        sw.Stream("cpu").wait("yesterday")


def test_a_cpu_stream_is_no_cuda_stream():
    with pytest.raises(sw.BridgeError, match="no CUDA stream"):
        sw.Stream("cpu").__cuda_stream__()
    with pytest.raises(sw.ArgumentError, match="takes no CUDA stream"):
        sw.Stream.foreign(1, "cpu")


class CudaCore:
    """A stream by the protocol of cuda.core: (version of the protocol, handle)."""

    def __init__(self, handle):
        self.handle_value = handle

    def __cuda_stream__(self):
        return (0, self.handle_value)


SPELLINGS = {
    "integer": lambda handle: handle,
    "cuda.core": CudaCore,
    "torch": lambda handle: SimpleNamespace(cuda_stream=handle, device_index=0),
    "cupy": lambda handle: SimpleNamespace(ptr=handle, device_id=-1),
    "pycuda": lambda handle: SimpleNamespace(handle=handle),
    "numba": lambda handle: SimpleNamespace(handle=ctypes.c_void_p(handle)),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_streams_of_other_libraries_are_accepted(gpu, spelling):
    own = sw.Stream(gpu)
    foreign = sw.Stream.foreign(SPELLINGS[spelling](own.handle), gpu)
    assert foreign.handle == own.handle
    assert foreign.__cuda_stream__() == (0, own.handle)
    foreign.synchronize()
    own.wait(SPELLINGS[spelling](own.handle))


def test_foreign_stream_without_a_device_argument_is_of_the_device_it_names(gpu):
    own = sw.Stream(gpu)
    assert sw.Stream.foreign(own) == own
    assert sw.Stream.foreign(SPELLINGS["torch"](own.handle)).device == sw.device("cuda:0")
    for ordinal in range(sum(device.kind == "cuda" for device in sw.devices())):
        own = sw.Stream(f"cuda:{ordinal}")
        stream = SimpleNamespace(cuda_stream=own.handle, device_index=ordinal)
        assert sw.Stream.foreign(stream) == own


def test_the_legacy_stream_is_1_and_a_bare_0_is_ambiguous(gpu):
    assert sw.Stream.foreign(SimpleNamespace(cuda_stream=0), gpu).handle == 1
    with pytest.raises(sw.ArgumentError):
        sw.Stream.foreign(0, gpu)


@pytest.mark.parametrize("attribute", ["device_index", "device_id"])
def test_a_stream_of_another_device_is_refused(attribute):
    stream = SimpleNamespace(cuda_stream=16, **{attribute: 1})
    with pytest.raises(sw.ArgumentError, match=r"cuda:0.*cuda:1"):
        sw.Stream.foreign(stream, "cuda:0")
    with pytest.raises(sw.ArgumentError, match="cpu"):
        sw.Stream.foreign(sw.Stream("cpu"), "cuda:0")


OPEN_AT_EXIT = """
import sys, threading
import spanwise as sw
sw.Stream(sys.argv[1]).__enter__()
thread = threading.Thread(target=lambda: sw.Stream(sys.argv[1]).__enter__())
thread.start()
thread.join()
print(sw.zeros(2, device=sys.argv[1]).tolist())
"""


def test_threads_end_inside_a_with_block_of_a_stream(device):
    command = [sys.executable, "-c", OPEN_AT_EXIT, str(device)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "[0.0, 0.0]\n"), done.stderr
