# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Host time of operations on small arrays: creation, assignment, copies, views; compared with NumPy's."""

import numpy as np
from harness import Result, interleave

import spanwise as sw


def measure():
    a, b = sw.zeros((4, 4), device="cpu"), np.zeros((4, 4))
    x, y = sw.zeros((4, 4), device="cpu"), np.zeros((4, 4))

    def element(target):
        target[0, 0] = 1.0

    def row(target, source):
        target[0] = source[1]

    pairs = {
        "zeros(16)": (lambda: sw.zeros(16, device="cpu"), lambda: np.zeros(16)),
        "a[0, 0] = 1.0": (lambda: element(a), lambda: element(b)),
        "a[0] = x[1]": (lambda: row(a, x), lambda: row(b, y)),
        "a.copy()": (lambda: a.copy(), lambda: b.copy()),
        "a.T.copy()": (lambda: a.T.copy(), lambda: b.T.copy()),
        "array(list)": (lambda: sw.array([1.0, 2.0], device="cpu"), lambda: np.array([1.0, 2.0])),
        "a.reshape(16)": (lambda: a.reshape(16), lambda: b.reshape(16)),
        "a.flags": (lambda: a.flags, lambda: b.flags),
    }
    for name, (ours, theirs) in pairs.items():
        yield Result(
            f"host cost on the CPU: {name}",
            "spanwise",
            interleave({"spanwise": ours, "numpy": theirs}, rounds=9),
            goal=("ratio", "numpy", 1.5),
        )
