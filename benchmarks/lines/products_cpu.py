# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Matrix products, einsum and tensordot on the CPU, compared with NumPy's."""

from functools import partial

import numpy as np
from harness import Result, interleave

import spanwise as sw


def _values(shape, dtype="float32"):
    rng = np.random.default_rng(0)
    values = rng.integers(100, size=shape) if dtype == "int64" else rng.random(shape)
    return values.astype(dtype)


def _operand(shape, dtype, transposition):
    x = _values(shape, dtype)
    return x.swapaxes(-1, -2) if transposition == "T" else x


# Label, shapes in memory, dtype, and for each operand whether it is transposed, as in BLAS: "N" or
# "T".
LINES = [
    ("4 x 4", (4, 4), (4, 4), "float32", "NN"),
    ("16 x 16", (16, 16), (16, 16), "float64", "NN"),
    ("512 x 512", (512, 512), (512, 512), "float32", "NN"),
    ("512 x 512", (512, 512), (512, 512), "float64", "NN"),
    ("512 x 512, left transposed", (512, 512), (512, 512), "float32", "TN"),
    ("512 x 512, both transposed", (512, 512), (512, 512), "float32", "TT"),
    ("2048 x 2048", (2048, 2048), (2048, 2048), "float32", "NN"),
    ("64 of 64 x 64", (64, 64, 64), (64, 64, 64), "float32", "NN"),
    ("1000 of 4 x 4", (1000, 4, 4), (1000, 4, 4), "float32", "NN"),
    ("64 of 64 x 64 by one", (64, 64, 64), (64, 64), "float32", "NN"),
    ("400 x 784 by a vector", (400, 784), (784,), "float32", "NN"),
    ("400 x 784 by a vector", (400, 784), (784,), "float64", "NN"),
    ("400 x 784, transposed, by a vector", (400, 784), (400,), "float32", "TN"),
    ("400 x 784, transposed, by a vector", (400, 784), (400,), "float64", "TN"),
    ("10000 x 100, transposed, by a vector", (10000, 100), (10000,), "float32", "TN"),
    ("2048 x 2048 by a vector", (2048, 2048), (2048,), "float32", "NN"),
    ("vector of 1000000 by a vector", (1_000_000,), (1_000_000,), "float32", "NN"),
    ("128 x 128", (128, 128), (128, 128), "int64", "NN"),
    ("128 x 128", (128, 128), (128, 128), "float16", "NN"),
]


def measure():
    for label, left, right, dtype, transpositions in LINES:
        x, y = _operand(left, dtype, transpositions[0]), _operand(right, dtype, transpositions[1])
        a, b = sw.asarray(x, device="cpu"), sw.asarray(y, device="cpu")
        yield _line(
            f"matmul of {label} {dtype}", partial(sw.matmul, a, b), partial(np.matmul, x, y)
        )
    x = _values((512, 300))
    a = sw.asarray(x, device="cpu")
    yield _line("512 x 300 float32 by its transpose", lambda: a @ a.T, lambda: x @ x.T)
    x, y = _values((32, 48, 20)), _values((20, 48, 40))
    a, b = sw.asarray(x, device="cpu"), sw.asarray(y, device="cpu")
    yield _line(
        "einsum ijk,kjl->il of 32 x 48 x 20 by 20 x 48 x 40",
        lambda: sw.einsum("ijk,kjl->il", a, b),
        lambda: np.einsum("ijk,kjl->il", x, y, optimize=True),
    )
    yield _line(
        "tensordot over two axes",
        lambda: sw.tensordot(a, b, ([1, 2], [1, 0])),
        lambda: np.tensordot(x, y, ([1, 2], [1, 0])),
    )
    x, y = _values((2, 3)), _values((3, 2))
    a, b = sw.asarray(x, device="cpu"), sw.asarray(y, device="cpu")
    yield _line(
        "einsum ij,jk of 2 x 3 by 3 x 2",
        lambda: sw.einsum("ij,jk", a, b),
        lambda: np.einsum("ij,jk", x, y),
    )


def _line(label, ours, theirs):
    # For all dtypes the tolerance that sums of float16 need.
    np.testing.assert_allclose(np.asarray(ours()), theirs(), rtol=2e-2)
    return Result(
        label,
        "spanwise",
        interleave({"spanwise": ours, "numpy": theirs}, rounds=7, seconds=0.01),
        goal=("ratio", "numpy", 1.0),
    )
