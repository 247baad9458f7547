# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Streams of other libraries that are destroyed before the arrays that were used on them."""

import gc
import subprocess
import sys
import textwrap

import pytest

# In a new process: the driver's behaviour for a destroyed stream is undefined.
PROLOGUE = """
import ctypes, gc, sys
import numpy as np
import cupy
import spanwise as sw

gpu = sw.device("cuda:0")
SPIN = '''
extern "C" __global__ void spin(float* x, int n, float value, long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = value;
}
'''
kernel = sw.SourceModule(SPIN, device=gpu).get_function("spin")
N = 1000

def spin(x, value, cycles=40_000_000, **kwargs):
    kernel(x, np.int32(x.size), np.float32(value), np.int64(cycles),
           block=(256, 1, 1), grid=(1, 1), **kwargs)

def idle_streams():
    '''Streams that may get the addresses of destroyed ones. They are idle: an event recorded on one
    by mistake would not wait for the work of the destroyed stream.'''
    return [cupy.cuda.Stream(non_blocking=True) for _ in range(40)]

spin(sw.zeros(N, dtype="float32", device=gpu), 0, 1)
sw.synchronize(gpu)
driver = ctypes.CDLL("libcuda.so.1")

def new_stream():
    '''A non-blocking CUstream that no object owns.'''
    cupy.cuda.Device(0).use()
    cupy.zeros(1)
    handle = ctypes.c_void_p()
    assert driver.cuStreamCreate(ctypes.byref(handle), 1) == 0
    return handle.value

def destroy(handle):
    assert driver.cuStreamDestroy_v2(ctypes.c_void_p(handle)) == 0
"""

PROGRAMS = {
    "an object without another reference": """
        for value in range(1, 21):
            y = sw.zeros(N, dtype="float32", device=gpu)
            sw.synchronize(gpu)
            with sw.Stream.foreign(cupy.cuda.Stream(non_blocking=True), gpu):
                spin(y, value)
            gc.collect()
            junk = idle_streams()
            assert (y.numpy() == value).all(), (value, y.numpy()[:4])
            del y
        """,
    "an object given to a launch": """
        for value in range(1, 21):
            y = sw.zeros(N, dtype="float32", device=gpu)
            sw.synchronize(gpu)
            spin(y, value, stream=cupy.cuda.Stream(non_blocking=True))
            gc.collect()
            junk = idle_streams()
            assert (y.numpy() == value).all(), (value, y.numpy()[:4])
        """,
    "the stream of the memory": """
        for value in range(1, 21):
            with sw.Stream.foreign(cupy.cuda.Stream(non_blocking=True), gpu):
                y = sw.zeros(1 << 20, dtype="float32", device=gpu)
                spin(y, value)
            gc.collect()
            junk = idle_streams()
            with sw.Stream(gpu):
                z = y + 1
            del y
            fresh = [sw.full(1 << 20, 7, dtype="float32", device=gpu) for _ in range(4)]
            sw.synchronize(gpu)
            assert (z.numpy() == value + 1).all()
            assert all((f.numpy() == 7).all() for f in fresh)
        """,
    "a handle": """
        for value in range(1, 21):
            handle = new_stream()
            y = sw.zeros(N, dtype="float32", device=gpu)
            sw.synchronize(gpu)
            with sw.Stream.foreign(handle, gpu):
                spin(y, value)
            destroy(handle)
            junk = idle_streams()
            assert (y.numpy() == value).all(), (value, y.numpy()[:4])
        """,
    "a handle given to a launch": """
        for value in range(1, 21):
            handle = new_stream()
            y = sw.zeros(N, dtype="float32", device=gpu)
            sw.synchronize(gpu)
            spin(y, value, stream=handle)
            destroy(handle)
            junk = idle_streams()
            assert (y.numpy() == value).all(), (value, y.numpy()[:4])
        """,
    "a handle that is the stream of the memory": """
        for value in range(1, 21):
            handle = new_stream()
            with sw.Stream.foreign(handle, gpu):
                y = sw.zeros(1 << 20, dtype="float32", device=gpu)
                spin(y, value)
            destroy(handle)
            junk = idle_streams()
            with sw.Stream(gpu):
                z = y + 1
            del y
            fresh = [sw.full(1 << 20, 7, dtype="float32", device=gpu) for _ in range(4)]
            sw.synchronize(gpu)
            assert (z.numpy() == value + 1).all()
            assert all((f.numpy() == 7).all() for f in fresh)
        """,
    "torch's external stream, tensors in": """
        import torch
        for value in range(1, 21):
            handle = new_stream()
            with torch.cuda.stream(torch.cuda.ExternalStream(handle)):
                t = torch.zeros(N, device="cuda")
                torch.cuda._sleep(40_000_000)
                t += value
                ours = sw.asarray(t)
            destroy(handle)
            junk = idle_streams()
            assert ((ours + 1).numpy() == value + 1).all()
            del t, ours
            fresh = [sw.full(N, 7, dtype="float32", device=gpu) for _ in range(4)]
            sw.synchronize(gpu)
            assert all((f.numpy() == 7).all() for f in fresh)
        """,
    "torch's external stream, arrays out": """
        import torch
        for value in range(1, 21):
            handle = new_stream()
            y = sw.zeros(N, dtype="float32", device=gpu)
            with torch.cuda.stream(torch.cuda.ExternalStream(handle)):
                t = sw.to_torch(y)
                t += value
                torch.cuda.current_stream().synchronize()
            destroy(handle)
            junk = idle_streams()
            del t
            assert (y.numpy() == value).all()
            del y
            sw.zeros(N, dtype="float32", device=gpu)
            sw.synchronize(gpu)
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_stream_may_be_destroyed_before_the_arrays_used_on_it(gpu, name):
    pytest.importorskip("cupy", reason="cupy is not installed")
    program = textwrap.dedent(PROGRAMS[name])
    if "import torch" in program:
        pytest.importorskip("torch", reason="torch is not installed")
    done = subprocess.run(
        [sys.executable, "-c", PROLOGUE + program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])


def test_a_stream_object_is_held_by_the_stream_made_of_it(gpu):
    import spanwise as sw

    cupy = pytest.importorskip("cupy", reason="cupy is not installed")
    theirs = cupy.cuda.Stream(non_blocking=True)
    before = sys.getrefcount(theirs)
    ours = sw.Stream.foreign(theirs, gpu)
    assert sys.getrefcount(theirs) == before + 1
    with ours:
        y = sw.zeros(1000, dtype="float32", device=gpu)
    del ours
    gc.collect()
    assert sys.getrefcount(theirs) == before + 1, "the memory's stream"
    sw.synchronize(gpu)
    del y
    gc.collect()
    sw.synchronize(gpu)
    sw.zeros(1, device=gpu)
    assert sys.getrefcount(theirs) == before


def test_tensor_on_a_stream_of_pytorch_is_shared_at_each_import(gpu):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    import spanwise as sw

    with torch.cuda.stream(torch.cuda.Stream()):
        tensor = torch.arange(12, device="cuda")
        first = sw.asarray(tensor)
        assert sw.asarray(tensor).ptr == first.ptr == tensor.data_ptr()
