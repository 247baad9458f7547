# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Random numbers compared with NumPy's default_rng()."""

import numpy as np
from harness import Result, interleave

import spanwise as sw

SIZES = (16, 1000, 1_000_000, 10_000_000)


def measure():
    ours, theirs = sw.random.default_rng(1, "cpu"), np.random.default_rng(1)
    for size in SIZES:
        for dtype in ("float32", "float64"):
            for name in ("random", "standard_normal", "standard_exponential"):
                line = f"{name} of {size} {dtype}"
                yield _compared_with_numpy(line, ours, theirs, name, size, dtype)
        for dtype in ("int8", "int64"):
            line = f"integers of {size} {dtype}"
            yield _compared_with_numpy(line, ours, theirs, "integers", -100, 101, size, dtype)
        yield _compared_with_numpy(
            f"normal(1, 2) of {size}", ours, theirs, "normal", 1.0, 2.0, size
        )
        yield _compared_with_numpy(f"permutation of {size}", ours, theirs, "permutation", size)
        yield _compared_with_numpy(
            f"choice of {size} of 1000 with probabilities",
            ours, theirs, "choice", 1000, size, True, np.full(1000, 1e-3),
        )  # fmt: skip


def _compared_with_numpy(line, ours, theirs, name, *arguments):
    """Times the method `name` of both generators."""
    our_method, numpy_method = getattr(ours, name), getattr(theirs, name)
    calls = {"spanwise": lambda: our_method(*arguments), "numpy": lambda: numpy_method(*arguments)}
    return Result(
        line,
        "spanwise",
        interleave(calls, rounds=7, seconds=0.01),
        goal=("ratio", "numpy", 1.0),
    )
