# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The intended differences from NumPy in values and errors, one test for each line of the tables of docs/arrays.md."""

import warnings

import numpy as np
import pytest
from support.arrays import assert_same

import spanwise as sw


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
        results = [(1 / a)[0], (a * a)[1], sw.sqrt(a)[2], sw.mean(a[:0])]
    assert [str(x.item()) for x in results] == ["inf", "inf", "nan", "nan"]


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
    indices = sw.asarray([0, 3], device=device)
    with pytest.raises(IndexError, match="index 3 is out of bounds"):
        a[indices] = 1
    assert not a.any()


def test_last_value_for_an_index_wins(device):
    a = sw.zeros(2, device=device)
    indices = np.arange(100_000) % 2
    a[sw.asarray(indices, device=device)] = sw.asarray(np.arange(1e5), device=device)
    assert a.tolist() == [99_998.0, 99_999.0]


def test_ufuncs_have_no_reduce(device):
    assert not hasattr(sw.add, "reduce")
    assert np.add.reduce(sw.ones((3, 2), device=device)).tolist() == [3.0, 3.0]


def test_invalid_pad_calls_raise(device):
    a = sw.ones(3, device=device)
    for kwargs in (
        {"mode": "mean", "stat_length": 0},
        {"mode": "reflect", "reflect_type": "odd"},
        {"mode": lambda *_: None},
    ):
        with pytest.raises(ValueError, match="pad"):
            sw.pad(a, 1, **kwargs)


def test_values_that_broadcast_are_assigned(device):
    a = sw.zeros(3, device=device)
    a[0] = [5]
    a[sw.asarray([False, True, True], device=device)] = [[6.0, 7.0]]
    assert a.tolist() == [5.0, 6.0, 7.0]
    with pytest.raises(TypeError):
        np.zeros(3)[sw.asarray([False, True, True], device="cpu").numpy()] = [[6.0, 7.0]]


def test_uint64_indices_are_accepted(device):
    a = sw.asarray([1, 2, 3], device=device)
    indices = sw.asarray([2, 0], "uint64", device=device)
    assert sw.take(a, indices).tolist() == [3, 1]
    sw.put(a, indices, 9)
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


def test_dot_writes_to_any_out_and_seeds_give_other_numbers_than_numpy(device):
    a = sw.ones((2, 2), device=device)
    out = sw.zeros((2, 2), device=device).T
    assert sw.dot(a, a, out).tolist() == [[2.0, 2.0], [2.0, 2.0]]
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
