# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Copies between views of all kinds of layouts, compared with NumPy's: all bytes of the target's
memory, also those outside of the view."""

import gc
import warnings
import weakref

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from support.arrays import numbers, pair, poisoned, windows, writable_broadcast

import spanwise as sw

# All element sizes, and for 8 bytes a dtype of one number and one of two.
DTYPES = ("uint8", "float16", "float32", "float64", "complex64", "complex128")


def permutations_of(rank):
    return st.permutations(range(rank))


@st.composite
def layouts(draw, rank):
    """The order of the axes in memory, a step for each, of any sign, and a gap behind each."""
    return (
        draw(permutations_of(rank)),
        [draw(st.sampled_from([1, 1, 1, 2, 3, -1, -2])) for _ in range(rank)],
        [draw(st.integers(0, 2)) for _ in range(rank)],
    )


def memory_and_view(shape, layout):
    """The shape of an array that contains a view of shape `shape` with `layout`, and the function
    that takes that view of it."""
    order, steps, gaps = layout
    extents = [n * abs(step) + gap for n, step, gap in zip(shape, steps, gaps, strict=True)]
    inverse = [order.index(axis) for axis in range(len(shape))]

    def view(memory):
        forwards = memory.transpose(inverse)[
            tuple(slice(0, n * abs(s), abs(s)) for n, s in zip(shape, steps, strict=True))
        ]
        return forwards[tuple(slice(None, None, -1 if step < 0 else 1) for step in steps)]

    return tuple(extents[axis] for axis in order), view


def check(source, target, device, dtype, target_dtype=None, seed=0):
    """Copies one view to another on the device, and compares all of the target's memory with what
    NumPy's copy gives. `source` and `target` are results of memory_and_view()."""
    (source_shape, source_view), (target_shape, target_view) = source, target
    values = numbers(source_shape, dtype, seed)
    memory = poisoned(target_shape, target_dtype or dtype, device)
    oracle = memory.numpy().copy()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        np.copyto(target_view(oracle), source_view(values), casting="unsafe")
    target_view(memory)[...] = source_view(sw.array(values, device=device))
    assert memory.numpy().tobytes() == oracle.tobytes()


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_copy_matches_numpy_for_any_two_layouts(device, data):
    rank = data.draw(st.integers(1, 4))
    max_extent = {1: 3000, 2: 90, 3: 30, 4: 12}[rank]
    shape = tuple(data.draw(st.integers(1, max_extent)) for _ in range(rank))
    source, target = (memory_and_view(shape, data.draw(layouts(rank))) for _ in range(2))
    check(source, target, device, data.draw(st.sampled_from(DTYPES)))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_copy_with_cast_matches_numpy_in_any_layout(device, data):
    shape = tuple(data.draw(st.integers(1, 40)) for _ in range(2))
    source, target = (memory_and_view(shape, data.draw(layouts(2))) for _ in range(2))
    dtypes = st.sampled_from(("uint8", "int16", "float32", "float64", "complex64", "int64"))
    check(source, target, device, data.draw(dtypes), data.draw(dtypes))


@settings(max_examples=80, deadline=None)
@given(window=windows(), dtype=st.sampled_from(DTYPES))
def test_copy_from_broadcast_and_empty_views_matches_numpy(device, window, dtype):
    ours, theirs = pair(window, dtype, device, 3)
    target = poisoned(theirs.shape, dtype, device)
    target[...] = ours
    np.testing.assert_array_equal(target.numpy(), theirs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((517, 1031), (1, 0)),
        ((256, 512), (1, 0)),
        ((5, 130, 70), (0, 2, 1)),
        ((17, 18, 19, 20), (3, 2, 1, 0)),
        ((40, 50, 33), (2, 1, 0)),
        ((30, 40, 2, 8), (1, 0, 2, 3)),
        ((4097, 3), (1, 0)),
        ((3, 4097), (1, 0)),
        ((4099, 2), (1, 0)),
        ((3, 2051, 2), (0, 2, 1)),
        ((2, 2051, 4), (0, 2, 1)),
    ],
)
def test_copy_of_permuted_axes_matches_numpy(device, dtype, shape, axes):
    source = shape, lambda memory: memory.transpose(axes)
    target = tuple(shape[axis] for axis in axes), lambda memory: memory
    check(source, target, device, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("first", [0, 1, 3])
@pytest.mark.parametrize("step", [1, 2, 3, 8, -1, -2])
def test_copy_of_strided_and_unaligned_vectors_matches_numpy(device, dtype, first, step):
    n = 2003
    extent = n * abs(step) + first

    def strided(memory):
        forwards = memory[first : first + n * abs(step) : abs(step)]
        return forwards[::-1] if step < 0 else forwards

    check(((extent,), strided), ((n + 5,), lambda memory: memory[2 : n + 2]), device, dtype)
    check(((n,), lambda memory: memory), ((extent,), strided), device, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_and_columns_are_broadcast(device, dtype):
    row, column = numbers((301,), dtype, 1), numbers((64, 1), dtype, 2)
    for values in (row, column, row[:1], row[::-1]):
        target = poisoned((64, 301), dtype, device)
        target[...] = sw.array(values, device=device)
        np.testing.assert_array_equal(target.numpy(), np.broadcast_to(values, (64, 301)))


@pytest.mark.parametrize("dtype", ["int16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(7,), (1000,), (33, 65)])
def test_import_converts_swapped_byte_order(device, dtype, shape):
    values = numbers(shape, dtype, 4)
    swapped = values.astype(values.dtype.newbyteorder(">"))
    for view in (lambda a: a, lambda a: a.T, lambda a: a[::-1]):
        native = sw.array(view(swapped), device=device)
        np.testing.assert_array_equal(native.numpy(), view(values))


@settings(max_examples=100, deadline=None)
@given(data=st.data(), dtype=st.sampled_from(DTYPES))
def test_overlapping_views_are_read_before_they_are_written(device, data, dtype):
    shape = data.draw(st.sampled_from([(40,), (6, 6), (70, 70), (3, 5, 5)]))
    slices = [
        data.draw(st.sampled_from([(slice(1, None), slice(None, -1)), (slice(None),) * 2]))
        for _ in shape
    ]
    target, source = (tuple(s[i] for s in slices) for i in (0, 1))
    reversal = data.draw(st.sampled_from([slice(None), slice(None, None, -1)]))
    values = numbers(shape, dtype, 5)
    ours, oracle = sw.array(values, device=device), values.copy()
    ours[target] = ours[source][reversal]
    oracle[target] = oracle[source][reversal].copy()
    np.testing.assert_array_equal(ours.numpy(), oracle)


def test_repeated_element_keeps_the_last_value(device):
    memory = sw.zeros(3, device=device)
    repeated = writable_broadcast(memory, (4, 3))
    values = np.arange(12.0).reshape(4, 3)
    repeated[...] = sw.array(values, device=device)
    np.testing.assert_array_equal(memory.numpy(), values[-1])


def test_large_transposed_copy_is_complete(device):
    values = np.random.default_rng(6).random((2050, 2051), dtype=np.float32)
    source = sw.array(values, device=device)
    target = sw.full((2053, 2053), -1.0, dtype="float32", device=device)
    target[1:2052, 2:2052] = source.T
    oracle = np.full((2053, 2053), -1.0, np.float32)
    oracle[1:2052, 2:2052] = values.T
    np.testing.assert_array_equal(target.numpy(), oracle)


@pytest.mark.parametrize("key", [(0, 0), (-1, -4), (2, 1)])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float64", "complex128"])
def test_assigning_one_element_matches_numpy(device, dtype, key):
    values = numbers((3, 4), dtype, 7)
    for view in (lambda a: a, lambda a: a[::-1, ::-1]):
        ours, oracle = sw.array(values, device=device), values.copy()
        view(ours)[key] = 1
        view(oracle)[key] = 1
        np.testing.assert_array_equal(ours.numpy(), oracle)


def test_assigning_an_out_of_range_or_read_only_element_raises(device):
    array = sw.zeros((3, 4), device=device)
    for key in [(3, 0), (0, -5), (10**30, 0)]:
        with pytest.raises(IndexError):
            array[key] = 1.0
    with pytest.raises(OverflowError):
        sw.zeros(3, dtype="int8", device=device)[0] = 300
    array.flags.writeable = False
    with pytest.raises(sw.ReadOnlyError):
        array[0, 0] = 1.0


def test_flags_keep_their_array_alive(device):
    array = sw.zeros((2, 3), device=device)
    flags = array.flags
    reference = weakref.ref(array)
    del array
    gc.collect()
    assert flags.c_contiguous and flags["OWNDATA"] and not flags.f_contiguous
    assert reference() is not None
    del flags
    gc.collect()
    assert reference() is None
