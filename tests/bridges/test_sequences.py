# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers and nested sequences: NumPy's shapes and dtypes, and errors that give the position."""

from collections import UserList, deque

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from support.arrays import COMPUTABLE, assert_same, numbers

import spanwise as sw

PLAIN = [
    3,
    True,
    2.5,
    1j,
    [],
    [[]],
    [[], []],
    [1, 2],
    [1, 2.5],
    [True, 2],
    [True, 1.5, 2j],
    (1, (2,))[1],
    [(1, 2), [3, 4]],
    [[[1], [2]], [[3], [4]]],
    range(4),
    [range(3), range(3)],
    2**63,
    [2**63, 1],
    [-(2**63)],
    deque([1.0, 2.0]),
]


@pytest.mark.parametrize("values", PLAIN, ids=repr)
def test_shape_dtype_and_elements_match_numpy(values):
    oracle = np.asarray(list(values) if isinstance(values, deque) else values)
    assert_same(sw.asarray(values, device="cpu"), oracle)


def test_integer_beyond_64_bits_is_refused():
    with pytest.raises(OverflowError):
        sw.asarray([2**64])


@given(
    values=hnp.arrays(
        st.sampled_from(("int64", "float64", "complex128", "bool")),
        hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4),
    )
)
def test_lists_round_trip(values):
    assert_same(sw.asarray(values.tolist(), device="cpu"), values)


@pytest.mark.parametrize("dtype", COMPUTABLE)
def test_list_is_converted_to_the_given_dtype(dtype):
    ours = sw.asarray([[1, 0], [0, 1]], dtype=dtype, device="cpu")
    assert ours.dtype == dtype
    assert ours.tolist() == [[1, 0], [0, 1]]


def test_numbers_that_do_not_fit_the_dtype_are_refused():
    with pytest.raises(OverflowError):
        sw.asarray([300], dtype="uint8")


@pytest.mark.parametrize(
    ("values", "position"),
    [
        ([[1, 2], [3]], r"length 2 at \[1\], got length 1"),
        ([[1, 2], 3], r"length 2 at \[1\], got a number"),
        ([1, [2]], r"a number at \[1\]"),
        ([[[1]], [[2, 3]]], r"length 1 at \[1\]\[0\]"),
        ([[], 1], r"length 0 at \[1\]"),
        ([np.zeros(2), np.zeros(3)], r"length 2 at \[1\], got length 3"),
        ([1, np.zeros(2)], r"a number at \[1\]"),
        ([np.zeros(2), 1], r"length 2 at \[1\], got a number"),
    ],
    ids=lambda value: "",
)
def test_ragged_nesting_error_gives_the_position(values, position):
    with pytest.raises(sw.ArgumentError, match=position):
        sw.asarray(values)


@pytest.mark.parametrize("values", [["text"], [b"bytes"], [None], [{}], [1, "2"]], ids=repr)
def test_non_numeric_elements_are_refused(values):
    with pytest.raises(sw.DTypeError, match="expected numbers"):
        sw.asarray(values)


def test_error_for_a_text_quotes_it():
    with pytest.raises(sw.BridgeError, match="expected an array, .*, got the text 'text'"):
        sw.asarray("text")


@pytest.mark.parametrize("values", [None, {}, object(), sw], ids=lambda v: type(v).__name__)
def test_error_for_other_objects_lists_the_protocols_tried(values):
    with pytest.raises(sw.BridgeError, match="__dlpack__.*numpy.*dlpack"):
        sw.asarray(values)


@given(dtype=st.sampled_from(COMPUTABLE), count=st.integers(1, 4), seed=st.integers(0, 2**32))
def test_arrays_in_a_list_are_stacked(dtype, count, seed):
    rows = [numbers((3, 2), dtype, seed + i)[:, ::-1] for i in range(count)]
    assert_same(sw.asarray(rows, device="cpu"), np.stack(rows))
    assert_same(sw.asarray([sw.asarray(row) for row in rows], device="cpu"), np.stack(rows))


def test_arrays_and_numbers_mix_by_promotion():
    assert_same(sw.asarray([np.float32(1), 2.0], device="cpu"), np.array([np.float32(1), 2.0]))
    assert_same(sw.asarray([np.int8(1), np.int16(2)], device="cpu"), np.array([1, 2], np.int16))
    mixed = [[1, 2], np.array([3, 4], np.uint8)]
    assert_same(sw.asarray(mixed, device="cpu"), np.array(mixed))


def test_sequences_that_make_new_items_at_each_reading_are_read_once():
    class Fresh:
        def __len__(self):
            return 3

        def __getitem__(self, i):
            if i >= 3:
                raise IndexError
            return np.full(2, i, np.float32)

    assert sw.asarray(Fresh()).tolist() == [[0, 0], [1, 1], [2, 2]]


def test_a_list_that_shrinks_while_it_is_read_is_an_error():
    class Shrinks(UserList):
        def __iter__(self):
            outer.pop()
            return super().__iter__()

    outer = [[1.0], Shrinks([2.0]), [3.0], [4.0]]
    with pytest.raises(sw.ArgumentError, match="changed"):
        sw.asarray(outer)


def test_error_of_a_sequence_is_propagated():
    class Broken:
        def __len__(self):
            return 1

        def __getitem__(self, i):
            raise RuntimeError("from the sequence")

    with pytest.raises(RuntimeError, match="from the sequence"):
        sw.asarray(Broken())


def test_asarray_of_numbers_without_copy_raises():
    for values in (1, [1, 2]):
        with pytest.raises(sw.CopyNeededError):
            sw.asarray(values, copy=False)


@pytest.mark.parametrize("make", [list, tuple])
@pytest.mark.parametrize(
    "values",
    [
        [1.5, -0.0, float("inf")], [3], [1, 2**63 - 1, -(2**63)], [1, 2**63], [1, 2.5], [2.5, 1],
        [1.0, True], [True, False], [1, 1j], [0.5, np.float32(2)], [float("nan")] * 1000, [],
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [None, "float64", "int64", "float32"])
def test_flat_list_of_numbers_matches_numpy(make, values, dtype):
    """Sequences of floats only and of integers only take a fast path up to the first other type."""
    numbers = make(values)
    try:
        expected = np.array(numbers, dtype)
    except (OverflowError, TypeError, ValueError):
        with pytest.raises((OverflowError, TypeError, ValueError)):
            sw.array(numbers, dtype, device="cpu")
        return
    ours = sw.array(numbers, dtype, device="cpu")
    assert ours.dtype == expected.dtype
    np.testing.assert_array_equal(ours.numpy(), expected)
