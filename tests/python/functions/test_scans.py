# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""cumsum and cumprod against NumPy in double precision."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import COMPUTABLE, assert_same, numbers, pair, poisoned, windows
from support.reductions import (
    assert_close,
    axes_of,
    expected_dtype,
    relative_tolerance,
    values_for,
    widened,
)

import spanwise as sw

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@given(windows(), st.sampled_from(("cumsum", "cumprod")), st.sampled_from(COMPUTABLE), st.data())
def test_scans_match_numpy(device, window, name, dtype, data):
    axis = data.draw(axes_of(len(window.shape), only_one=True))
    ours, theirs = values_for(name, *pair(window, dtype, device, 5), device)
    exact = getattr(np, name)(widened(theirs), axis=axis)
    exact = exact.astype(sw.dtype(expected_dtype("sum", dtype)).dtype)
    assert_close(name, getattr(sw, name)(ours, axis=axis), exact)
    out = poisoned((*exact.shape, 2), "float64", device)[..., 0]
    getattr(ours, name)(axis=axis, out=out)
    np.testing.assert_allclose(
        out.numpy(), exact.astype("complex128").real, rtol=relative_tolerance(str(ours.dtype))
    )


# The first line has more than 1024 chunks on a GPU, where sums are passed on in groups of 32 and of 32
# such groups; the others have various lengths and layouts.
@pytest.mark.parametrize(
    "shape", [(9_000_001,), (2, 2_100_000), (5000, 600), (600, 5000), (70_000, 33)]
)
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_long_scans_match_numpy(device, shape, dtype):
    values = numbers(shape, dtype, 3)
    ours = sw.array(values, device=device)
    for axis in range(len(shape)):
        for view in (lambda a: a, lambda a: a[..., ::-1], lambda a: a[..., 1:]):
            exact = np.cumsum(
                view(values), axis=axis, dtype="float64" if dtype == "float32" else None
            )
            exact = exact.astype(sw.dtype(expected_dtype("sum", dtype)).dtype)
            assert_same(sw.cumsum(view(ours), axis), exact)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "complex64"])
@pytest.mark.parametrize("shape", [(3000, 5), (24, 900), (7, 11, 3), (100_000, 2)])
def test_scans_of_many_short_lines_match_numpy(device, shape, dtype):
    values = numbers(shape, dtype, 4)
    ours = sw.array(values, device=device)
    for axis in range(len(shape)):
        for view in (lambda a: a, lambda a: a.T, lambda a: a[::-1, ..., ::-1]):
            exact = np.cumsum(widened(view(values)), axis=axis)
            result = sw.cumsum(view(ours), axis)
            assert_close("cumsum", result, exact.astype(sw.dtype(result.dtype).dtype))


# Long contiguous lines, of which each but the first begins at a multiple of 16 bytes only for some
# lengths; their last elements are fewer than 16 bytes.
@pytest.mark.parametrize("dtype", ["int64", "float64", "complex64"])
@pytest.mark.parametrize("shape", [(3_000_001,), (5, 400_002), (3, 700_001), (40, 80_004)])
def test_scans_of_long_contiguous_lines_match_numpy(device, dtype, shape):
    values = np.random.default_rng(4).integers(-9, 9, shape).astype(dtype)
    x = sw.array(values, device=device)
    exact = np.cumsum(values, axis=-1)
    assert_same(sw.cumsum(x, axis=-1), exact)
    sw.cumsum(x, axis=-1, out=x)
    assert_same(x, exact)


# Partial products that are infinite or 0, unlike the running product of the line.
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(
    "numbers_at",
    [
        {0: 0.0, 150_000: 1e300, 150_001: -1e300},
        {5: 1e-300, 150_000: 1e200, 150_001: 1e200},
        {5: 1e300, 150_000: 1e-200, 150_001: 1e-200},
        {5: 1e300, 150_000: 1e300, 150_001: -2.0},
        {5: 1e300, 6: 1e300, 150_000: 1e-300, 150_001: 1e-300},
        {5: 1e-300, 6: 1e-300, 150_000: 1e300, 150_001: 1e300},
        {5: 0.0, 150_000: np.inf},
        {5: 1e300, 6: 1e300, 150_000: 0.0},
    ],
)
def test_cumprod_overflows_and_underflows_as_in_numpy(device, dtype, numbers_at):
    values = np.ones(200_000, dtype)
    for index, number in numbers_at.items():
        values[index] = number
    for lines in (values, values[:600], values[149_990:].reshape(10, -1)):
        with np.errstate(all="ignore"):
            exact = np.cumprod(lines, axis=-1)
        ours = sw.cumprod(sw.array(lines, device=device), axis=-1).numpy()
        if dtype == "complex128":  # the parts of an infinite number are unspecified
            finite = np.isfinite(exact)
            assert (np.isfinite(ours) == finite).all()
            exact, ours = exact[finite], ours[finite]
        np.testing.assert_allclose(ours, exact, rtol=1e-14)


def test_scan_of_more_than_2_to_the_27_elements_counts_them(device):
    if device == "cpu":
        pytest.skip("only GPUs divide a line into chunks, here more than 32 * 32 * 32")
    n = (1 << 27) + 5000
    sums = sw.cumsum(sw.ones(n, "bool", device=device))
    assert (sums == sw.arange(1, n + 1, dtype="int64", device=device)).all()


def test_scans_agree_from_run_to_run(device):
    x = sw.array(np.random.default_rng(2).standard_normal(3_000_000), device=device)
    first = sw.cumsum(x).numpy()
    for _ in range(5):
        np.testing.assert_array_equal(sw.cumsum(x).numpy(), first)
