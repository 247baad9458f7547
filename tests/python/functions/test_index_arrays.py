# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Indexing by arrays and masks, for reading and for writing: NumPy's results, order and errors."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import COMPUTABLE, assert_same, numbers, poisoned, windows, with_ellipsis
from support.index_keys import WHERE, keys, ours_of

import spanwise as sw

SEEDS = st.integers(0, 2**32)
DTYPES = st.sampled_from(COMPUTABLE)


def result_of(action):
    """(result, None), or (None, error) where the action raises IndexError or ValueError."""
    try:
        return action(), None
    except (IndexError, ValueError) as error:
        return None, error


@given(data=st.data(), window=windows(), dtype=DTYPES, seed=SEEDS, where=WHERE)
def test_reading_matches_numpy(device, data, window, dtype, seed, where):
    values = numbers(window.base_shape, dtype, seed)
    oracle, ours = window.of(values), window.of(sw.array(values, device=device))
    key = data.draw(keys(oracle.shape))
    expected, error = result_of(lambda: np.asarray(oracle[key]))
    result, our_error = result_of(lambda: ours[ours_of(key, device, where)])
    assert (error is None) == (our_error is None), (error, our_error)
    if error is None:
        assert_same(result, expected)
        assert result.device == device


@given(
    data=st.data(),
    window=windows(broadcast=False),
    dtypes=st.tuples(DTYPES, st.sampled_from(("int32", "uint8", "float32"))),
    seed=SEEDS,
    where=WHERE,
)
def test_writing_matches_numpy_and_changes_nothing_else(device, data, window, dtypes, seed, where):
    base = poisoned(window.base_shape, dtypes[0], device)
    expected = base.numpy().copy()
    oracle, ours = window.of(expected), window.of(base)
    key = data.draw(keys(oracle.shape))
    shape, error = result_of(lambda: np.asarray(oracle[key]).shape)
    if error is not None:
        return
    value_shape = tuple(n if data.draw(st.booleans()) else 1 for n in shape)
    value = numbers(value_shape[data.draw(st.integers(0, len(shape))) :], dtypes[1], seed)
    oracle[with_ellipsis(key)] = value.astype(expected.dtype)
    ours[ours_of(key, device, where)] = (
        sw.array(value, device=device) if data.draw(st.booleans()) else value
    )
    # All of the memory: bytes outside the selection must be unchanged.
    assert_same(base, expected)


@given(data=st.data(), shape=st.lists(st.integers(0, 5), min_size=1, max_size=3), dtype=DTYPES)
def test_number_is_written_to_all_selected_elements(device, data, shape, dtype):
    base = poisoned(tuple(shape), dtype, device)
    expected = base.numpy().copy()
    key = data.draw(keys(tuple(shape)))
    if result_of(lambda: expected[key])[1] is not None:
        return
    expected[with_ellipsis(key)] = 1
    base[ours_of(key, device, ["numpy"])] = 1
    assert_same(base, expected)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("shape", [(200_003,), (701, 300), (3, 70_001), (40_000, 3), (40_000, 8)])
def test_large_index_arrays_match_numpy(device, dtype, shape):
    values = numbers(shape, dtype, 1)
    ours = sw.array(values, device=device)
    rng = np.random.default_rng(2)
    row, column = values.size // shape[0], values.size // shape[-1]
    indices = rng.integers(-shape[0], shape[0], 300_001 // row)
    last = rng.integers(-shape[-1], shape[-1], 300_001 // column)
    mask, row_mask = rng.random(shape) < 0.3, rng.random(shape[0]) < 0.5
    for key in (indices, (Ellipsis, last), mask, row_mask, ~mask, (row_mask, None, Ellipsis)):
        our_key = tuple(
            sw.array(k, device=device) if isinstance(k, np.ndarray) else k
            for k in (key if isinstance(key, tuple) else (key,))
        )
        assert_same(ours[our_key], values[key])
        assert_same(ours.copy()[::-1][our_key], values[::-1][key])
    # The last of several values for one element stays, however many threads there are.
    if len(shape) == 1:
        new = numbers(indices.shape, dtype, 3)
        values[indices] = new
        ours[sw.array(indices, device=device)] = sw.array(new, device=device)
        assert_same(ours, values)
    values[mask] = numbers((int(mask.sum()),), dtype, 4)
    ours[sw.array(mask, device=device)] = numbers((int(mask.sum()),), dtype, 4)
    assert_same(ours, values)


def test_last_value_for_an_element_wins(device):
    ours = sw.zeros(4, "int32", device=device)
    ours[[0, 1, 0, -4, 1]] = [1, 2, 3, 4, 5]
    assert ours.tolist() == [4, 5, 0, 0]
    matrix = sw.zeros((3, 2), "float32", device=device)
    matrix[[2, 0, 2], :] = np.arange(6, dtype="float32").reshape(3, 2)
    assert matrix.tolist() == [[2, 3], [0, 0], [4, 5]]


def test_overlapping_values_and_indices_are_read_before_writing(device):
    values = np.arange(6)
    ours = sw.array(values, device=device)
    ours[[1, 2, 3, 4, 5]] = ours[:-1]
    assert ours.tolist() == [0, 0, 1, 2, 3, 4]
    ours = sw.array(values, device=device)
    ours[ours] = ours[::-1]
    assert ours.tolist() == [5, 4, 3, 2, 1, 0]
    mask = sw.array([True, False, True], device=device)
    mask[mask] = False
    assert mask.tolist() == [False, False, False]


def test_rank_0_masks_index_as_in_numpy(device):
    values = np.arange(6).reshape(2, 3)
    ours = sw.array(values, device=device)
    for mask in (True, False, np.True_, np.array(False), sw.array(True, device=device)):
        assert_same(ours[mask], values[np.asarray(mask)])
        assert_same(ours[0, mask, ...], values[0, np.asarray(mask), ...])
    ours[True] = 7
    ours[False] = 8
    assert (ours.numpy() == 7).all()


def test_indexed_assignment_writes_only_the_view(device):
    memory = sw.full(300, 77, "int16", device=device)
    inner = memory[100:200].reshape(10, 10)
    inner[[9, 0, -10], [9, 0, 9]] = 1
    inner[np.eye(10, dtype=bool)] = 2
    inner[:, [0, -1]] = 3
    inner[[9, 0]] = np.arange(10)
    expected = np.full(300, 77, "int16")
    window = expected[100:200].reshape(10, 10)
    window[[9, 0, -10], [9, 0, 9]] = 1
    window[np.eye(10, dtype=bool)] = 2
    window[:, [0, -1]] = 3
    window[[9, 0]] = np.arange(10)
    assert_same(memory, expected)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ([4], "index 4 is out of bounds for axis 0 with size 4"),
        ([0, -5], "index -5 is out of bounds for axis 0 with size 4"),
        ((slice(None), np.array([[0, 3]])), "index 3 is out of bounds for axis 1 with size 3"),
        (([0, 1], 3), "index 3 is out of bounds for axis 1"),
        (([0, 1], [0, 1, 2]), r"indexing arrays could not be broadcast together .*\(2,\) \(3,\)"),
        (([0], [0], [0]), "too many indices for array: array is 2-dimensional, but 3 were indexed"),
        ((np.zeros((4, 3), bool), 0), "too many indices"),
        (np.zeros((4, 2), bool), "boolean index did not match .* along axis 1; size of axis is 3"),
        (
            np.zeros(5, bool),
            "axis 0; size of axis is 4 but size of corresponding boolean axis is 5",
        ),
        ([0.0, 1.0], "must be of integer .or boolean. type, got float64"),
        (np.zeros(2, "complex64"), "got complex64"),
        (np.array([]), "got float64"),
        ((Ellipsis, [0], Ellipsis), "single ellipsis"),
        (([0], 1.5), "got a float"),
        (([0], "x"), "got a str"),
        (object(), "got a object"),
    ],
)
def test_invalid_keys_raise_before_anything_is_written(device, key, message):
    values = numbers((4, 3), "float32", 1)
    with pytest.raises(IndexError):
        values[key]
    array = sw.array(values, device=device)
    with pytest.raises(sw.BoundsError, match=message):
        array[key]
    with pytest.raises(sw.BoundsError, match=message):
        array[key] = 0
    assert_same(array, values)


def test_out_of_bounds_indices_on_the_device_raise(device):
    array = sw.array(numbers((4, 3), "float32", 1), device=device)
    with pytest.raises(sw.BoundsError, match="index 9 is out of bounds for axis 1 with size 3"):
        array[:, sw.array([0, 9], device=device)]
    with pytest.raises(sw.BoundsError, match="index -5 is out of bounds for axis 0"):
        array[sw.array([-5], "int8", device=device)] = 0
    # Indices are not checked if the other index array is empty.
    assert array[sw.array([9], device=device), sw.array([], "int64", device=device)].shape == (0,)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ([0, 1], np.zeros((2, 2)), r"value array of shape \(2, 2\) .* result of shape \(2, 3\)"),
        (
            np.ones((4, 3), bool),
            np.zeros(5),
            "cannot assign 5 input values to the 12 output values",
        ),
    ],
)
def test_values_of_a_wrong_shape_raise(device, key, value, message):
    array = sw.zeros((4, 3), "float32", device=device)
    with pytest.raises(ValueError, match="shape mismatch|cannot assign"):
        np.zeros((4, 3))[key] = value
    with pytest.raises(sw.LayoutError, match=message):
        array[key] = value


def test_read_only_memory_is_not_written():
    values = np.zeros(4)
    values.flags.writeable = False
    ours = sw.asarray(values)
    for key in ([0], np.ones(4, bool)):
        with pytest.raises(sw.ReadOnlyError, match="read-only"):
            ours[key] = 1
    with pytest.raises(ValueError, match="read-only"):
        ours.put([0], 1)


def test_result_of_more_than_64_dimensions_raises():
    with pytest.raises(ValueError, match="64"):
        sw.zeros((1,) * 60)[np.zeros((1,) * 6, int)]


def test_index_arrays_of_jax_are_accepted(device):
    jax = pytest.importorskip("jax")
    ours = sw.array(np.arange(5), device=device)
    assert ours[jax.numpy.array([3, 1])].tolist() == [3, 1]
    assert ours[jax.numpy.array([True, False, True, False, False])].tolist() == [0, 2]


@pytest.mark.parametrize("rank", [15, 20, 40])
def test_many_index_arrays_match_numpy(device, rank):
    shape = (1, 3, *[1] * rank, 4, 1)
    values = numbers(shape, "int32", 1)
    key = [np.zeros(6, "int64") for _ in shape]
    key[1] = np.array([2, -2, 0, 2, 1, 1])
    key[-2] = np.array([[-1], [1], [-1]])
    key, oracle, ours = tuple(key), values.copy(), sw.array(values, device=device)
    assert_same(ours[key], oracle[key])
    oracle[key] = ours[key] = numbers((3, 6), "int32", 2)
    assert_same(ours, oracle)


@pytest.mark.parametrize("dtype", ["uint8", "float16", "complex128"])
@pytest.mark.parametrize("first", [0, 1, 2])
@pytest.mark.parametrize("row", [(24,), (8, 3), (1, 5), (4, 1, 2)])
def test_rows_of_any_alignment_match_numpy(device, dtype, first, row):
    values = numbers((9, row[0] + first, *row[1:]), dtype, 1)
    oracle, ours = values[:, first:], sw.array(values, device=device)[:, first:]
    indices = np.array([[3, 0, -1], [3, 3, 8]])
    assert_same(ours[indices], oracle[indices])
    oracle[indices] = ours[indices] = numbers((3, *row), dtype, 2)
    assert_same(ours, oracle)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "complex128"])
@pytest.mark.parametrize("distinct", [70_000, 69_990, 50])
def test_last_of_70000_values_for_an_element_wins(device, dtype, distinct):
    rng = np.random.default_rng(distinct)
    count, size = 70_000, (1 << 20) + 5
    indices = rng.permutation(size)[:distinct][rng.permutation(count) % distinct]
    indices -= size * rng.integers(0, 2, count)
    values, expected = rng.integers(0, 100, count).astype(dtype), numbers((size,), dtype, 3)
    ours = sw.array(expected, device=device)
    expected[indices] = values
    ours[sw.array(indices, device=device)] = sw.array(values, device=device)
    assert_same(ours, expected)


@pytest.mark.parametrize("dtype", ["bool", "float16", "int32", "float64", "complex128"])
def test_masks_assign_one_value_or_row_to_all(device, dtype):
    rng = np.random.default_rng(0)
    for shape, order in (((40, 30), (0, 1)), ((40, 30), (1, 0)), ((7, 5, 6), (2, 0, 1))):
        values = numbers(shape, dtype, 1)
        ours, oracle = sw.array(values, device=device).transpose(order), values.transpose(order)
        row = numbers(oracle.shape[1:], dtype, 2)
        for mask in (rng.random(oracle.shape) < 0.5, rng.random(oracle.shape[:1]) < 0.5):
            on_rows = mask.ndim == 1
            for value in (3, np.float32(2), *((row, row[:1], row[None]) if on_rows else ([1],))):
                ours, oracle = ours.copy(), oracle.copy()
                ours[sw.array(mask, device=device)] = value
                oracle[mask] = value
                assert_same(ours, oracle)
            if on_rows:  # on the device of the array, a part of the array itself, of another dtype
                for part in (row, row.astype("complex128").real.astype("uint8")):
                    ours[sw.array(mask, device=device)] = sw.array(part, device=device)
                    oracle[mask] = part
                ours[sw.array(mask, device=device)] = ours[0]
                oracle[mask] = oracle[0].copy()
                assert_same(ours, oracle)


def test_masked_assignments_of_other_values_raise(device):
    ours = sw.zeros((4, 3), device=device)
    mask = sw.array([True, False, True, True], device=device)
    for value in (np.ones(2), np.ones((2, 3)), np.ones((1, 1, 1, 2))):
        with pytest.raises((ValueError, IndexError)):
            ours[mask] = value
    with pytest.raises(IndexError):
        ours[sw.array([True] * 5, device=device)] = 1
    assert not ours.numpy().any()
