# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""One training step of logistic regression on a GPU, compared with PyTorch, JAX and CuPy."""

from gpu import first_gpu
from logistic import lines, peers_on_gpu


def measure():
    goals = {400: ("at most", None, 7e-6)}  # number of rows -> Result.goal, in seconds
    yield from lines(first_gpu(), peers_on_gpu, goals)
