# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Products divided among threads: the results do not depend on their number."""

import numpy as np
import pytest
from support.arrays import poisoned
from support.products import compare, random_values, widened

import spanwise as sw


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize(
    "shape",
    [
        (300, 300, 70),
        (1100, 17, 64),
        (17, 1100, 64),
        (3000, 1, 257),
        (1, 3000, 257),
        (4, 4, 140000),
    ],
)
def test_products_divided_among_threads_match_numpy(device, threads, dtype, shape):
    """Threads compute blocks of rows and columns, which must cover the result."""
    rows, columns, depth = shape
    x, y = random_values((rows, depth), dtype, 1), random_values((depth, columns), dtype, 2)
    stored = sw.array(np.ascontiguousarray(y.T), device=device)
    a, b = sw.array(x, device=device), stored.T
    wide_x, wide_y = widened(x), widened(y)
    with sw.config.change(cpu_threads=threads):
        out = poisoned((rows, columns), dtype, device)
        sw.matmul(a, b, out=out)
        compare(out, wide_x @ wide_y, abs(wide_x) @ abs(wide_y), dtype)
        pair = sw.stack([a, a[::-1]])
        compare(
            pair @ b,
            widened(pair.numpy()) @ wide_y,
            abs(widened(pair.numpy())) @ abs(wide_y),
            dtype,
        )


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("threads", [2, 7])
def test_matrix_times_its_own_transpose_matches_numpy_in_threads(device, dtype, threads):
    x = random_values((211, 190), dtype, 3)
    a, wide = sw.array(x, device=device), widened(x)
    with sw.config.change(cpu_threads=threads):
        for ours, theirs, magnitudes in (
            (a @ a.T, wide @ wide.T, abs(wide) @ abs(wide.T)),
            (a.T @ a, wide.T @ wide, abs(wide.T) @ abs(wide)),
        ):
            compare(ours, theirs, 10 * magnitudes, dtype)


@pytest.mark.parametrize(("size", "dtype"), [(600_001, "float32"), (300_001, "complex128")])
def test_long_dots_do_not_depend_on_the_threads(device, size, dtype):
    x, y = random_values((2, size), dtype, 4)
    a, b = sw.array(x, device=device), sw.array(y, device=device)
    results = []
    for threads in (1, 2, 3):
        with sw.config.change(cpu_threads=threads):
            results.append(complex(sw.vecdot(a, b)))
    assert len(set(results)) == 1
    wide_x, wide_y = widened(x), widened(y)
    compare(sw.vecdot(a, b), np.vecdot(wide_x, wide_y), np.vecdot(abs(wide_x), abs(wide_y)), dtype)


def test_products_in_several_threads_are_independent(device):
    from concurrent.futures import ThreadPoolExecutor

    x = random_values((150, 150), "float32", 1)
    a = sw.array(x, device=device)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: (a @ a.T).numpy(), range(16)))
    for result in results:
        np.testing.assert_allclose(result, x @ x.T, rtol=1e-3, atol=1e-3)
