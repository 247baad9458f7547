# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Reductions and scans against NumPy's, from 16 to 16 million elements: never slower."""

import numpy as np
from harness import Result, interleave

import spanwise as sw

NAMES = ("sum", "mean", "min", "argmin", "any", "var", "cumsum")
SIZES = (16, 1_000, 1_000_000, 16_000_000)


def _layouts(size):
    """(words, values, axis): one line, every other element, and both axes of a square."""
    values = np.random.default_rng(0).random(2 * size, dtype="float32")
    side = int(size**0.5)
    square = values[: side * side].reshape(side, side)
    yield "contiguous", values[:size], None
    yield "strided", values[::2], None
    yield "along axis 0", square, 0
    yield "along axis 1", square, 1


def _call(function, array, axis):
    return lambda: function(array, axis)


def measure():
    for name in NAMES:
        for size in SIZES:
            for words, values, axis in _layouts(size):
                # Nothing is found early.
                given = np.zeros_like(values) if name == "any" else values
                ours = sw.asarray(given)
                calls = {
                    "spanwise": _call(getattr(sw, name), ours, axis),
                    "numpy": _call(getattr(np, name), given, axis),
                }
                yield Result(
                    f"{name} of {size} float32, {words}",
                    "spanwise",
                    interleave(calls, rounds=7, seconds=0.01),
                    goal=("ratio", "numpy", 1.0),
                )
    if str(sw.devices()[0]) != "cpu":
        yield from _on_gpu()


def _on_gpu():
    """A sum reads its array once: against the copy of half as much, which moves as many bytes."""
    device = sw.devices()[0]
    array = sw.zeros(1 << 28, "float32", device=device)
    half, target = array[: 1 << 27], sw.zeros(1 << 27, "float32", device=device)

    def copy():
        target[...] = half

    square = array.reshape(1 << 14, 1 << 14)
    calls = {
        "sum": lambda: array.sum(),
        "sum along axis 0": lambda: square.sum(axis=0),
        "sum along axis 1": lambda: square.sum(axis=1),
        "copy of half": copy,
    }
    for name in list(calls)[:3]:
        pair = {name: calls[name], "copy of half": copy}
        after = dict.fromkeys(pair, lambda: sw.synchronize(device))
        yield Result(
            f"{name} of 1 GiB of float32 on the GPU",
            name,
            interleave(pair, rounds=7, after=after),
            goal=("ratio", "copy of half", 1.05),
        )
