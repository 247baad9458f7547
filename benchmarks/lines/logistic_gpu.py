# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""One training step of logistic regression on a GPU, compared with PyTorch and JAX."""

from gpu import first_gpu
from harness import installed
from logistic import lines

import spanwise as sw


def measure():
    device = first_gpu()
    wait = {"Spanwise": lambda: sw.synchronize(device)}
    torch_device = jax_device = None
    if installed("torch"):
        import torch

        if torch.cuda.is_available():
            torch_device = "cuda:0"
            wait["PyTorch"] = torch.cuda.synchronize
    if installed("jax"):
        import jax

        if jax.default_backend() != "cpu":
            jax_device = jax.devices()[0]
    yield from lines(device, torch_device, jax_device, wait)
