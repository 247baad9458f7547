# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Attributes of arrays, conversions to Python numbers, text, and errors for ambiguous
operations."""

import copy
import gc
import operator
import weakref
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import COMPUTABLE, assert_same, numbers, pair, windows

import spanwise as sw


@given(window=windows(), dtype=st.sampled_from(COMPUTABLE), seed=st.integers(0, 2**32))
def test_attributes_match_numpy(device, window, dtype, seed):
    ours, oracle = pair(window, dtype, device, seed)
    assert ours.shape == oracle.shape
    assert ours.ndim == oracle.ndim
    assert ours.size == oracle.size
    assert ours.nbytes == oracle.nbytes
    assert ours.itemsize == oracle.itemsize
    assert ours.dtype == oracle.dtype
    assert ours.device == device
    assert ours.flags.c_contiguous == oracle.flags.c_contiguous
    assert ours.flags.f_contiguous == oracle.flags.f_contiguous
    assert ours.flags.writeable == oracle.flags.writeable
    assert ours.flags.aligned


def test_flags_are_readable_by_numpys_names():
    array = sw.zeros((3, 4), order="F")
    assert array.flags["F_CONTIGUOUS"]
    assert not array.flags["C"]
    assert array.flags["OWNDATA"]
    assert not array[1:].flags.owndata
    assert "WRITEABLE : True" in repr(array.flags)
    with pytest.raises(KeyError, match="C_CONTIGUOUS"):
        array.flags["COLOUR"]


def test_flags_compare_and_writeable_is_set_by_its_name():
    a, b = sw.zeros((2, 3), device="cpu"), sw.ones((4, 1, 2), device="cpu")
    assert a.flags == b.flags and a.flags != b.T.flags and a.flags != 3
    a.flags["WRITEABLE"] = False
    assert not a.flags.writeable and a.flags != b.flags
    with pytest.raises(sw.ReadOnlyError):
        a.flags["W"] = True
    with pytest.raises(KeyError, match="WRITEABLE"):
        a.flags["ALIGNED"] = False
    with pytest.raises(TypeError, match="unhashable"):
        hash(a.flags)


def test_unaligned_memory_is_reported():
    raw = np.zeros(17, np.uint8)[1:]
    if raw.ctypes.data % 4:
        assert not sw.asarray(raw).view("float32").flags.aligned


def test_base_is_the_owner_of_the_memory(device):
    array = sw.zeros((3, 4), device=device)
    assert array.base is None
    assert array[1:][:, 2].base is array
    assert array.T.base is array
    assert array.copy().base is None
    foreign = np.zeros(3)
    imported = sw.asarray(foreign)
    assert imported.base is foreign
    assert imported[1:].base is imported


def test_view_keeps_its_base_alive_until_the_view_is_deleted(device):
    array = sw.array(numbers((100,), "float32", 1), device=device)
    reference = weakref.ref(array)
    values = array[50:].numpy().copy()
    view = array[50:]
    del array
    gc.collect()
    assert reference() is not None  # as .base of the view
    assert (view.numpy() == values).all()
    del view
    gc.collect()
    assert reference() is None


def test_owner_of_imported_memory_lives_as_long_as_a_view():
    class Owned(np.ndarray):
        pass

    owner = np.zeros(4).view(Owned)
    reference = weakref.ref(owner)
    view = sw.asarray(owner)[1:].reshape(3, 1)
    del owner
    gc.collect()
    assert reference() is not None
    del view
    gc.collect()
    assert reference() is None


def test_hash_of_an_array_raises(device):
    a = sw.zeros((2,), device=device)
    for array in (a, a[:1], a[0, ...]):
        with pytest.raises(TypeError, match="unhashable"):
            hash(array)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "bfloat16", "complex64"])
def test_elements_are_hashed_by_value(device, dtype):
    a = sw.asarray([1, 0, 1, 1], device="cpu").astype(dtype).to(device)
    assert {*a} == {0, 1} and Counter(a) == {1: 3, 0: 1}
    assert {1: "one"}[a[0]] == "one" and {a.max(): "one"}[1] == "one"
    assert hash(a[1]) == hash(a[1].item())


def test_a_hashed_element_keeps_its_value():
    a = sw.asarray([2.0, 3.0], device="cpu")
    total = a[0]
    total += 1
    hash(total)
    with pytest.raises(sw.ReadOnlyError):
        total += 1
    del total
    again = a[1]  # in the memory of the last one
    again += 1
    assert again == 4 and a.tolist() == [2, 3]


@pytest.mark.parametrize("other", [None, "text", {}, b"bytes"])
def test_comparison_with_a_non_number_is_elementwise_or_raises(other):
    array = sw.zeros(2)
    assert (array == other).tolist() == [False, False]
    assert (array != other).tolist() == [True, True]
    for compare in (operator.lt, operator.ge):
        with pytest.raises(TypeError):
            compare(array, other)


@pytest.mark.parametrize("dtype", COMPUTABLE)
def test_one_element_is_a_python_number(device, dtype):
    array = sw.array(1, dtype, device=device)
    assert array.item() == 1
    assert type(array.item()) is type(np.ones((), dtype if dtype != "bfloat16" else "f4").item())
    assert bool(array) is True
    assert complex(array) == 1 + 0j
    if array.dtype.kind != "c":
        assert float(array) == 1.0
        assert int(array) == 1
    if array.dtype.kind in "iu":
        assert operator.index(array) == 1
        assert [10, 20, 30][array] == 20
    else:
        with pytest.raises(TypeError):
            operator.index(array)


@pytest.mark.parametrize("convert", [int, float, complex, operator.index])
def test_only_rank_0_converts(convert):
    with pytest.raises(TypeError, match="rank 0"):
        convert(sw.ones(1, "int32"))


def test_the_truth_of_several_elements_is_ambiguous():
    assert bool(sw.ones((1, 1)))
    for shape in ((2,), (0,), (2, 2)):
        with pytest.raises(ValueError, match="ambiguous"):
            bool(sw.ones(shape))


def test_largest_integers_round_trip():
    assert sw.array(2**64 - 1, "uint64").item() == 2**64 - 1
    assert sw.array(-(2**63)).item() == -(2**63)


@given(window=windows(), seed=st.integers(0, 2**32), data=st.data())
def test_item_accepts_numpys_flat_and_tuple_indices(device, window, seed, data):
    ours, oracle = pair(window, "int64", device, seed)
    assert ours.tolist() == oracle.tolist()
    if oracle.size == 0:
        with pytest.raises(sw.BoundsError):
            ours.item(0)
        return
    flat = data.draw(st.integers(-oracle.size, oracle.size - 1))
    assert ours.item(flat) == oracle.item(flat)
    index = tuple(data.draw(st.integers(-n, n - 1)) for n in oracle.shape)
    assert ours.item(index) == oracle.item(index)
    if len(index) > 1:
        assert ours.item(*index) == oracle.item(*index)


@pytest.mark.parametrize("dtype", [*"bBhHiIlLfd?eFD", "int64", "uint64"])
def test_tolist_matches_numpy(device, dtype):
    a = np.arange(-12, 12).reshape(2, 3, 4).astype(dtype)
    ours = sw.asarray(a, device=device)
    for key in (
        ...,
        (slice(None), 1),
        (1, slice(None, None, -2)),
        (0, 0, 0),
        slice(0),
        (1, 2, slice(0)),
    ):
        result, expected = ours[key].tolist(), a[key].tolist()
        assert result == expected
        assert repr(result) == repr(expected), "the elements must have the same Python types"
    assert ours.T.tolist() == a.T.tolist()


def test_item_needs_one_element_or_an_index_for_each_axis():
    with pytest.raises(ValueError, match=r"\(2, 2\)"):
        sw.ones((2, 2)).item()
    with pytest.raises(IndexError, match="expected 2 indices"):
        sw.ones((2, 2)).item(0, 0, 0)


@pytest.mark.parametrize(
    "values",
    [
        np.arange(3.0),
        np.arange(6).reshape(2, 3) % 2 == 0,
        np.float32([[1.5, np.nan], [np.inf, -0.0]]),
        np.array(3, np.int8),
        np.zeros((0, 3), np.uint16),
        np.array([]),
        np.arange(2000),
        np.arange(40000.0).reshape(20, 20, 100),
        np.array([1 + 2j]),
    ],
)
def test_repr_matches_numpy_with_the_device_added(device, values):
    array = sw.array(values, device=device)
    expected, text = repr(values), repr(array)
    assert text.endswith(f"device='{device}')")

    # Only the text before the keywords is compared: the device may start another line, and only
    # newer versions of NumPy show the shape of a summary.
    def without_keywords(text):
        for keyword in ("device=", "dtype=", "shape="):
            text = text.split(keyword)[0]
        return text.rstrip(" ,)\n")

    assert without_keywords(text) == without_keywords(expected)
    assert str(array) == str(values)


def test_summary_text_contains_the_corners(device):
    # On a GPU only the corners are fetched; the text must be the same.
    values = np.random.default_rng(1).normal(size=(7, 40, 50))
    assert str(sw.array(values, device=device).T) == str(values.T)


def test_repr_shows_dtypes_that_numpy_lacks(device):
    text = repr(sw.full((2,), 1.5, "bfloat16", device=device))
    assert text == f"array([1.5, 1.5], dtype=bfloat16, device='{device}')"
    raw = sw.zeros(4, "uint8", device=device).view("opaque32")
    assert "opaque32 (1,)" in repr(raw)


def test_format_applies_to_one_element_only():
    assert f"{sw.array(3.14159):.2f}" == "3.14"
    assert f"{sw.arange(3)}" == "[0 1 2]"
    with pytest.raises(TypeError):
        f"{sw.arange(3):.2f}"


def test_copies_have_separate_memory_and_keep_the_order_of_axes(device):
    array = sw.array(numbers((3, 4), "float32", 2), device=device).T
    for duplicate in (copy.copy(array), copy.deepcopy(array), copy.deepcopy([array])[0]):
        assert_same(duplicate, array.numpy())
        assert duplicate.strides == array.strides
        duplicate[...] = -1
        assert (array.numpy() != -1).all()
        assert duplicate.device == device


def test_deepcopy_keeps_shared_references():
    array = sw.zeros(2)
    first, second = copy.deepcopy([array, array])
    assert first is second


class Tagged(sw.Array):
    """A subclass, as a user would write one."""

    def double_size(self):
        return 2 * self.size


def test_subclasses_are_created_from_any_array_and_share_memory():
    values = np.arange(3.0)
    tagged = Tagged(values)
    assert isinstance(tagged, sw.Array)
    assert tagged.double_size() == 6
    tagged[0] = 7
    assert values[0] == 7
    assert type(tagged[1:]) is sw.Array
    assert sw.Array([1, 2], "float32").dtype == "float32"
    tagged.note = "has a dictionary"
    reference = weakref.ref(tagged)
    del tagged
    gc.collect()
    assert reference() is None


def test_methods_reject_objects_that_are_not_arrays():
    with pytest.raises(TypeError):
        sw.Array.reshape(np.zeros(3), 3)
    with pytest.raises(TypeError):
        sw.Array.shape.__get__(np.zeros(3))


def test_sync_returns_the_array_after_its_stream_is_done(device):
    array = sw.zeros(1000, device=device)
    array[...] = 3
    assert array.sync() is array
    assert isinstance(array.stream, sw.Stream)
    assert array.stream.device == device
    assert array.stream.query()


def test_the_class_takes_a_scalar_type_in_annotations():
    assert sw.Array[np.float32].__origin__ is sw.Array
    assert sw.Array[np.float32].__args__ == (np.float32,)
