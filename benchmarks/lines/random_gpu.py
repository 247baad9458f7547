# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Random numbers on a GPU, into existing memory, compared with CuPy and PyTorch.

fill() only writes the same memory: no generator can be faster.
"""

from gpu import QUEUED, first_gpu, queued
from harness import Result, installed, interleave

import spanwise as sw

SIZE = 1 << 28


def measure():
    gpu = first_gpu()
    g = sw.random.default_rng(1, gpu)
    target = sw.empty((SIZE,), "float32", device=gpu)
    calls = {
        "random": {"spanwise": lambda: g.random(dtype="float32", out=target)},
        "standard_normal": {"spanwise": lambda: g.standard_normal(dtype="float32", out=target)},
    }
    if installed("cupy"):
        import cupy

        generator = cupy.random.default_rng(1)
        out = cupy.empty(SIZE, "float32")
        calls["random"]["cupy"] = lambda: generator.random(dtype="float32", out=out)
        calls["standard_normal"]["cupy"] = lambda: generator.standard_normal(
            dtype="float32", out=out
        )
    if installed("torch"):
        import torch

        tensor = torch.empty(SIZE, dtype=torch.float32, device=gpu)
        calls["random"]["torch"] = tensor.uniform_
        calls["standard_normal"]["torch"] = tensor.normal_
    peers = {"random": "torch", "standard_normal": "cupy"}  # the faster ones
    for name, contenders in calls.items():
        contenders["fill"] = lambda: target.fill(1.0)
        yield Result(
            f"{QUEUED} x {name} of 1 GiB of float32 on {gpu}",
            "spanwise",
            interleave({name: queued(call) for name, call in contenders.items()}, rounds=5),
            goal=("ratio", peers[name], 1.0) if peers[name] in contenders else None,
        )
