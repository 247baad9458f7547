# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Matrices times vectors of sizes around the blocks and limits of the loops, in any layout."""

import numpy as np
import pytest

import spanwise as sw

# The largest are divided among threads: by results, or by parts of the sums where there are few results.
SIZES = [
    (1, 300),
    (300, 1),
    (7, 33),
    (8, 32),
    (9, 31),
    (16, 64),
    (65, 31),
    (65, 32),
    (64, 17),
    (129, 127),
    (256, 256),
    (257, 256),
    (700, 650),
    (40, 9000),
    (9000, 40),
    (2, 200_000),
    (200_000, 3),
]
LAYOUTS = {
    "C": lambda a: a,
    "Fortran": np.asfortranarray,
    "reversed rows": lambda a: a[::-1].copy()[::-1],
    "every second column": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "part of a wider matrix": lambda a: np.pad(a, ((1, 2), (3, 5)))[1:-2, 3:-5],
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("rows", "columns"), SIZES)
def test_products_with_vectors_of_any_stride_match_numpy(rows, columns, layout, dtype, device):
    rng = np.random.default_rng(rows * 1000 + columns)
    values = LAYOUTS[layout](rng.standard_normal((rows, columns)).astype(dtype))
    matrix = sw.asarray(values, device=device)
    eps = 4 * np.finfo(dtype).eps
    for step in (1, 3, -2):
        x = rng.standard_normal(columns * abs(step)).astype(dtype)[::step]
        y = rng.standard_normal(rows * abs(step)).astype(dtype)[::step]
        wide = values.astype("longdouble")
        for result, exact, size in [
            (matrix @ sw.asarray(x, device=device), wide @ x, abs(wide) @ abs(x)),
            (sw.asarray(y, device=device) @ matrix, y @ wide, abs(y) @ abs(wide)),
        ]:
            assert result.dtype == dtype
            assert (abs(result.numpy() - exact) <= eps * size * np.sqrt(max(rows, columns))).all()


@pytest.mark.parametrize("step", [2, -1])
def test_out_may_have_any_stride(step, device):
    rng = np.random.default_rng(0)
    a, x = rng.standard_normal((40, 50)), rng.standard_normal(50)
    out = sw.full(80, np.nan, device=device)[::step][:40]
    returned = sw.matmul(sw.asarray(a, device=device), sw.asarray(x, device=device), out=out)
    assert returned is out
    np.testing.assert_allclose(out.numpy(), a @ x)
    columns = sw.full(100, np.nan, device=device)[::step][:50]
    sw.matmul(sw.asarray(x[:40], device=device), sw.asarray(a, device=device), out=columns)
    np.testing.assert_allclose(columns.numpy(), x[:40] @ a)
