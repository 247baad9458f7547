# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of the array API standard that NumPy names differently or lacks."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import assert_same, pair, windows

import spanwise as sw


@given(
    window=windows(min_rank=1),
    dtype=st.sampled_from(["bool", "uint8", "int64", "float32", "complex128"]),
    n=st.integers(0, 3),
    data=st.data(),
)
def test_diff_matches_numpy(device, window, dtype, n, data):
    ours, theirs = pair(window, dtype, device, 3)
    axis = data.draw(st.integers(-theirs.ndim, theirs.ndim - 1))
    names = data.draw(st.sets(st.sampled_from(["prepend", "append"])))
    if n == 0:  # np.diff then ignores prepend and append
        names = set()
    numpy_options = {name: theirs.dtype.type(1) for name in names}
    options = {name: sw.asarray(1, dtype, device=device) for name in names}
    assert_same(sw.diff(ours, n, axis, **options), np.diff(theirs, n, axis, **numpy_options))


def test_invalid_diff_arguments_raise(device):
    with pytest.raises(ValueError, match="non-negative, got -1"):
        sw.diff(sw.zeros(3, device=device), -1)
    with pytest.raises(ValueError, match="at least one dimensional"):
        sw.diff(sw.zeros((), device=device))
    with pytest.raises(IndexError, match="axis 2 is out of bounds"):
        sw.diff(sw.zeros(3, device=device), axis=2)


@given(
    window=windows(min_rank=1),
    dtype=st.sampled_from(["bool", "uint8", "int32", "float64", "complex64"]),
    name=st.sampled_from(["cumulative_sum", "cumulative_prod"]),
    include_initial=st.booleans(),
    data=st.data(),
)
def test_cumulative_functions_match_numpy(device, window, dtype, name, include_initial, data):
    ours, theirs = pair(window, dtype, device, 5)
    if dtype in ("uint8", "int32"):  # small values, whose products fit
        ours, theirs = ours % 3, theirs % 3
    axis = data.draw(st.integers(-theirs.ndim, theirs.ndim - 1))
    options = {"axis": axis, "include_initial": include_initial}
    result, oracle = getattr(sw, name)(ours, **options), getattr(np, name)(theirs, **options)
    if dtype in ("float64", "complex64"):
        assert (result.shape, result.dtype) == (oracle.shape, oracle.dtype)
        np.testing.assert_allclose(result.numpy(), oracle, rtol=1e-5)
    else:
        assert_same(result, oracle)


def test_cumulative_functions_check_and_return_out(device):
    a = sw.asarray([1, 2, 3], device=device)
    out = sw.full(4, 9, dtype="int64", device=device)
    assert sw.cumulative_sum(a, out=out, include_initial=True) is out
    assert out.tolist() == [0, 1, 3, 6]
    assert sw.cumulative_prod(a, dtype="float32").dtype == "float32"
    with pytest.raises(ValueError, match=r"out= must have shape \(4,\), got \(3,\)"):
        sw.cumulative_sum(a, out=a, include_initial=True)
    with pytest.raises(ValueError, match="`axis` must be given"):
        sw.cumulative_sum(sw.zeros((2, 2), device=device))
    with pytest.raises(ValueError, match="at least 1-d"):
        sw.cumulative_prod(sw.zeros((), device=device))


@given(
    elements=st.lists(st.integers(0, 9), max_size=20),
    values=st.lists(st.integers(-1, 10), max_size=20),
    side=st.sampled_from(["left", "right"]),
    dtype=st.sampled_from(["int16", "uint8", "float32"]),
)
def test_searchsorted_matches_numpy(device, elements, values, side, dtype):
    vector = np.asarray(sorted(elements), dtype)
    ours = sw.searchsorted(sw.asarray(vector, device=device), values, side=side)
    assert_same(ours, np.searchsorted(vector, np.asarray(values, "int64"), side=side))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "float64"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_accepts_any_layout_and_dtype(device, dtype, side):
    random = np.random.default_rng(3)
    for size in (1, 2, 3, 17, 1000):
        vector = np.sort(random.integers(0, 100, 3 * size).astype(dtype))
        values = random.integers(0, 110, (7, 9)).astype(dtype)
        if np.dtype(dtype).kind == "f":
            vector[-2:], values[:, 3], values[1, :] = np.nan, np.nan, -np.inf
        ours, our_values = sw.asarray(vector, device=device), sw.asarray(values, device=device)
        for key in (slice(None), slice(None, None, 3)):
            result = sw.searchsorted(ours[key], our_values.T[::-2], side)
            assert_same(result, np.searchsorted(vector[key], values.T[::-2], side))
    result = sw.searchsorted(ours, our_values[:0], side)
    assert_same(result, np.searchsorted(vector, values[:0], side))
    result = sw.searchsorted(ours[:0], our_values, side)
    assert_same(result, np.searchsorted(vector[:0], values, side))


def test_searchsorted_handles_nan_and_sorter(device):
    vector = np.asarray([3.0, np.nan, 1.0, 2.0, np.nan])
    order = np.argsort(vector)
    values = np.asarray([[np.nan, 2.0], [0.0, np.inf]])
    ours, sorter = sw.asarray(vector, device=device), sw.asarray(order, device=device)
    for side in ("left", "right"):
        result = sw.searchsorted(ours, sw.asarray(values, device=device), side, sorter)
        assert_same(result, np.searchsorted(vector, values, side, order))
    with pytest.raises(ValueError, match=r"expected a vector to search, got \(2, 2\)"):
        sw.searchsorted(sw.zeros((2, 2), device=device), 1)
    with pytest.raises(ValueError, match="left or right, got 'up'"):
        sw.searchsorted(ours, 1, "up")
    with pytest.raises(TypeError, match="have no order"):
        sw.searchsorted(ours, 1j)


def test_where_with_one_argument_returns_indices(device):
    mask = np.asarray([[True, False], [True, True]])
    for row, expected in zip(
        sw.where(sw.asarray(mask, device=device)), np.where(mask), strict=True
    ):
        assert_same(row, expected)


def test_modf_matches_numpy(device):
    x = np.asarray([2.75, -2.75, 0.0, -0.0, np.inf, -np.inf, np.nan, 3.0, 1e300])
    for result, oracle in zip(sw.modf(sw.asarray(x, device=device)), np.modf(x), strict=True):
        assert_same(result, oracle)
        np.testing.assert_array_equal(np.signbit(result.numpy()), np.signbit(oracle))
    for dtype in ("bool", "int8", "uint16", "int64", "float16", "float32"):
        values = np.asarray([0, 1], dtype)
        for result, oracle in zip(
            sw.modf(sw.asarray(values, device=device)), np.modf(values), strict=True
        ):
            assert_same(result, oracle)
    with pytest.raises(TypeError, match="not defined for complex"):
        sw.modf(sw.asarray([1j], device=device))


def test_to_device_copies_only_to_another_device(device):
    a = sw.asarray([1, 2], device=device)
    assert a.to_device(a.device) is a
    moved = a.to_device("cpu", stream=sw.current_stream(a.device))
    assert (moved.device, moved.tolist()) == (sw.device("cpu"), [1, 2])


def test_count_nonzero_returns_an_array_of_rank_0(device):
    count = sw.count_nonzero(sw.asarray([0, 3, 4], device=device))
    assert (count.shape, count.dtype, int(count)) == ((), "int64", 2)


def test_eye_is_zero_for_an_out_of_range_diagonal(device):
    for k in (2**70, -(2**70), 3, -3):
        assert sw.eye(3, k=k, device=device).tolist() == [[0.0] * 3] * 3


def test_mask_of_size_0_may_have_other_extents(device):
    a = sw.zeros((3, 2), device=device)
    for shape in ((0,), (0, 2), (3, 0)):
        mask = np.zeros(shape, bool)
        assert_same(a[sw.asarray(mask, device=device)], np.zeros((3, 2))[mask])
        a[mask] = 7
    assert not a.any()
    with pytest.raises(IndexError, match="did not match"):
        a[np.zeros((0, 3), bool)]
