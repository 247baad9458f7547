# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Signals that a kernel raises on the CPU, and Ctrl-C, end the kernel and not the process."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import spanwise as sw

SOURCE = r"""
__global__ void far(int *x, long long i)
{
  if (threadIdx.x == 5 && blockIdx.x == 3) x[i] = 1;
}
__global__ void far_beside_a_barrier(int *x, long long i)
{
  __syncthreads();
  if (threadIdx.x == 5 && blockIdx.x == 3) x[i] = 1;
  __syncthreads();
}
__global__ void illegal(int *x, long long i)
{
  if (threadIdx.x == 5 && blockIdx.x == 3) __builtin_trap();
}
__global__ void put(int *x, long long i) { x[threadIdx.x] = (int)i; }
__global__ void loop(volatile int *x, long long i) { while (x[0] == 0) {} }
__global__ void loop_with_barrier(volatile int *x, long long i)
{
  while (x[0] == 0) __syncthreads();
}
__global__ void loop_in_two_blocks(volatile int *x, long long i)
{
  if (blockIdx.x > 5) while (x[0] == 0) {}
}
__global__ void count(volatile int *x, long long i)
{
  for (int n = 0; n < (int)i; ++n) x[0] = n;
}
"""


@pytest.fixture(scope="module")
def module():
    return sw.SourceModule(SOURCE, device="cpu")


@pytest.fixture
def x():
    return sw.zeros(64, "int32", device="cpu")


def can_launch(module, x):
    module.get_function("put")(x, np.int64(7), block=64)
    return (x.numpy() == 7).all()


@pytest.mark.parametrize(
    ("name", "index", "pattern"),
    [
        ("far", -(1 << 40), "SIGSEGV.*at address 0x"),
        ("far", 1 << 45, "SIGSEGV"),
        ("far_beside_a_barrier", 1 << 40, "SIGSEGV"),
        ("illegal", 0, "SIGILL|SIGTRAP"),
    ],
)
def test_signal_names_kernel_block_and_thread(module, x, name, index, pattern):
    with pytest.raises(sw.KernelFaultError, match=pattern) as caught:
        module.get_function(name)(x, np.int64(index), block=64, grid=8)
    assert f"kernel '{name}'" in str(caught.value)
    assert "thread (5, 0, 0) of block (3, 0, 0)" in str(caught.value)
    assert isinstance(caught.value, sw.DeviceError)
    assert can_launch(module, x)


def test_null_pointer_argument_names_the_signal(module, x):
    with pytest.raises(sw.KernelFaultError, match=r"SIGSEGV.*thread \(0, 0, 0\)"):
        module.get_function("put")(None, np.int64(1), block=64)
    assert can_launch(module, x)


def test_signals_in_python_threads_raise_in_those_threads(module):
    outcomes = []

    def launch():
        x = sw.zeros(64, "int32", device="cpu")
        for _ in range(20):
            try:
                module.get_function("far_beside_a_barrier")(x, np.int64(1 << 40), block=64, grid=8)
            except sw.KernelFaultError as error:
                outcomes.append("block (3, 0, 0)" in str(error))
        outcomes.append(can_launch(module, x))

    threads = [threading.Thread(target=launch) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [True] * len(threads) * (20 + 1)  # 20 faults, then one more launch


def interrupt_after(seconds):
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


@pytest.fixture
def default_interrupts():
    """Python's own handler of SIGINT, which raises KeyboardInterrupt; pytest's is restored afterwards."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("check", ["none", "bounds"])
@pytest.mark.parametrize("name", ["loop", "loop_with_barrier", "loop_in_two_blocks"])
def test_ctrl_c_stops_a_looping_kernel(module, x, name, check, default_interrupts):
    kernel = module.get_function(name)
    with sw.config.change(kernel_check=check):
        kernel(sw.ones(64, "int32", device="cpu"), np.int64(0), block=64, grid=8)  # compiles
        timer = interrupt_after(0.2)
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            kernel(x, np.int64(0), block=64, grid=8)
        assert time.monotonic() - start < 10
    timer.join()
    assert can_launch(module, x)


def test_signal_handler_that_returns_does_not_stop_the_kernel(module, x, default_interrupts):
    signals = []
    signal.signal(signal.SIGINT, lambda *_: signals.append(1))
    timer = interrupt_after(0.05)
    module.get_function("count")(x, np.int64(200_000_000), block=1)
    timer.join()
    assert signals == [1]
    assert x[0].item() == 200_000_000 - 1


FAULT_OUTSIDE_A_KERNEL = """
import ctypes, faulthandler, sys
import spanwise as sw
if sys.argv[1] == "faulthandler":
    faulthandler.enable()
f = sw.SourceModule("__global__ void put(int *x) { x[0] = 1; }", device="cpu").get_function("put")
f(sw.zeros(4, "int32", device="cpu"), block=1)
ctypes.string_at(0)
"""


@pytest.mark.parametrize("handler", ["faulthandler", "default"])
def test_signals_of_other_code_reach_their_handlers(handler):
    done = subprocess.run(
        [sys.executable, "-c", FAULT_OUTSIDE_A_KERNEL, handler],
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == -signal.SIGSEGV
    assert ("Fatal Python error: Segmentation fault" in done.stderr) == (handler == "faulthandler")
