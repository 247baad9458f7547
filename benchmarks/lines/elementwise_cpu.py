# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Elementwise operations compared with NumPy's: small and large, contiguous, strided and broadcast."""

import numpy as np
from harness import Result, installed, interleave

import spanwise as sw

SIZES = (16, 1000, 100_000, 16_000_000)
OPERATIONS = ("add", "divide", "less", "maximum", "sqrt", "exp", "tanh", "power")


def measure():
    yield from _against_numpy()
    yield from _exp_large()


def _against_numpy():
    random = np.random.default_rng(0)
    for size in SIZES:
        x, y = (random.random(2 * size) + 0.5 for _ in range(2))
        for name in OPERATIONS:
            for dtype in ("float32", "float64"):
                a, b = x[:size].astype(dtype), y[:size].astype(dtype)
                yield _line(name, (a, b), f"{size} {dtype}, contiguous")
        a, b = x.astype("float32"), y.astype("float32")
        yield _line("add", (a[::2], b[::2]), f"{size} float32, every second element")
        yield _line("exp", (a[::2],), f"{size} float32, every second element")
        yield _line("multiply", (a[:size], 2.5), f"{size} float32 with a number")
        side = int(size**0.5)
        matrix = a[: side * side].reshape(side, side)
        yield _line("add", (matrix, b[:side]), f"{side}x{side} float32 with a row")
        yield _line("add", (matrix.T, matrix), f"{side}x{side} float32, one operand transposed")


def _line(name, operands, layout):
    ufunc, theirs = getattr(sw, name), getattr(np, name)
    operands = operands[: theirs.nin]
    ours = [sw.asarray(x, device="cpu") if isinstance(x, np.ndarray) else x for x in operands]
    np.testing.assert_allclose(ufunc(*ours).numpy(), theirs(*operands), rtol=1e-5)
    return Result(
        f"{name} of {layout}",
        f"sw.{name}",
        interleave(
            {f"sw.{name}": lambda: ufunc(*ours), f"np.{name}": lambda: theirs(*operands)},
            rounds=7,
            seconds=0.01,
        ),
        goal=("ratio", f"np.{name}", 1.0),
    )


def _exp_large():
    for dtype in ("float32", "float64"):
        x = np.random.default_rng(1).standard_normal(230_400).astype(dtype)
        ours = sw.asarray(x, device="cpu")
        contenders = {"sw.exp": lambda a=ours: sw.exp(a), "np.exp": lambda a=x: np.exp(a)}
        if installed("jax"):
            import jax

            jax.config.update("jax_enable_x64", True)
            theirs = jax.device_put(x, jax.devices("cpu")[0])
            contenders["jax.numpy.exp"] = lambda a=theirs: jax.numpy.exp(a).block_until_ready()
        yield Result(
            f"exp of 230400 {dtype} into a fresh array",
            "sw.exp",
            interleave(contenders),
            goal=("ratio", "np.exp", 0.6),
        )
