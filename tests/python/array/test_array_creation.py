# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Making arrays: NumPy's functions with NumPy's arguments, and a device."""

import inspect
import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import COMPUTABLE, assert_same, numbers, pair, windows

import spanwise as sw

SEEDS = st.integers(0, 2**32)


@pytest.mark.parametrize("dtype", COMPUTABLE)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 4), 5])
def test_zeros_ones_full_and_empty_match_numpy(device, dtype, shape):
    numpy_dtype = sw.dtype(dtype).dtype
    assert_same(sw.zeros(shape, dtype, device=device), np.zeros(shape, numpy_dtype))
    assert_same(sw.ones(shape, dtype, device=device), np.ones(shape, numpy_dtype))
    assert_same(sw.full(shape, 1, dtype, device=device), np.full(shape, 1, numpy_dtype))
    empty = sw.empty(shape, dtype, device=device)
    assert (empty.shape, empty.dtype, empty.device) == (np.zeros(shape).shape, numpy_dtype, device)


def test_default_dtypes_match_numpy(device):
    assert sw.zeros(2, device=device).dtype == np.zeros(2).dtype
    for value in (True, 3, 2.5, 1j):
        assert sw.full(2, value, device=device).dtype == np.full(2, value).dtype
        assert sw.array(value, device=device).dtype == np.array(value).dtype
        assert sw.array([value], device=device).dtype == np.array([value]).dtype


def test_full_broadcasts_an_array(device):
    row = numbers((3,), "int16", 1)
    assert_same(sw.full((2, 3), row, device=device), np.full((2, 3), row))


@pytest.mark.parametrize("order", ["C", "F"])
def test_order_decides_the_strides(device, order):
    expected = np.empty((3, 4, 5), "float32", order)
    assert sw.empty((3, 4, 5), "float32", order, device=device).strides == expected.strides


@given(
    window=windows(),
    seed=SEEDS,
    order=st.sampled_from("CFAK"),
    dtype=st.sampled_from([None, "int8", "complex64"]),
)
def test_like_functions_take_shape_order_and_device_of_the_array(
    device, window, seed, order, dtype
):
    ours, oracle = pair(window, "float32", device, seed)
    expected = np.zeros_like(oracle, dtype, order)
    result = sw.zeros_like(ours, dtype, order)
    assert_same(result, expected)
    assert result.device == device
    if oracle.size > 0 and 1 not in oracle.shape:
        assert result.strides == expected.strides
    assert_same(sw.ones_like(ours, dtype, order), np.ones_like(oracle, dtype, order))
    assert_same(sw.full_like(ours, 3, dtype, order), np.full_like(oracle, 3, dtype, order))
    assert sw.empty_like(ours, dtype, order, shape=(2, 2)).shape == (2, 2)


@pytest.mark.parametrize("dtype", [">f8", "f8", "?", "c16", "f2"])
@pytest.mark.parametrize(
    "view",
    [
        lambda a: a, lambda a: a[::2], lambda a: a[:0], lambda a: a[3:4], lambda a: a.reshape(4, 4).T,
        lambda a: a[5:6].reshape(()), lambda a: a[::-1], lambda a: np.broadcast_to(a, (3, 16)),
        lambda a: a.view(np.uint8)[1:-7].view("f4") if a.itemsize == 8 else a,
    ],
)  # fmt: skip
@pytest.mark.parametrize("readonly", [False, True])
def test_small_foreign_array_is_copied_to_the_default_device(device, dtype, view, readonly):
    source = numbers((16,), "float64", 9).astype(dtype)
    source.flags.writeable = not readonly
    oracle = view(source)
    with sw.config.change(device=str(device)):
        result = sw.array(oracle)
    assert_same(result, oracle.astype(oracle.dtype.newbyteorder("=")))
    assert result.base is None
    assert result.flags.writeable
    assert not np.shares_memory(result.numpy(), source)


@given(window=windows(), seed=SEEDS, dtype=st.sampled_from(COMPUTABLE))
def test_array_copies_and_asarray_does_not(device, window, seed, dtype):
    ours, oracle = pair(window, dtype, device, seed)
    result = sw.array(ours)
    assert_same(result, oracle)
    assert result.base is None
    assert sw.asarray(ours) is ours
    shared = sw.asarray(oracle)
    assert_same(shared, oracle)
    assert shared.size == 0 or np.shares_memory(shared.numpy(), oracle)


@given(
    window=windows(),
    seed=SEEDS,
    dtypes=st.tuples(st.sampled_from(COMPUTABLE), st.sampled_from(COMPUTABLE)),
    order=st.sampled_from("CFAK"),
)
def test_astype_matches_numpy_for_any_layout(device, window, seed, dtypes, order):
    ours, oracle = pair(window, dtypes[0], device, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a complex number loses its imaginary part
        expected = oracle.astype(sw.dtype(dtypes[1]).dtype, order)
    result = ours.astype(dtypes[1], order)
    assert_same(result, expected)
    assert result.base is None
    same = ours.astype(dtypes[0], "K", copy=False)
    assert same is ours


@given(data=st.data(), dtypes=st.tuples(st.sampled_from(COMPUTABLE), st.sampled_from(COMPUTABLE)))
def test_astype_wraps_and_rounds_as_numpy(device, data, dtypes):
    """Values over the whole range where C defines the cast."""
    source, target = (np.dtype(sw.dtype(name).dtype) for name in dtypes)
    raw = data.draw(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=20))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if source.kind in "iu":
            values = np.array(raw, np.int64).astype(source)
        else:
            # Beyond the target's range a real number has no defined integer.
            values = (np.array(raw, np.int64) % 128).astype(np.float64) / 8
            values = values.astype(source)
        expected = values.astype(target)
    assert_same(sw.array(values, device=device).astype(dtypes[1]), expected)


def test_astype_obeys_its_casting_rule(device):
    array = sw.zeros(3, "float64", device=device)
    assert array.astype("float32", casting="same_kind").dtype == "float32"
    with pytest.raises(sw.DTypeError, match='float64 to int32 under casting="safe"'):
        array.astype("int32", casting="safe")
    with pytest.raises(sw.ArgumentError, match="same_kind"):
        array.astype("int32", casting="careful")


def test_asarray_with_copy_false_shares_or_raises(device):
    values = np.zeros((3, 4))
    assert sw.asarray(values, copy=False).base is values
    assert sw.asarray(values, order="C", copy=False).base is values
    for call in (
        lambda: sw.asarray(values, "float32", copy=False),
        lambda: sw.asarray(values, order="F", copy=False),
        lambda: sw.asarray([1, 2], copy=False),
    ):
        with pytest.raises(sw.CopyNeededError) as caught:
            call()
        assert isinstance(caught.value, ValueError)
        assert isinstance(caught.value, BufferError)


def test_asarray_with_copy_true_never_shares():
    values = np.zeros(3)
    result = sw.asarray(values, copy=True)
    result[...] = 1
    assert not values.any()


def test_array_takes_order_and_ndmin(device):
    values = numbers((3, 4), "float32", 3)
    assert sw.array(values, order="F", device=device).strides == (4, 12)
    assert sw.array(5, ndmin=2, device=device).shape == (1, 1)
    assert sw.array(values, copy=None).base is values
    with pytest.raises(sw.LayoutError, match="ndmin"):
        sw.array(5, ndmin=100)


def test_ascontiguousarray_copies_only_other_layouts(device):
    array = sw.array(numbers((3, 4), "float32", 4), device=device)
    assert sw.ascontiguousarray(array) is array
    result = sw.ascontiguousarray(array.T)
    assert_same(result, array.numpy().T)
    assert result.flags.c_contiguous
    assert sw.ascontiguousarray(array[0, 0]).shape == (1,)
    assert sw.ascontiguousarray(array, "float64").dtype == "float64"


@pytest.mark.parametrize("function", [sw.array, sw.asarray])
def test_invalid_calls_name_the_remedy(function):
    with pytest.raises(
        TypeError, match="no argument 'colour'; it has x, dtype, device, copy, order"
    ):
        function([1], colour="red")
    with pytest.raises(TypeError, match="needs 'x'"):
        function()
    with pytest.raises(TypeError, match="at most 2 arguments by position"):
        function([1], "float32", "cpu")
    with pytest.raises(TypeError, match="'dtype' twice"):
        function([1], "float32", dtype="float32")
    assert str(inspect.signature(function)).startswith("(x, dtype=None, *, device=None")


@pytest.mark.parametrize(
    "shape", [-1, (2, -1), "3", 2.0, (2, 2.0), None, True, (2**40, 2**40), (1,) * 65]
)
def test_invalid_shape_raises_as_in_numpy(shape):
    with pytest.raises(sw.Error) as ours:
        sw.zeros(shape)
    with pytest.raises((TypeError, ValueError, MemoryError)) as numpys:
        np.zeros(shape)
    assert isinstance(ours.value, numpys.type) or numpys.type not in (TypeError, ValueError)


def test_out_of_memory_error_names_the_requested_size():
    with pytest.raises(sw.OutOfMemoryError, match=str(2**60)) as caught:
        sw.empty(2**60, "uint8", device="cpu")
    assert isinstance(caught.value, MemoryError)


def test_arrays_are_created_on_the_threads_default_device():
    with sw.device("cpu"):
        for result in (sw.zeros(2), sw.array([1]), sw.arange(3), sw.eye(2), sw.full(1, 1)):
            assert result.device == "cpu"


def test_may_share_memory_is_false_for_disjoint_views_and_copies(device):
    array = sw.zeros((4, 4), device=device)
    assert sw.may_share_memory(array, array.T)
    assert sw.may_share_memory(array[0], array[0, 1:])
    assert not sw.may_share_memory(array[0], array[2])
    assert not sw.may_share_memory(array, array.copy())
    values = np.zeros(3)
    assert sw.may_share_memory(sw.asarray(values), values)
