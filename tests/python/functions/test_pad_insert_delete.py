# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""pad, append, insert and delete, against NumPy."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import assert_same, numbers, pair, windows
from support.shape_functions import SEEDS, axis, on

import spanwise as sw

MODES = ("constant", "edge", "reflect", "symmetric", "wrap", "linear_ramp")


@given(data=st.data(), window=windows(), seed=SEEDS, mode=st.sampled_from(MODES))
def test_pad_matches_numpy_in_every_mode(device, data, window, seed, mode):
    ours, oracle = pair(window, data.draw(st.sampled_from(("int32", "float64"))), device, seed)
    width = st.integers(0, 7)
    widths = [(data.draw(width), data.draw(width)) for _ in range(oracle.ndim)]
    if not widths:
        widths = 2
    kwargs = {}
    if mode in ("constant", "linear_ramp"):
        key = "constant_values" if mode == "constant" else "end_values"
        kwargs[key] = data.draw(st.sampled_from((3, (1, 2))))
    try:
        expected = np.pad(oracle, widths, mode, **kwargs)
    except ValueError:
        with pytest.raises(sw.Error, match="pad"):
            sw.pad(ours, widths, mode, **kwargs)
        return
    assert_same(sw.pad(ours, widths, mode, **kwargs), expected)


STATISTICS = ("maximum", "minimum", "mean", "median")


@given(data=st.data(), window=windows(min_rank=1), seed=SEEDS, mode=st.sampled_from(STATISTICS))
def test_pad_with_statistics_matches_numpy(device, data, window, seed, mode):
    dtype = data.draw(st.sampled_from(("uint8", "int32", "float32", "float64")))
    ours, oracle = pair(window, dtype, device, seed)
    width, length = st.integers(0, 3), st.integers(1, 4)
    widths = [(data.draw(width), data.draw(width)) for _ in range(oracle.ndim)]
    kwargs = {"stat_length": data.draw(st.none() | length | st.tuples(length, length))}
    try:
        expected = np.pad(oracle, widths, mode, **kwargs)
    except ValueError:
        with pytest.raises(sw.Error, match="pad"):
            sw.pad(ours, widths, mode, **kwargs)
        return
    padded = sw.pad(ours, widths, mode, **kwargs)
    assert (padded.shape, padded.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(padded.numpy(), expected, rtol=1e-5 if dtype == "float32" else 1e-12)


def test_pad_with_statistics_accepts_bfloat16_and_bool(device):
    line = sw.asarray([1, 4, 2], "bfloat16", device=device)
    assert sw.pad(line, (1, 0), "median").tolist() == [2.0, 1.0, 4.0, 2.0]
    assert sw.pad(line, (0, 1), "mean", stat_length=2).tolist() == [1.0, 4.0, 2.0, 3.0]
    mask = sw.asarray([False, True], device=device)
    assert sw.pad(mask, 1, "maximum").tolist() == [True, False, True, True]


def test_pad_accepts_numpys_forms_of_widths(device):
    values = numbers((2, 3), "float32", 1)
    for widths in (1, (2,), (1, 2), ((1, 2),), ((1, 2), (0, 3)), {1: 2}, {-1: (1, 2)}):
        assert_same(sw.pad(on(device, values), widths), np.pad(values, widths))


@given(data=st.data(), window=windows(min_rank=1), seed=SEEDS)
def test_append_insert_and_delete_match_numpy(device, data, window, seed):
    ours, oracle = pair(window, "int32", device, seed)
    along = data.draw(st.none() | axis(oracle))
    extent = oracle.size if along is None else oracle.shape[along]
    assert_same(sw.append(ours, ours, along), np.append(oracle, oracle, along))
    position = st.integers(-extent, extent - 1) if extent else st.nothing()
    slices = st.builds(slice, st.integers(-3, 4), st.integers(-3, 4), st.sampled_from((1, 2, -1)))
    lists = st.lists(position, max_size=4) if extent else st.just([])
    obj = data.draw(slices | lists | position)
    assert_same(sw.delete(ours, obj, along), np.delete(oracle, obj, along))
    try:
        expected = np.insert(oracle, obj, 5, along)
    except ValueError:
        return
    assert_same(sw.insert(ours, obj, 5, along), expected)
    if isinstance(obj, int):
        rows = numbers((2, *np.delete(oracle.shape, 0 if along is None else along)), "int32", seed)
        rows = rows.reshape(-1) if along is None else rows
        assert_same(sw.insert(ours, obj, rows, along), np.insert(oracle, obj, rows, along))


def test_insert_and_delete_accept_masks_and_lists(device):
    values = numbers((4, 3), "float32", 1)
    mask = np.array([True, False, True, False])
    ours = on(device, values)
    assert_same(sw.delete(ours, on(device, mask), 0), np.delete(values, mask, 0))
    assert_same(sw.insert(ours, [1, 3], [[1], [2]], 0), np.insert(values, [1, 3], [[1], [2]], 0))
    assert_same(sw.insert(ours, [2], 9, 1), np.insert(values, [2], 9, 1))
