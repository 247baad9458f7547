# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Host time of one kernel call with three arrays, compared with the driver's launch functions from C."""

import ctypes
import itertools

import numpy as np
from harness import Floor, Result, Unavailable, installed, interleave
from native import build

import spanwise as sw

SOURCE = """
extern "C" __global__ void add(float *z, const float *x, const float *y) {
  int i = threadIdx.x;
  z[i] = x[i] + y[i];
}
"""

# The same kernel as PTX, so that the lower bound uses the driver only.
PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 z, .param .u64 x, .param .u64 y) {
  .reg .b64 %rd<9>; .reg .b32 %r<2>; .reg .f32 %f<4>;
  ld.param.u64 %rd1, [z]; ld.param.u64 %rd2, [x]; ld.param.u64 %rd3, [y];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 4;
  add.u64 %rd5, %rd2, %rd4; ld.global.f32 %f1, [%rd5];
  add.u64 %rd6, %rd3, %rd4; ld.global.f32 %f2, [%rd6];
  add.f32 %f3, %f1, %f2;
  add.u64 %rd7, %rd1, %rd4; st.global.f32 [%rd7], %f3;
  ret;
}
"""

LAUNCHES = 500  # per round: fewer than the driver's queue holds


def measure():
    for device in map(str, sw.devices()):
        x = sw.array(np.arange(128, dtype="float32"), device=device)
        y, z = (
            sw.ones(128, dtype="float32", device=device),
            sw.zeros(128, dtype="float32", device=device),
        )
        f = sw.SourceModule(SOURCE, device=device).get_function("add")
        f(z, x, y, block=(128, 1, 1), grid=(1, 1))
        np.testing.assert_array_equal(z.numpy(), x.numpy() + 1)
        if device == "cpu":
            yield Result(
                "kernel call, three arrays, on the CPU (128 threads run before it returns)",
                "f(z, x, y, block=, grid=)",
                interleave(
                    {
                        "f(z, x, y, block=, grid=)": lambda f=f, x=x, y=y, z=z: f(
                            z, x, y, block=(128, 1, 1), grid=(1, 1)
                        ),
                        "np.add(x, y, out=z)": _numpy_add(),
                    }
                ),
            )
        else:
            yield _on_gpu(device, f, x, y, z)


def _numpy_add():
    x, y, z = np.arange(128, dtype="float32"), np.ones(128, "float32"), np.zeros(128, "float32")
    return lambda: np.add(x, y, out=z)


def _on_gpu(device, f, x, y, z):
    def batch(call):
        def run():
            for _ in range(LAUNCHES):
                call()

        return run

    wait = lambda: sw.synchronize(device)  # noqa: E731
    second_z = sw.zeros_like(z)
    targets = itertools.cycle((z, second_z))
    contenders = {
        "f(z, x, y, block=, grid=)": batch(lambda: f(z, x, y, block=(128, 1, 1), grid=(1, 1))),
        "z another array each time": batch(
            lambda: f(next(targets), x, y, block=(128, 1, 1), grid=(1, 1))
        ),
        "prepared_call": batch(_prepared(f, x, y, z)),
        **{name: batch(call) for name, call in _peers().items()},
    }
    for name, floor in _floors(device, x, y, z, second_z).items():
        contenders[name] = Floor(lambda floor=floor: floor() * LAUNCHES)
    figures = interleave(contenders, seconds=0, rounds=25, after=dict.fromkeys(contenders, wait))
    for figure in figures.values():
        figure.seconds = [s / LAUNCHES for s in figure.seconds]
    return Result(
        f"kernel call, three arrays, on {device}",
        "f(z, x, y, block=, grid=)",
        figures,
        goal=("over", "C cuLaunchKernel", 0.4e-6),
    )


def _prepared(f, x, y, z):
    f.prepare("PPP")
    return lambda: f.prepared_call((1, 1), (128, 1, 1), z, x, y)


def _floors(device, x, y, z, second_z):
    library = build("launch_floor")
    library.floor_load.restype = ctypes.c_void_p
    library.floor_launch.restype = ctypes.c_double
    library.floor_launch.argtypes = [ctypes.c_void_p] * 5 + [ctypes.c_int]
    library.floor_graph.restype = ctypes.c_double
    library.floor_graph.argtypes = [ctypes.c_void_p] * 6 + [ctypes.c_int]
    _make_primary_context_current(int(device.split(":")[1]))
    function = library.floor_load(PTX, b"add")
    if not function:
        raise Unavailable("the driver does not load the floor's kernel")
    stream = sw.current_stream(device).handle
    arrays = z.ptr, x.ptr, y.ptr
    return {
        "C cuLaunchKernel": lambda: library.floor_launch(function, stream, *arrays, LAUNCHES),
        "C cuGraphLaunch": lambda: library.floor_graph(
            function, stream, *arrays, second_z.ptr, LAUNCHES
        ),
    }


def _make_primary_context_current(ordinal):
    driver = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), ordinal) == 0
    assert driver.cuCtxSetCurrent(context) == 0


def _peers():
    peers = {}
    if installed("cupy"):
        import cupy

        a = cupy.arange(128, dtype="float32")
        b, c = cupy.ones_like(a), cupy.zeros_like(a)
        kernel = cupy.RawKernel(SOURCE, "add")
        peers["cupy.RawKernel"] = lambda: kernel((1,), (128,), (c, a, b))
    if installed("torch"):
        import torch

        if torch.cuda.is_available():
            s = torch.arange(128, dtype=torch.float32, device="cuda")
            t, u = torch.ones_like(s), torch.zeros_like(s)
            peers["torch.add(out=)"] = lambda: torch.add(s, t, out=u)
    return peers
