# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Reductions and scans compared with NumPy's, from 16 to 16 million elements."""

import numpy as np
from harness import Result, interleave

import spanwise as sw

NAMES = ("sum", "mean", "min", "argmin", "any", "var", "cumsum")
SIZES = (16, 1_000, 1_000_000, 16_000_000)


def _layouts(size):
    """(name, values, axis): contiguous, every other element, and both axes of a square."""
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
            for label, values, axis in _layouts(size):
                # any() cannot stop before the last of zeros.
                theirs = np.zeros_like(values) if name == "any" else values
                ours = sw.asarray(theirs, device="cpu")
                calls = {
                    "spanwise": _call(getattr(sw, name), ours, axis),
                    "numpy": _call(getattr(np, name), theirs, axis),
                }
                yield Result(
                    f"{name} of {size} float32, {label}",
                    "spanwise",
                    interleave(calls, rounds=7, seconds=0.01),
                    goal=("ratio", "numpy", 1.0),
                )
