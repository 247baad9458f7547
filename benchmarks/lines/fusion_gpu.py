# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Fused elementwise operations and reductions on a GPU."""

from fusion import lines, sum_lines
from gpu import first_gpu
from harness import installed

import spanwise as sw


def measure():
    device = first_gpu()
    torch_device = jax_device = None
    if installed("torch"):
        import torch

        torch_device = "cuda" if torch.cuda.is_available() else None
    if installed("jax"):
        import jax

        jax_device = jax.devices()[0] if jax.default_backend() != "cpu" else None

    def synchronize():
        sw.synchronize(device)
        if torch_device is not None:
            torch.cuda.synchronize()

    cases = [
        ("contiguous", 400),
        ("contiguous", 1 << 26),
        ("one transposed, one reversed", 1 << 26),
    ]
    peers = {"torch_device": torch_device, "jax_device": jax_device, "synchronize": synchronize}
    yield from lines(device, cases, **peers)
    yield from sum_lines(device, [400, 1 << 26], **peers)
