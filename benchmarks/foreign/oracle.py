# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""One launch of a kernel and the expected contents of its arrays."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Case:
    file: str  # in its repository
    kernel: str
    threads: tuple  # in each direction; blocks may reach beyond them
    args: dict  # name -> array, int or float, in the kernel's order
    expected: dict  # name -> array in float64; arrays that are not named must stay as they are
    block: tuple = ()
    options: tuple = ()
    variant: str = ""  # distinguishes cases of one kernel
    rtol: float = 2e-5  # of the largest expected value

    @property
    def name(self):
        return f"{self.kernel}[{self.variant}]" if self.variant else self.kernel

    def block_shape(self):
        return self.block or {1: (64,), 2: (16, 8)}[len(self.threads)]

    def grid_shape(self):
        return tuple(-(-n // b) for n, b in zip(self.threads, self.block_shape(), strict=True))

    def first_difference(self, results):
        """A text about the first array of `results` that differs from its expected contents; "" if none."""
        for name, value in self.args.items():
            if not isinstance(value, np.ndarray):
                continue
            expected = np.asarray(self.expected.get(name, value), dtype="f8").reshape(value.shape)
            error = np.abs(results[name].astype("f8") - expected)
            bound = self.rtol * max(np.abs(expected).max(), 1.0) if name in self.expected else 0
            if not (error <= bound).all():
                return f"{name}: largest error {np.nanmax(error):.3g}, allowed {bound:.3g}"
        return ""


class Inputs:
    """Random arrays, the same ones at each run."""

    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)

    def normal(self, *shape):
        return self.rng.standard_normal(shape).astype("f4")

    def positive(self, *shape):
        return self.rng.uniform(0.5, 2.0, shape).astype("f4")


def f8(*arrays):
    """The arrays in float64, for oracles."""
    wide = tuple(a.astype("f8") for a in arrays)
    return wide if len(wide) > 1 else wide[0]
