# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Fused elementwise operations and reductions on the CPU."""

from fusion import lines, sum_lines
from harness import installed


def measure():
    jax_device = None
    if installed("jax"):
        import jax

        jax_device = jax.devices("cpu")[0]
    cases = [
        ("contiguous", 400),
        ("contiguous", 1 << 20),
        ("contiguous", 1 << 24),
        ("one transposed, one reversed", 1 << 20),
    ]
    peers = {"torch_device": "cpu", "jax_device": jax_device, "synchronize": lambda: None}
    yield from lines("cpu", cases, **peers)
    yield from sum_lines("cpu", [400, 1 << 20, 1 << 24], **peers)
