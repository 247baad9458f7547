# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Sums and counts: accuracy, and independence of threads and runs."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

import spanwise as sw

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def test_float32_sums_are_accurate(device):
    """10^8 numbers near 1, one row broadcast: a float32 accumulator would stop growing at 2^24."""
    generator = np.random.default_rng(0)
    row = (1 + 1e-3 * generator.standard_normal(10_000)).astype("float32")
    many = sw.array(row, device=device).broadcast_to((10_000, 10_000))
    exact = row.astype("float64").sum() * 10_000
    assert abs(float(many.sum()) - exact) <= 1e-6 * exact
    assert abs(float(many.mean(dtype="float64")) - exact / 1e8) <= 1e-9
    columns = many.sum(axis=0, dtype="float64").numpy()
    np.testing.assert_allclose(columns, row.astype("float64") * 10_000, rtol=1e-12)
    halves = sw.array(row.astype("float16"), device=device).broadcast_to((100, 10_000))
    exact = row.astype("float16").astype("float64").mean()
    assert abs(float(halves.mean()) - exact) <= 1e-3


@pytest.mark.parametrize("shape", [(300_000, 3), (31, 8, 20, 24), (2, 30_000)])
def test_float64_sums_of_short_rows_have_small_rounding_errors(device, shape):
    """Equal terms are all rounded in the same direction, so the error grows with the longest chain
    of additions: one of 10,922 rows had an error of 1,408 epsilons."""
    values = np.full((*shape[:-1], shape[-1] + 1), 0.1)
    rows = sw.array(values, device=device)[..., :-1]
    exact = math.fsum(values[..., :-1].ravel())
    limit = 300 * np.finfo("float64").eps
    assert abs(float(rows.sum()) - exact) <= limit * exact
    mask = np.arange(rows.size).reshape(shape) % 2 == 0
    transposed = sw.array(values[..., :-1].T.copy(), device=device).T
    exact = math.fsum(values[..., :-1][mask])
    total = float(sw.sum(transposed, where=sw.array(mask, device=device)))
    assert abs(total - exact) <= limit * exact


SUM_OF_NOISE = """
import sys
import numpy as np
import spanwise as sw
noise = np.random.default_rng(1).standard_normal((1200, 1100))
results = []
for dtype in ("float64", "float32", "float16"):
    x = sw.array(noise.astype(dtype), device="cpu")
    for axis in (None, 0, 1):
        for name in ("sum", "var", "mean", "cumsum"):
            results.append(getattr(sw, name)(x, axis).numpy().astype("float64").ravel())
print(np.concatenate(results).tobytes().hex().__hash__())
print(sw.config.cpu_threads)
"""


def test_results_do_not_depend_on_the_number_of_threads():
    answers = set()
    for threads in ("1", "2", "3"):
        environment = {**os.environ, "SPANWISE_CPU_THREADS": threads, "PYTHONHASHSEED": "0"}
        done = subprocess.run(
            [sys.executable, "-c", SUM_OF_NOISE],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        answer, used = done.stdout.split()
        assert used == threads
        answers.add(answer)
    assert len(answers) == 1


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("size", [1, 127, 129, 8191, 8192, 8193, 70_001])
def test_counts_beyond_the_range_of_narrow_counters_match_numpy(device, dtype, size):
    """All elements are nonzero, then 30 % of them; contiguous, every second one, and reversed."""
    ones = np.ones(2 * size - 1, dtype)
    sparse = (np.random.default_rng(size).random(2 * size - 1) < 0.3).astype(dtype)
    for values in (ones, sparse):
        a = sw.array(values, device=device)
        for view in (slice(None), slice(None, None, 2), slice(None, None, -1)):
            assert int(sw.count_nonzero(a[view])) == np.count_nonzero(values[view])
            if dtype != "bool":
                assert complex(sw.sum(a[view])) == complex(
                    np.sum(values[view].astype("complex128"))
                )


def test_any_byte_but_0_is_counted_as_true(device):
    values = np.arange(1000, dtype=np.uint8).reshape(10, 100)
    booleans = sw.array(values, device=device).view("bool")
    assert int(sw.count_nonzero(booleans)) == np.count_nonzero(values)
    np.testing.assert_array_equal(
        sw.count_nonzero(booleans, axis=1).numpy(), np.count_nonzero(values, axis=1)
    )


def test_repeated_sums_are_bitwise_equal(device):
    x = sw.array(np.random.default_rng(2).standard_normal(300_000), device=device)
    first = float(x.sum())
    assert all(float(x.sum()) == first for _ in range(5))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_long_masked_sums_lose_no_more_than_others(device, dtype):
    """Additions of equal terms are rounded in one direction: the error grows with the number of
    additions in sequence."""
    term, count = np.dtype(dtype).type(0.1), 100_000
    mask = np.arange(count) % 7 != 0
    x = sw.full(count, term, dtype="float64", device=device).astype(dtype)
    total = float(x.sum(where=sw.array(mask, device=device)))
    exact = float(term) * int(mask.sum())
    assert abs(total - exact) <= exact * (6e-8 if dtype == "float32" else 2e-14)
