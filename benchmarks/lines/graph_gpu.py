# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Host time of graphs on a GPU: a call, each further kernel; and the tutorial's exp loops."""

import functools

import numpy as np
from gpu import first_gpu
from harness import Contender, Result, installed, interleave

import spanwise as sw

SOURCE = """
__global__ void next(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1;
}
"""
LENGTHS = 1, 2, 10, 100
LAUNCHES = 200  # per round: fewer than the driver's queue holds
SIZE = 256
CALLS = 1000


def measure():
    yield from on_device(first_gpu())


def on_device(device):
    yield from _host_times(device)
    for dtype, goals in (("float32", (3.0e-3, 40e-3)), ("float64", (None, None))):
        yield from _exp_loops(device, dtype, goals)


# ---- Functions of several kernels


def _function(op, length, device):
    x = sw.tensor.fvector("x")
    y = x
    for _ in range(length):
        y = op(y)
    return sw.function([x], y, device=device)


def _batch(call, times):
    def run():
        for _ in range(times):
            call()

    return run


def _host_times(device):
    op = sw.kernel_op(
        "next",
        SOURCE,
        inputs=["x: contiguous float32[n]"],
        outputs=["y: contiguous float32[n]"],
        arguments=["x", "y", "n"],
    )
    x = sw.zeros(SIZE, "float32", device=device)
    y = sw.empty(SIZE, "float32", device=device)
    kernel = sw.SourceModule(SOURCE, device=device).get_function("next")
    count = np.int32(SIZE)
    calls = {"kernel call": (lambda: kernel(x, y, count, block=256, grid=1), LAUNCHES)}
    for length in LENGTHS:
        f = _function(op, length, device)
        np.testing.assert_array_equal(f(x).numpy(), np.full(SIZE, length, "float32"))
        calls[_name(length)] = functools.partial(f, x), LAUNCHES // length
    wait = lambda: sw.synchronize(device)  # noqa: E731
    figures = interleave(
        {name: _batch(call, times) for name, (call, times) in calls.items()},
        seconds=0,
        rounds=41,
        after=dict.fromkeys(calls, wait),
    )
    for name, (_, times) in calls.items():
        figures[name].seconds = [s / times for s in figures[name].seconds]
    yield Result(
        f"host time of a function of kernel ops on {device}, {SIZE} float32",
        _name(1),
        figures,
        goal=("over", "kernel call", 0.7e-6),
    )
    pairs = zip(figures[_name(1)].seconds, figures[_name(LENGTHS[-1])].seconds, strict=True)
    per_node = Contender([(long - short) / (LENGTHS[-1] - 1) for short, long in pairs])
    yield Result(
        f"host time of each further kernel op of a function on {device}",
        "a kernel op",
        {"a kernel op": per_node},
        goal=("at most", None, 2.6e-6),
    )


def _name(length):
    return f"function of {length} kernel op{'s' if length > 1 else ''}"


# ---- 1000 x exp of 230400 shared values


def _exp_loops(device, dtype, goals):
    values = np.random.RandomState(22).rand(10 * 30 * 768).astype(dtype)
    x = sw.shared(values, target=device)
    f = sw.function([], sw.exp(x), device=device)
    np.testing.assert_allclose(f().numpy(), np.exp(values), rtol=1e-6)
    left_on_device = {"compiled function": (f, lambda: sw.synchronize(device))}
    copied_to_host = {"compiled function": lambda: f().numpy()}
    if device != "cpu":
        for name, (call, to_host, wait) in _exp_peers(values).items():
            left_on_device[name] = call, wait
            copied_to_host[name] = functools.partial(_composed, to_host, call)
    yield Result(
        f"{CALLS} x exp of 230400 {dtype} on {device}, results left there",
        "compiled function",
        interleave(
            {n: _loop(call, wait) for n, (call, wait) in left_on_device.items()},
            seconds=0,
            rounds=9,
        ),
        goal=("at most", None, goals[0]) if goals[0] else None,
        note="with the wait at the end",
    )
    yield Result(
        f"{CALLS} x exp of 230400 {dtype} on {device}, results to the host",
        "compiled function",
        interleave(
            {n: _batch(call, CALLS) for n, call in copied_to_host.items()}, seconds=0, rounds=5
        ),
        goal=("at most", None, goals[1]) if goals[1] else None,
    )


def _composed(outer, inner):
    return outer(inner())


def _loop(call, wait):
    def run():
        for _ in range(CALLS):
            call()
        wait()

    return run


def _exp_peers(values):
    """By library: the call, the download of its result, and the function that waits for all work."""
    peers = {}
    if installed("torch"):
        import torch

        if torch.cuda.is_available():
            t = torch.from_numpy(values).cuda()
            peers["torch"] = (
                lambda: torch.exp(t),
                lambda r: r.cpu().numpy(),
                torch.cuda.synchronize,
            )
    if installed("cupy"):
        import cupy

        c = cupy.asarray(values)
        peers["cupy"] = lambda: cupy.exp(c), cupy.asnumpy, cupy.cuda.Device().synchronize
    if installed("jax"):
        import jax

        if jax.default_backend() != "cpu" and values.dtype == "float32":
            j, g = jax.device_put(values), jax.jit(jax.numpy.exp)
            peers["jax.jit"] = lambda: g(j), np.asarray, lambda: g(j).block_until_ready()
    return peers
