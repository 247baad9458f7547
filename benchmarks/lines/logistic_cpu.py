# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""One training step of logistic regression on the CPU, compared with NumPy, PyTorch and JAX."""

from harness import installed
from logistic import lines


def measure():
    jax_device = None
    if installed("jax"):
        import jax

        jax_device = jax.devices("cpu")[0]
    yield from lines("cpu", "cpu", jax_device, {})
