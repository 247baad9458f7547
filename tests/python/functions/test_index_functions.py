# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""take, put, nonzero and other functions with indices against NumPy's."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import COMPUTABLE, assert_same, numbers, pair, windows

import spanwise as sw
from spanwise._numpy.indexing import coordinates_of, flat_indices_of

SEEDS = st.integers(0, 2**32)
DTYPES = st.sampled_from(COMPUTABLE)
RNG = np.random.default_rng(5)


def on(device, values):
    return sw.array(values, device=device)


@given(data=st.data(), window=windows(), seed=SEEDS, dtype=DTYPES)
def test_take_matches_numpy_in_every_mode(device, data, window, seed, dtype):
    ours, oracle = pair(window, dtype, device, seed)
    axis = (
        data.draw(st.none() | st.integers(-oracle.ndim, oracle.ndim - 1)) if oracle.ndim else None
    )
    mode = data.draw(st.sampled_from(("raise", "wrap", "clip")))
    extent = oracle.size if axis is None else oracle.shape[axis]
    reach = extent if mode == "raise" else 3 * extent
    shape = data.draw(st.sampled_from(((), (3,), (2, 2), (0,))))
    if extent == 0:
        shape = (0,)
    indices = np.random.default_rng(seed).integers(-reach, max(reach, 1), shape)
    expected = np.asarray(np.take(oracle, indices, axis, mode=mode)) if extent else None
    if expected is None:
        return
    assert_same(sw.take(ours, on(device, indices), axis, mode=mode), expected)
    assert_same(ours.take(indices, axis=axis, mode=mode), expected)
    out = on(device, np.zeros_like(expected))
    assert sw.take(ours, indices, axis, out, mode) is out
    assert_same(out, expected)


@given(window=windows(), seed=SEEDS, dtype=DTYPES)
def test_count_nonzero_argwhere_and_nonzero_match_numpy(device, window, seed, dtype):
    ours, oracle = pair(window, dtype, device, seed)
    if dtype[0] in "iuf":  # more zeros among them
        oracle = oracle % 3
        ours = on(device, oracle)
    assert sw.count_nonzero(ours) == np.count_nonzero(oracle)
    assert_same(sw.argwhere(ours), np.argwhere(oracle))
    assert_same(sw.flatnonzero(ours), np.flatnonzero(oracle))
    if oracle.ndim > 0:
        rows, expected = sw.nonzero(ours), np.nonzero(oracle)
        assert len(rows) == len(expected) == len(ours.nonzero())
        for row, expected_row in zip(rows, expected, strict=True):
            assert_same(row, expected_row)
    else:
        with pytest.raises(ValueError, match="0d"):
            sw.nonzero(ours)


@pytest.mark.parametrize("shape", [(300_001,), (999, 513), (7, 1, 40_000)])
def test_many_true_elements_match_numpy(device, shape):
    mask = RNG.random(shape) < 0.4
    for mask_view in (mask, mask[::-1], mask.swapaxes(0, -1)):
        ours = on(device, mask_view)
        assert sw.count_nonzero(ours) == mask_view.sum()
        for row, expected_row in zip(ours.nonzero(), mask_view.nonzero(), strict=True):
            assert_same(row, expected_row)


@given(data=st.data(), window=windows(broadcast=False), seed=SEEDS, dtype=DTYPES)
def test_put_matches_numpy_in_every_mode(device, data, window, seed, dtype):
    values = numbers(window.base_shape, dtype, seed)
    base = on(device, values)
    ours, oracle = window.of(base), window.of(values)
    mode = data.draw(st.sampled_from(("raise", "wrap", "clip")))
    reach = oracle.size if mode == "raise" else 3 * oracle.size
    count = data.draw(st.integers(0, 4)) if oracle.size else 0
    indices = np.random.default_rng(seed).integers(-reach, max(reach, 1), count)
    new = numbers((data.draw(st.integers(1, 5)),), dtype, seed + 1)
    np.put(oracle, indices, new, mode)
    if data.draw(st.booleans()):
        sw.put(ours, indices, on(device, new), mode)
    else:
        ours.put(on(device, indices), new, mode)
    assert_same(base, values)


@given(data=st.data(), window=windows(min_rank=1), seed=SEEDS, dtype=DTYPES)
def test_take_and_put_along_axis_match_numpy(device, data, window, seed, dtype):
    ours, oracle = pair(window, dtype, device, seed)
    axis = data.draw(st.integers(-oracle.ndim, oracle.ndim - 1))
    extent = oracle.shape[axis]
    shape = [n if data.draw(st.booleans()) else 1 for n in oracle.shape]
    shape[axis] = data.draw(st.integers(0, 3)) if extent else 0
    indices = np.random.default_rng(seed).integers(-extent, max(extent, 1), shape)
    assert_same(
        sw.take_along_axis(ours, on(device, indices), axis),
        np.take_along_axis(oracle, indices, axis),
    )
    copied, expected = ours.copy(), oracle.copy()
    np.put_along_axis(expected, indices, 3, axis)
    sw.put_along_axis(copied, indices, 3, axis)
    assert_same(copied, expected)


def test_take_along_axis_none_matches_numpy(device):
    values = numbers((3, 4), "float32", 1)
    indices = np.array([5, -1, 0])
    assert_same(
        sw.take_along_axis(on(device, values), indices, None),
        np.take_along_axis(values, indices, None),
    )


@given(data=st.data(), window=windows(), seed=SEEDS, dtype=DTYPES)
def test_compress_and_repeat_match_numpy(device, data, window, seed, dtype):
    ours, oracle = pair(window, dtype, device, seed)
    axis = (
        data.draw(st.none() | st.integers(-oracle.ndim, oracle.ndim - 1)) if oracle.ndim else None
    )
    extent = oracle.size if axis is None else oracle.shape[axis]
    condition = np.random.default_rng(seed).random(extent) < 0.5
    assert_same(
        sw.compress(on(device, condition), ours, axis), np.compress(condition, oracle, axis)
    )
    assert_same(ours.compress(condition[:2], axis), oracle.compress(condition[:2], axis))
    times = data.draw(st.integers(0, 3))
    assert_same(sw.repeat(ours, times, axis), np.repeat(oracle, times, axis))
    many = np.random.default_rng(seed).integers(0, 5, extent)
    assert_same(ours.repeat(on(device, many), axis), oracle.repeat(many, axis))


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("shape", [(100_003,), (5003, 3), (2003, 8), (3, 40_001), (101, 1000)])
def test_repeat_of_many_elements_matches_numpy(device, dtype, shape):
    values = numbers(shape, dtype, 1)
    ours = on(device, values)
    for axis in (None, *range(len(shape))):
        extent = values.size if axis is None else shape[axis]
        times = np.random.default_rng(1).integers(0, 6, extent)
        assert_same(sw.repeat(ours, times, axis), np.repeat(values, times, axis))
        assert_same(sw.repeat(ours, 3, axis), np.repeat(values, 3, axis))


@given(window=windows(broadcast=False), seed=SEEDS, count=st.integers(1, 7))
def test_extract_place_and_putmask_match_numpy(device, window, seed, count):
    values = numbers(window.base_shape, "int32", seed)
    oracle = window.of(values)
    mask = np.random.default_rng(seed).random(oracle.shape) < 0.5
    new = numbers((count,), "int32", seed + 1)
    base = on(device, values)
    assert_same(sw.extract(on(device, mask), window.of(base)), np.extract(mask, oracle))
    for write, numpy_write in ((sw.place, np.place), (sw.putmask, np.putmask)):
        base, expected = on(device, values), values.copy()
        write(window.of(base), on(device, mask), new)
        numpy_write(window.of(expected), mask, new)
        assert_same(base, expected)


def test_select_and_choose_match_numpy(device):
    x = np.arange(10)
    conditions = [x < 3, x > 5]
    choices = [x * 10, x.astype("float32") + 0.5]
    expected = np.select(conditions, choices, 42)
    result = sw.select([on(device, c) for c in conditions], [on(device, c) for c in choices], 42)
    assert_same(result, expected)
    a = np.array([[1, 0], [2, 1]])
    rows = [np.full((2, 2), 5), np.arange(2), np.array(7)]
    ours = [on(device, r) for r in rows]
    assert_same(sw.choose(on(device, a), ours), np.choose(a, rows))
    assert_same(
        sw.choose(on(device, a + 2), ours, mode="clip"), np.choose(a + 2, rows, mode="clip")
    )
    assert_same(
        sw.choose(on(device, a - 4), ours, mode="wrap"), np.choose(a - 4, rows, mode="wrap")
    )
    for wrong in (3, -1):
        with pytest.raises(ValueError, match="invalid entry"):
            sw.choose(on(device, np.array([0, wrong])), ours)


def test_index_builders_match_numpy(device):
    for ours, theirs in (
        (sw.ix_([0, 2], [True, False, True], []), np.ix_([0, 2], [True, False, True], [])),
        (sw.unravel_index(on(device, [22, 41]), (7, 6)), np.unravel_index([22, 41], (7, 6))),
        (sw.tril_indices(4, 1, 3, device=device), np.tril_indices(4, 1, 3)),
        (sw.triu_indices(4, -1, device=device), np.triu_indices(4, -1)),
        (sw.triu_indices_from(sw.zeros((2, 3))), np.triu_indices_from(np.zeros((2, 3)))),
        (sw.tril_indices_from(sw.zeros((2, 3)), -1), np.tril_indices_from(np.zeros((2, 3)), -1)),
        (sw.diag_indices(3, device=device), np.diag_indices(3)),
        (sw.indices((2, 3), sparse=True, device=device), np.indices((2, 3), sparse=True)),
        (sw.ogrid[0:3, 0:2], np.ogrid[0:3, 0:2]),
    ):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert_same(a, np.asarray(b))
    assert_same(sw.indices((2, 3), device=device), np.indices((2, 3)))
    assert_same(sw.mgrid[0:3, 0:2:0.5], np.mgrid[0:3, 0:2:0.5])
    coordinates = (np.array([3, 6]), np.array([4, 5]))
    assert_same(
        sw.ravel_multi_index(tuple(on(device, c) for c in coordinates), (7, 6)),
        np.ravel_multi_index(coordinates, (7, 6)),
    )
    with pytest.raises(ValueError, match="out of bounds"):
        sw.unravel_index(100, (7, 6))


@pytest.mark.parametrize("order", ["C", "F"])
def test_flat_indices_and_coordinates_on_the_device(device, order):
    flat = np.random.default_rng(0).integers(0, 7 * 5 * 3, (4, 6))
    for ours, theirs in zip(
        coordinates_of(on(device, flat), (7, 5, 3), order),
        np.unravel_index(flat, (7, 5, 3), order),
        strict=True,
    ):
        assert_same(ours, theirs)
    wide = np.random.default_rng(1).integers(-9, 9, (3, 11))
    for modes in (("wrap", "clip", "wrap"), ("clip", "clip", "clip")):
        ours = flat_indices_of([on(device, row) for row in wide], (7, 5, 3), modes, order)
        assert_same(ours, np.ravel_multi_index(tuple(wide), (7, 5, 3), modes, order))
    with pytest.raises(ValueError, match="out of bounds"):
        coordinates_of(on(device, np.array([105])), (7, 5, 3), order)
    with pytest.raises(ValueError, match="invalid entry"):
        flat_indices_of([on(device, np.array([7]))], (7,), ("raise",), order)


@given(window=windows(min_rank=1), seed=SEEDS, k=st.integers(-4, 4), dtype=DTYPES)
def test_triangles_and_diagonals_match_numpy(device, window, seed, k, dtype):
    ours, oracle = pair(window, dtype, device, seed)
    assert_same(sw.tril(ours, k), np.tril(oracle, k))
    assert_same(sw.triu(ours, k), np.triu(oracle, k))
    if oracle.ndim <= 2:
        assert_same(sw.diag(ours, k), np.diag(oracle, k))
    if oracle.size < 50:
        assert_same(sw.diagflat(ours, k), np.diagflat(oracle, k))
    if oracle.ndim > 1:
        assert_same(sw.diagonal(ours, k), np.diagonal(oracle, k))


def test_fill_diagonal_matches_numpy(device):
    for shape, value, wrap in (
        ((3, 3), 5, False),
        ((7, 3), 4, True),
        ((3, 3, 3), 2, False),
        ((4, 6), [1, 2], False),
    ):
        expected = np.zeros(shape)
        np.fill_diagonal(expected, value, wrap)
        ours = sw.zeros(shape, device=device)
        sw.fill_diagonal(ours, value, wrap)
        assert_same(ours, expected)
    assert_same(sw.tri(3, 4, -1, "int32", device=device), np.tri(3, 4, -1, "int32"))


@given(
    sparse=st.booleans(),
    indexing=st.sampled_from(("xy", "ij")),
    sizes=st.lists(st.integers(0, 4), max_size=3),
)
def test_meshgrid_matches_numpy(device, sparse, indexing, sizes):
    lines = [np.arange(n) * 2.5 for n in sizes]
    ours = sw.meshgrid(*(on(device, x) for x in lines), sparse=sparse, indexing=indexing)
    theirs = np.meshgrid(*lines, sparse=sparse, indexing=indexing)
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert_same(a, b)


WRONG = {
    "take outside": (lambda a: sw.take(a, 12), IndexError, r"index 12 is out of bounds .* \(12,\)"),
    "take, axis": (lambda a: sw.take(a, 0, 2), ValueError, "axis 2"),
    "take, mode": (lambda a: sw.take(a, 0, mode="x"), ValueError, '"raise", "wrap" or "clip"'),
    "take, floats": (lambda a: sw.take(a, [0.5]), IndexError, "got float64"),
    "take, out": (lambda a: sw.take(a, [0], out=sw.zeros(2)), ValueError, r"\(1,\), got \(2,\)"),
    "take, out's dtype": (lambda a: sw.take(a, [0], out=sw.zeros(1, "int8")), TypeError, "int8"),
    "put outside": (lambda a: a.put([3, 12], 0), IndexError, "index 12"),
    "repeat, negative": (lambda a: sw.repeat(a, -1), ValueError, "negative values, got -1"),
    "repeat, floats": (lambda a: sw.repeat(a, [1.5] * 12), TypeError, "float64"),
    "repeat, length": (lambda a: sw.repeat(a, [1, 2], 0), ValueError, r"\(3,\) \(2,\)"),
    "compress, rank": (lambda a: sw.compress([[True]], a), ValueError, "1-d array"),
    "compress outside": (lambda a: sw.compress([0, 0, 0, 1], a, 0), IndexError, "index 3"),
    "along, rank": (lambda a: sw.take_along_axis(a, [0], 0), ValueError, r"\(1,\) and \(3, 4\)"),
    "along outside": (lambda a: sw.take_along_axis(a, [[4]], 1), IndexError, "index 4"),
    "along, shapes": (lambda a: sw.take_along_axis(a, [[0]] * 2, 1), IndexError, r"\(2, 1\)"),
    "place, empty": (lambda a: sw.place(a, a, []), ValueError, "empty"),
    "place, size": (lambda a: sw.place(a, [True], 1), ValueError, "same size"),
    "ix_": (lambda a: sw.ix_(a), ValueError, "1 dimensional"),
    "select": (lambda a: sw.select([a], [a]), TypeError, "boolean"),
    "diag": (lambda a: sw.diag(sw.zeros((1, 1, 1))), ValueError, r"\(1, 1, 1\)"),
    "meshgrid": (lambda a: sw.meshgrid(a, indexing="ab"), ValueError, "'ab'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_invalid_calls_raise_with_a_reason(device, name):
    call, kind, message = WRONG[name]
    with pytest.raises(kind, match=message):
        call(on(device, numbers((3, 4), "float32", 1) + 1))
