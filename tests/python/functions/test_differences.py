# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The intended differences from NumPy, one test for each line of the tables of docs/arrays.md."""

import warnings

import numpy as np
import pytest
from support.arrays import assert_same

import spanwise as sw

# ---- Arrays ----


def test_numpy_scalars_are_arrays_of_rank_0(device):
    a = sw.asarray([[1.0, 2.0]], device=device)
    for one in (a[0, 0], a.sum(), next(iter(a[0]))):
        assert isinstance(one, sw.Array)
        assert (one.shape, one.device) == ((), device)
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


def test_stretched_views_are_read_only(device):
    row = sw.zeros(2, device=device)
    same, stretched = sw.broadcast_arrays(sw.zeros((3, 2), device=device), row)
    assert same.flags.writeable
    with pytest.raises(sw.ReadOnlyError):
        stretched[0, 0] = 1
    assert row.flags.writeable


def test_operations_on_subclasses_give_arrays(device):
    class Mine(sw.Array):
        pass

    mine = Mine(sw.zeros(2, device=device))
    assert [type(x) for x in (mine + 1, mine[:1], mine.sum())] == [sw.Array] * 3


def test_arrays_lack_the_listed_numpy_methods(device):
    a = sw.zeros(2, device=device)
    for name in ("flat", "data", "ctypes", "resize", "byteswap", "sort"):
        assert not hasattr(a, name)
        assert hasattr(a.numpy(), name)


@pytest.mark.parametrize(
    ("values", "way_out"),
    [
        (np.asarray(["a"]), "uint8"),
        (np.asarray([None]), "float64"),
        (np.asarray(["2020-01-01"], "M8[D]"), "int64"),
        (np.zeros(2, [("x", "i4")]), "field"),
        (np.zeros(2, np.longdouble), "float64"),
    ],
)
def test_unsupported_dtype_raises_with_the_remedy(values, way_out):
    with pytest.raises(TypeError, match=way_out):
        sw.asarray(values)


def test_other_byte_orders_become_native(device):
    swapped = np.asarray([1, 2], np.dtype("int32").newbyteorder("S"))
    ours = sw.asarray(swapped, device=device)
    assert (ours.dtype, ours.tolist()) == ("int32", [1, 2])
    with pytest.raises(sw.CopyNeededError, match="byte order"):
        sw.asarray(swapped, device="cpu", copy=False)


def test_integers_are_of_64_bits_at_most(device):
    assert sw.asarray([2**63], device=device).dtype == "uint64"
    with pytest.raises(OverflowError):
        sw.asarray([2**64], device=device)


# ---- Values ----


def test_bfloat16_promotes_with_other_dtypes(device):
    narrow = sw.ones(2, "bfloat16", device=device)
    assert (narrow + sw.ones(2, "float16", device=device)).dtype == "float32"
    assert (narrow + sw.ones(2, "int8", device=device)).dtype == "bfloat16"
    assert (narrow + 1.5).dtype == "bfloat16"
    assert sw.can_cast("int8", "bfloat16")


def test_invalid_values_do_not_warn(device):
    a = sw.asarray([0.0, 1e300, -1.0], device=device)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [(1 / a)[0], (a * a)[1], sw.sqrt(a)[2], sw.mean(a[:0])]
    assert [str(x.item()) for x in found] == ["inf", "inf", "nan", "nan"]


def test_narrow_sums_are_rounded_once(device):
    values = np.full(4097, 1.0, "float16")
    values[0] = 2048.0
    ours = sw.asarray(values, device=device)
    assert float(ours.sum()) == float(np.float16(2048 + 4096))
    thirds = np.full(100_000, 1 / 3, "float32")
    exact = np.float32(thirds.astype("float64").sum())
    assert float(sw.asarray(thirds, device=device).sum()) == exact


def test_indexed_results_are_c_contiguous(device):
    values = np.ones((3, 4, 2)).transpose(2, 0, 1)
    ours = sw.asarray(values, device=device)
    assert ours[[0, 1]].flags.c_contiguous
    assert ours[:, [0, 1]].flags.c_contiguous
    assert not values[:, [0, 1]].flags.c_contiguous


def test_index_arrays_are_checked_on_their_device(device):
    a = sw.zeros(3, device=device)
    places = sw.asarray([0, 3], device=device)
    with pytest.raises(IndexError, match="index 3 is out of bounds"):
        a[places] = 1
    assert not a.any()


def test_last_value_for_an_index_wins(device):
    a = sw.zeros(2, device=device)
    places = np.arange(100_000) % 2
    a[sw.asarray(places, device=device)] = sw.asarray(np.arange(1e5), device=device)
    assert a.tolist() == [99_998.0, 99_999.0]


def test_ufuncs_have_no_methods(device):
    assert not hasattr(sw.add, "reduce")
    assert np.add.reduce(sw.ones((3, 2), device=device)).tolist() == [3.0, 3.0]


def test_invalid_pad_calls_raise(device):
    a = sw.ones(3, device=device)
    for words in (
        {"mode": "mean", "stat_length": 0},
        {"mode": "reflect", "reflect_type": "odd"},
        {"mode": lambda *_: None},
    ):
        with pytest.raises(ValueError, match="pad"):
            sw.pad(a, 1, **words)


def test_values_that_broadcast_are_assigned(device):
    a = sw.zeros(3, device=device)
    a[0] = [5]
    a[sw.asarray([False, True, True], device=device)] = [[6.0, 7.0]]
    assert a.tolist() == [5.0, 6.0, 7.0]
    with pytest.raises(TypeError):
        np.zeros(3)[sw.asarray([False, True, True], device="cpu").numpy()] = [[6.0, 7.0]]


def test_uint64_indices_are_accepted(device):
    a = sw.asarray([1, 2, 3], device=device)
    places = sw.asarray([2, 0], "uint64", device=device)
    assert sw.take(a, places).tolist() == [3, 1]
    sw.put(a, places, 9)
    assert a.tolist() == [9, 2, 9]
    with pytest.raises(TypeError):
        np.put(np.zeros(3), np.asarray([2, 0], "uint64"), 9)


def test_where_rejects_a_number_that_does_not_fit(device):
    a = sw.ones(2, "int8", device=device)
    with pytest.raises(OverflowError, match="300 does not fit in int8"):
        sw.where(a > 0, a, 300)


def test_result_for_a_wider_out_is_rounded_once(device):
    a = sw.asarray([1.0, 3.0], "float16", device=device)
    out = sw.zeros(2, "float32", device=device)
    np.testing.assert_array_equal(sw.divide(a, 3, out=out).numpy(), np.float32([1, 3]) / 3)


def test_rank_0_reductions_accept_axis_0(device):
    a = sw.asarray(2.0, device=device)
    assert [x.item() for x in (a.sum(axis=0), a.mean(axis=0), a.var(axis=0))] == [2.0, 2.0, 0.0]
    with pytest.raises(np.exceptions.AxisError):
        np.asarray(2.0).mean(axis=0)


def test_dot_writes_to_any_out_and_nuclear_norm_raises(device):
    a = sw.ones((2, 2), device=device)
    out = sw.zeros((2, 2), device=device).T
    assert sw.dot(a, a, out).tolist() == [[2.0, 2.0], [2.0, 2.0]]
    with pytest.raises(NotImplementedError, match="singular values"):
        sw.linalg.norm(a, "nuc")
    if device.kind == "cpu":
        assert float(np.linalg.norm(a, "nuc")) == pytest.approx(2)
    ours = sw.random.default_rng(1, device=device).integers(1 << 40, size=4)
    assert (
        ours.tolist() == sw.random.default_rng(1, device="cpu").integers(1 << 40, size=4).tolist()
    )
    assert ours.tolist() != np.random.default_rng(1).integers(1 << 40, size=4).tolist()


def test_negative_powers_of_integers_raise(device):
    a = sw.asarray([2, 3], device=device)
    for exponent in (-1, sw.asarray([1, -1], device=device)):
        with pytest.raises(ValueError, match="negative integer powers"):
            a**exponent


# ---- Beside other arrays ----


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


# ---- Errors ----


def test_errors_are_also_numpys_exceptions(device):
    a = sw.zeros((2, 3), device=device)
    for call, kind in (
        (lambda: a.reshape(5), ValueError),
        (lambda: a[5], IndexError),
        (lambda: a.sum(axis=4), (ValueError, IndexError)),
        (lambda: a + sw.zeros(5, device=device), ValueError),
        (lambda: sw.bitwise_and(a, 1), TypeError),
        (lambda: sw.moveaxis(a, 7, 0), IndexError),
    ):
        with pytest.raises(sw.Error) as caught:
            call()
        assert isinstance(caught.value, kind)


# ---- The standard ----


def test_values_follow_numpy_not_the_standard(device):
    cases = [(np.inf, 1.0), (-np.inf, 2.0), (-1.0, np.inf), (1.0, -np.inf)]
    x1, x2 = np.asarray(cases).T
    ours = sw.floor_divide(sw.asarray(x1, device=device), sw.asarray(x2, device=device))
    with np.errstate(invalid="ignore"):
        assert_same(ours, np.floor_divide(x1, x2))
    assert isinstance(sw.meshgrid(ours, ours), tuple)


def test_expm1_keeps_the_signs_of_complex_zeros(device):
    zeros = np.asarray([complex(-0.0, 0.0), complex(0.0, -0.0)])
    ours = sw.expm1(sw.asarray(zeros, device=device)).numpy()
    np.testing.assert_array_equal(np.signbit(ours.real), [True, False])
    np.testing.assert_array_equal(np.signbit(ours.imag), [False, True])


def test_tanh_of_a_complex_infinity_is_one_with_a_signed_zero(device):
    values = np.asarray([complex(np.inf, 1.0), complex(np.inf, 2.0)])
    ours = sw.tanh(sw.asarray(values, device=device)).numpy()
    np.testing.assert_array_equal(ours, [1, 1])
    np.testing.assert_array_equal(np.signbit(ours.imag), [False, True])
