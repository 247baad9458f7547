# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Index arrays, masks, joins and repeats on the CPU compared with NumPy's, from 16 elements to 16 million;
and views by slices."""

import numpy as np
from harness import Result, interleave

import spanwise as sw

SIZES = (16, 1 << 10, 1 << 16, 1 << 20, 1 << 24)


def calls(n):
    """name -> (ours, NumPy's) on `n` elements."""
    rng = np.random.default_rng(1)
    a = rng.random(n).astype("float32")
    i, mask = rng.integers(0, n, n), rng.random(n) < 0.5
    v = rng.random(n).astype("float32")
    table, rows = a.reshape(-1, 8), rng.integers(0, n // 8, n // 8)
    s, si, smask, sv, stable, srows = (
        sw.array(x, device="cpu") for x in (a, i, mask, v, table, rows)
    )
    return {
        "a[indices]": (lambda: s[si], lambda: a[i]),
        "a[indices] = v": (lambda: s.__setitem__(si, sv), lambda: a.__setitem__(i, v)),
        "a.take(indices)": (lambda: s.take(si), lambda: a.take(i)),
        "a[mask]": (lambda: s[smask], lambda: a[mask]),
        "a[mask] = 1": (lambda: s.__setitem__(smask, 1), lambda: a.__setitem__(mask, 1)),
        "mask.nonzero()": (smask.nonzero, mask.nonzero),
        "rows of 8": (lambda: stable[srows], lambda: table[rows]),
        "repeat(2)": (lambda: s.repeat(2), lambda: a.repeat(2)),
        "concatenate": (lambda: sw.concatenate((s, s)), lambda: np.concatenate((a, a))),
        "stack, last axis": (lambda: sw.stack((s, s), -1), lambda: np.stack((a, a), -1)),
        "roll": (lambda: sw.roll(s, 5), lambda: np.roll(a, 5)),
        "tile": (lambda: sw.tile(s, 2), lambda: np.tile(a, 2)),
    }


def measure():
    for n in SIZES:
        for name, (ours, theirs) in calls(n).items():
            contenders = {"spanwise": ours, "NumPy": theirs}
            figures = interleave(contenders, rounds=5, seconds=0.004)
            yield Result(f"{name}, {n} float32", "spanwise", figures, goal=("ratio", "NumPy", 1.0))
    a, b = np.zeros((4, 4)), sw.zeros((4, 4), device="cpu")
    for name, key in (("a[1]", 1), ("a[1:2]", slice(1, 2)), ("a[1, 2:]", (1, slice(2, None)))):
        contenders = {
            "spanwise": lambda key=key: b[key],
            "NumPy": lambda key=key: a[key],
        }
        yield Result(f"{name}, a view", "spanwise", interleave(contenders, rounds=7))
