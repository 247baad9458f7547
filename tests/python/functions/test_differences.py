# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The intended differences from NumPy in arrays and conversions, one test for each line of the tables of docs/arrays.md."""

import numpy as np
import pytest
from support.arrays import assert_same

import spanwise as sw


def test_scalar_results_are_arrays_of_rank_0(device):
    a = sw.asarray([[1.0, 2.0]], device=device)
    for element in (a[0, 0], a.sum(), next(iter(a[0]))):
        assert isinstance(element, sw.Array)
        assert (element.shape, element.device) == ((), device)
    assert not isinstance(np.ones(1)[0], np.ndarray)


def test_elements_can_be_written(device):
    element = sw.asarray([1.0, 2.0], device=device)[0]
    element[...] = 7
    assert element.item() == 7.0
    with pytest.raises(TypeError):
        np.ones(1)[0][...] = 7


def test_numpy_assert_equal_does_not_convert_spanwise_arrays(device):
    total = sw.asarray([4, 6], device=device).sum()
    with pytest.raises(AssertionError):
        np.testing.assert_equal(total, 10)
    np.testing.assert_equal(total.item(), 10)
    np.testing.assert_equal(total, np.asarray(10))
    np.testing.assert_array_equal(total, 10)
    np.testing.assert_allclose(total, 10)


def test_view_with_a_dtype_wider_than_the_strides_raises():
    rows = sw.zeros((2, 12), "uint8", device="cpu")[:, :8]
    with pytest.raises(sw.LayoutError, match="stride"):
        rows.view("float64")
    assert rows.numpy().view("float64").shape == (2, 1)


def test_shape_and_dtype_are_fixed(device):
    a = sw.zeros(4, device=device)
    for name, value in (("shape", (2, 2)), ("dtype", "int64"), ("strides", (8,))):
        with pytest.raises(AttributeError):
            setattr(a, name, value)


def test_read_only_flag_cannot_be_cleared(device):
    a = sw.zeros(4, device=device)
    a.flags.writeable = False
    with pytest.raises(ValueError, match=r"a\.copy\(\)"):
        a.flags.writeable = True


def test_diagonals_can_be_written(device):
    a = sw.zeros((2, 2), device=device)
    a.diagonal()[...] = 1
    sw.diag(a, 1)[...] = 2
    assert a.tolist() == [[1.0, 2.0], [0.0, 1.0]]
    assert not np.zeros((2, 2)).diagonal().flags.writeable


def test_broadcast_views_are_read_only(device):
    row = sw.zeros(2, device=device)
    same, broadcast = sw.broadcast_arrays(sw.zeros((3, 2), device=device), row)
    assert same.flags.writeable
    with pytest.raises(sw.ReadOnlyError):
        broadcast[0, 0] = 1
    assert row.flags.writeable


def test_operations_on_subclasses_give_arrays(device):
    class Subclass(sw.Array):
        pass

    instance = Subclass(sw.zeros(2, device=device))
    assert [type(x) for x in (instance + 1, instance[:1], instance.sum())] == [sw.Array] * 3


def test_arrays_lack_the_listed_numpy_methods(device):
    a = sw.zeros(2, device=device)
    for name in ("flat", "data", "ctypes", "resize", "byteswap"):
        assert not hasattr(a, name)
        assert hasattr(a.numpy(), name)


@pytest.mark.parametrize(
    ("values", "remedy"),
    [
        (np.asarray(["a"]), "uint8"),
        (np.asarray([None]), "float64"),
        (np.asarray(["2020-01-01"], "M8[D]"), "int64"),
        (np.zeros(2, [("x", "i4")]), "field"),
        (np.zeros(2, np.longdouble), "float64"),
    ],
)
def test_unsupported_dtype_raises_with_the_remedy(values, remedy):
    with pytest.raises(TypeError, match=remedy):
        sw.asarray(values)


def test_other_byte_orders_become_native(device):
    swapped = np.asarray([1, 2], np.dtype("int32").newbyteorder("S"))
    ours = sw.asarray(swapped, device=device)
    assert (ours.dtype, ours.tolist()) == ("int32", [1, 2])
    with pytest.raises(sw.CopyNeededError, match="byte order"):
        sw.asarray(swapped, device="cpu", copy=False)


def test_integers_of_more_than_64_bits_raise(device):
    assert sw.asarray([2**63], device=device).dtype == "uint64"
    with pytest.raises(OverflowError):
        sw.asarray([2**64], device=device)


def test_python_numbers_are_weak_and_numpy_scalars_are_not(device):
    a = sw.ones(2, "float32", device=device)
    assert (a * 2.0).dtype == "float32"
    assert (a * np.float64(2)).dtype == "float64"
    assert (a * sw.asarray(2.0, device="cpu")).dtype == "float64"


def test_numpy_operands_raise_with_gpu_arrays(device):
    ours, theirs = sw.ones(2, device=device), np.ones(2)
    calls = (lambda: ours + theirs, lambda: theirs + ours, lambda: sw.concat([ours, theirs]))
    for call in calls:
        if device.kind == "cpu":
            assert isinstance(call(), sw.Array)
        else:
            with pytest.raises(sw.DeviceError):
                call()
    assert_same(sw.add(ours, [1, 2]), np.add(theirs, [1, 2]))


def test_numbers_go_to_the_default_device():
    assert sw.asarray([1, 2]).device == sw.default_device()
    assert sw.asarray(np.ones(2)).device == sw.device("cpu")


def test_numpy_asarray_shares_cpu_memory_and_copies_gpu_memory(device):
    a = sw.zeros(2, device=device)
    host = np.asarray(a)
    host[0] = 1
    assert a.tolist() == ([1.0, 0.0] if device.kind == "cpu" else [0.0, 0.0])
