# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""One training step of logistic regression on the CPU, compared with NumPy, PyTorch, JAX and
PyTensor."""

from logistic import lines, peers_on_cpu


def measure():
    goals = {400: ("at most", None, 25e-6)}  # number of rows -> Result.goal, in seconds
    yield from lines("cpu", peers_on_cpu, goals)
