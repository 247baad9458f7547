# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Copies into an existing array, one line per layout, compared with memcpy of the same size.

memcpy is NumPy's copy of a contiguous array by one thread; Spanwise uses all threads unless the line
says otherwise.
"""

import contextlib

import numpy as np
from harness import Result, installed, interleave
from layouts import LAYOUTS, memory

import spanwise as sw

# Goals as multiples of memcpy's time; other lines: at most NumPy's time.
GOALS = {
    "contiguous": 1.0,
    "transpose float32": 1 / 0.8,
    "transpose uint8": 1 / 0.6,
    "permutation (3, 2, 1, 0)": 1 / 0.7,
}


def measure():
    for layout in LAYOUTS:
        yield _line(*layout)
    yield _cast()


def _line(name, dtype, shape, view):
    source = view(memory(shape, dtype))
    target = np.ones(source.shape, dtype)
    sw_source = view(sw.array(memory(shape, dtype), device="cpu"))
    sw_target = sw.ones(source.shape, dtype=dtype, device="cpu")
    # Pages that were never written all map to one page of zeros, which stays in the caches.
    packed, packed_target = np.ones(source.nbytes, np.uint8), np.ones(source.nbytes, np.uint8)

    def one_thread():
        with sw.config.change(cpu_threads=1):
            sw.copyto(sw_target, sw_source)

    contenders = {
        "sw.copyto": lambda: sw.copyto(sw_target, sw_source),
        "sw.copyto, one thread": one_thread,
        "np.copyto": lambda: np.copyto(target, source),
        "memcpy": lambda: np.copyto(packed_target, packed),
    }
    if installed("jax") and source.strides and 0 not in source.strides:
        contenders |= _jax(view, memory(shape, dtype))
    figures = interleave(contenders, rounds=9)
    assert sw_target.numpy().tobytes() == target.tobytes()
    goal = ("ratio", "memcpy", GOALS[name]) if name in GOALS else ("ratio", "np.copyto", 1.0)
    return Result(f"copy on the CPU: {name}, {dtype}", "sw.copyto", figures, goal=goal)


def _jax(view, memory):
    """JAX's copy as a column; none for views that JAX cannot make."""
    import jax

    with contextlib.suppress(Exception):
        source = jax.device_put(memory, jax.devices("cpu")[0])
        if source.dtype == memory.dtype:  # JAX makes 64-bit numbers narrower
            packed = jax.jit(lambda a: view(a) + 0)
            packed(source).block_until_ready()
            return {"jax, into a fresh array": lambda: packed(source).block_until_ready()}
    return {}


def _cast():
    values = np.random.default_rng(0).random(1 << 23, dtype="float32")
    sw_source = sw.asarray(values)
    sw_target = sw.zeros(values.shape, dtype="float64", device="cpu")
    target = np.zeros(values.shape)
    contenders = {
        "sw.copyto": lambda: sw.copyto(sw_target, sw_source),
        "np.copyto": lambda: np.copyto(target, values),
    }
    figures = interleave(contenders, rounds=7)
    np.testing.assert_array_equal(sw_target.numpy(), target)
    return Result(
        "cast on the CPU, 8M float32 to float64",
        "sw.copyto",
        figures,
        goal=("ratio", "np.copyto", 1.0),
    )
