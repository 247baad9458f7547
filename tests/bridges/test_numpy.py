# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy arrays are imported and exported without a copy wherever a Layout can describe their
memory."""

import gc
import sys
import weakref

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import COMPUTABLE, assert_same, assert_same_layout, numbers, windows
from support.dlpack import NUMPY_ASKS_FOR_VERSIONS

import spanwise as sw


@given(window=windows(), dtype=st.sampled_from(COMPUTABLE), seed=st.integers(0, 2**32))
def test_any_window_is_shared_both_ways(window, dtype, seed):
    values = window.of(numbers(window.base_shape, dtype, seed))
    ours = sw.asarray(values)
    assert_same(ours, values)
    assert_same_layout(ours, values)
    assert ours.flags.writeable == values.flags.writeable
    back = sw.to_numpy(ours)
    assert isinstance(back, np.ndarray)
    np.testing.assert_array_equal(back, values)
    assert back.dtype == values.dtype
    assert back.flags.writeable == values.flags.writeable
    if values.size > 0:
        assert ours.ptr == values.ctypes.data == back.ctypes.data


@given(window=windows(), dtype=st.sampled_from(COMPUTABLE), seed=st.integers(0, 2**32))
def test_numpys_own_import_of_ours_is_the_same_memory(window, dtype, seed):
    if dtype == "bfloat16":
        return  # NumPy has no DLPack code for it
    values = window.of(numbers(window.base_shape, dtype, seed))
    ours = sw.asarray(values)
    views = [np.asarray(ours)]
    if values.flags.writeable or NUMPY_ASKS_FOR_VERSIONS:
        views.append(np.from_dlpack(ours))
    for view in views:
        np.testing.assert_array_equal(view, values)
        if values.size > 0:
            assert view.ctypes.data == values.ctypes.data
            if NUMPY_ASKS_FOR_VERSIONS:  # older ones take all imported memory for read-only
                assert view.flags.writeable == values.flags.writeable


def test_writes_are_seen_on_both_sides():
    values = np.zeros((3, 4), np.float32)
    ours = sw.asarray(values[::-1, 1::2])
    ours[0, 0] = 5
    assert values[2, 1] == 5
    values[0, 3] = 7
    assert ours[2, 1].item() == 7


def test_read_only_stays_read_only():
    values = np.arange(4.0)
    values.flags.writeable = False
    ours = sw.asarray(values)
    assert not ours.flags.writeable
    with pytest.raises(sw.ReadOnlyError):
        ours[0] = 1
    assert not sw.to_numpy(ours).flags.writeable
    if NUMPY_ASKS_FOR_VERSIONS:
        assert not np.from_dlpack(ours).flags.writeable
    else:
        with pytest.raises(sw.CopyNeededError, match="read-only"):
            np.from_dlpack(ours)
    assert not np.asarray(ours).flags.writeable


def structured_field():
    records = np.zeros(5, dtype=[("tag", "u1"), ("value", "<f4")])
    records["value"] = np.arange(5)
    return records["value"]  # strides of 5 bytes


def misaligned():
    raw = np.zeros(4 * 8 + 1, np.uint8)
    view = raw[1:].view("<f8")
    view[...] = np.arange(4)
    return view


MISFITS = {
    "field of a packed struct": structured_field,
    "odd address": misaligned,
    "big-endian float": lambda: np.arange(6, dtype=">f4").reshape(2, 3)[:, ::-1],
    "big-endian integer": lambda: np.arange(-3, 3, dtype=">i8"),
    "big-endian complex": lambda: (np.arange(4) + 1j * np.arange(4, 8)).astype(">c16"),
}


@pytest.mark.parametrize("make", MISFITS.values(), ids=MISFITS.keys())
def test_misaligned_or_swapped_memory_is_copied_if_needed(make):
    values = make()
    ours = sw.asarray(values)
    assert_same(ours, values.astype(values.dtype.newbyteorder("=")))
    assert ours.flags.writeable
    ours[0] = 99
    assert values.ravel()[0] != 99


@pytest.mark.parametrize("make", MISFITS.values(), ids=MISFITS.keys())
def test_misaligned_or_swapped_memory_is_refused_without_a_copy(make):
    with pytest.raises(sw.CopyNeededError, match="copyif=True"):
        sw.asarray(make(), copy=False)


def test_byte_order_of_single_bytes_is_ignored():
    values = np.arange(3, dtype=np.dtype("u1").newbyteorder(">"))
    assert sw.asarray(values, copy=False).ptr == values.ctypes.data


def test_misaligned_strides_of_axes_with_at_most_one_element_are_ignored():
    records = np.zeros(5, dtype=[("tag", "u1"), ("value", "<f4")])
    one_row = np.lib.stride_tricks.as_strided(np.zeros(4, np.float32), (1, 3), (7, 4))
    assert sw.asarray(one_row, copy=False).shape == (1, 3)
    assert sw.asarray(records["value"][:0], copy=False).shape == (0,)


@pytest.mark.parametrize("dtype", COMPUTABLE)
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,)])
def test_empty_and_zero_dimensional_arrays_round_trip(shape, dtype):
    values = numbers(shape, dtype, 1)
    ours = sw.asarray(values)
    assert ours.shape == shape
    assert sw.to_numpy(ours).shape == shape
    assert sw.to_numpy(ours).dtype == values.dtype


@pytest.mark.parametrize(
    "name", ["float8_e4m3fn", "float8_e5m2", "float8_e4m3", "float8_e8m0fnu", "bfloat16"]
)
def test_narrow_floats_round_trip(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    values = np.arange(1, 7).astype(getattr(ml_dtypes, name)).reshape(2, 3)[:, ::2]
    ours = sw.asarray(values)
    assert ours.dtype.name == name
    back = sw.to_numpy(ours)
    assert back.dtype == values.dtype
    assert back.tobytes() == values.tobytes()


@pytest.mark.parametrize(
    ("values", "remedy"),
    [
        (np.array(["2026-01-01"], "M8[D]"), "int64"),
        (np.array([1], "m8[s]"), "int64"),
        (np.zeros(3, [("a", "f4"), ("b", "i4")]), "field"),
        (np.array([object()]), "astype"),
        (np.array(["text"]), "uint8"),
        (np.zeros(2, np.longdouble), "astype"),
    ],
    ids=lambda value: str(getattr(value, "dtype", "")),
)
def test_non_numeric_elements_are_refused_with_a_remedy(values, remedy):
    with pytest.raises(sw.DTypeError, match=remedy):
        sw.asarray(values)


def test_padded_narrow_types_are_refused():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    with pytest.raises(sw.DTypeError, match="astype|view its bytes"):
        sw.asarray(np.zeros(4, ml_dtypes.int4))


def test_a_mask_is_refused_and_an_empty_one_is_not():
    values = np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])
    with pytest.raises(sw.ArgumentError, match="filled"):
        sw.asarray(values)
    plain = np.ma.masked_array([1.0, 2.0])
    assert sw.asarray(plain).tolist() == [1.0, 2.0]


def test_subclasses_are_shared_too(tmp_path):
    mapped = np.memmap(tmp_path / "x", dtype=np.int32, mode="w+", shape=(4,))
    assert sw.asarray(mapped, copy=False).ptr == mapped.ctypes.data

    class Subclass(np.ndarray):
        pass

    values = np.arange(3).view(Subclass)
    assert sw.asarray(values, copy=False).ptr == values.ctypes.data


@pytest.mark.parametrize("dtype", COMPUTABLE)
def test_numpys_scalars_are_values(dtype):
    scalar = numbers((), dtype, 3)[()]
    ours = sw.asarray(scalar)
    assert ours.shape == ()
    assert ours.dtype == scalar.dtype
    assert ours.tolist() == scalar.tolist()
    with pytest.raises(sw.CopyNeededError):
        sw.asarray(scalar, copy=False)


def test_copy_true_shares_nothing():
    values = np.arange(6.0)
    ours = sw.asarray(values, copy=True)
    assert ours.ptr != values.ctypes.data
    assert ours.tolist() == values.tolist()


def test_the_owner_lives_exactly_as_long_as_the_array():
    foreign = np.arange(4)
    owner, array = weakref.ref(foreign), sw.asarray(foreign)
    view = array[1:]
    del foreign, array
    gc.collect()
    assert owner() is not None
    assert view.tolist() == [1, 2, 3]
    del view
    gc.collect()
    assert owner() is None


def test_exported_array_keeps_the_memory_of_a_dropped_array():
    ours = sw.asarray([1.0, 2.0, 3.0], device="cpu")
    array = weakref.ref(ours)
    foreign = sw.to_numpy(ours)
    del ours
    gc.collect()
    assert foreign.tolist() == [1.0, 2.0, 3.0]
    assert array() is None  # the memory is held, not the Python object


def test_a_wrong_dtype_is_cast_and_counts_as_a_copy():
    values = np.arange(3)
    assert sw.asarray(values, dtype="float32").tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(sw.CopyNeededError, match="float32"):
        sw.asarray(values, dtype="float32", copy=False)


def test_read_only_target_raises():
    values = np.arange(3.0)
    values.flags.writeable = False
    with pytest.raises(sw.ReadOnlyError):
        sw.copyto(values, 1.0)


OPERANDS = {
    "contiguous": lambda: np.arange(12.0).reshape(3, 4),
    "for reading only": lambda: np.broadcast_to(np.arange(4.0), (1, 4)),
    "another order": lambda: np.arange(12.0).reshape(3, 4).T,
    "strided": lambda: np.arange(24.0)[::2],
    "of the other byte order": lambda: np.arange(5, dtype=">f8"),
    "not aligned": lambda: np.zeros(41, np.uint8)[1:].view("f8"),
    "of no axes": lambda: np.array(3.5),
    "of no elements": lambda: np.zeros((3, 0, 2)),
    "of a subclass": lambda: np.arange(6.0).view(type("Subclass", (np.ndarray,), {})),
}


@pytest.mark.parametrize("kind", OPERANDS)
def test_operands_of_one_call_are_not_held(kind):
    """A call may read the memory of its operands, but keeps no reference after it returns."""
    values = OPERANDS[kind]()
    before = sys.getrefcount(values)
    copied = sw.array(values, device="cpu")
    summed = sw.add(values, sw.ones((), device="cpu"))
    assert sys.getrefcount(values) == before
    assert copied.numpy().dtype == values.dtype.newbyteorder("=")
    np.testing.assert_array_equal(copied.numpy(), values)
    np.testing.assert_array_equal(summed.numpy(), np.asarray(values) + 1)
    assert copied.flags.writeable
    if values.flags.writeable and values.size:
        before_write = np.array(values)
        values[...] = -1
        np.testing.assert_array_equal(copied.numpy(), before_write)


def test_numpy_operand_may_overlap_the_result():
    a = sw.array(np.arange(8.0), device="cpu")
    window = a.numpy()[1:]
    expected = np.arange(7.0) + np.arange(1.0, 8.0)
    sw.add(a[:-1], window, out=a[:-1])
    np.testing.assert_array_equal(a.numpy()[:-1], expected)


@pytest.mark.parametrize("dtype", ["int64", "int32", "bool", ">i8"])
def test_numpy_index_array_is_not_held(dtype):
    a = sw.array(np.arange(10.0, 14.0), device="cpu")
    index = np.array([1, 0, 1, 1]).astype(dtype)
    before = sys.getrefcount(index)
    np.testing.assert_array_equal(a[index].numpy(), a.numpy()[index])
    assert sys.getrefcount(index) == before
    with pytest.raises(IndexError):
        a[np.array([4])]
    np.testing.assert_array_equal(a[np.zeros((2, 0), int)].numpy(), np.zeros((2, 0)))
