# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""arange, linspace and eye, against NumPy."""

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from support.arrays import assert_same

import spanwise as sw


@pytest.mark.parametrize(
    "arguments", [(5,), (2, 9), (2, 9, 3), (9, 2, -2), (0.0, 1.0, 0.25), (0,), (3, 1)]
)
@pytest.mark.parametrize("dtype", [None, "float32", "int16"])
def test_arange_matches_numpy(device, arguments, dtype):
    assert_same(
        sw.arange(*arguments, dtype=dtype, device=device), np.arange(*arguments, dtype=dtype)
    )


@pytest.mark.parametrize(
    "arguments",
    [
        (300_001,), (7, 300_001, 3), (-5, -400_000, -3), (3, 9, -1), (9, 3), (2**62, 2**62 + 2),
        (-(2**63), -(2**63) + 5), (2**61, -(2**61), -(2**60)), (0, 5, 2**61), (0, 5, 1.5),
        (True, 7), (np.int32(3), 9), (5, None, 2),
    ],
)  # fmt: skip
def test_arange_of_integers_matches_numpy(device, arguments):
    assert_same(sw.arange(*arguments, device=device), np.arange(*arguments))
    assert sw.arange(*arguments, device=device).device == device


def test_ranges_without_a_step_are_refused_as_numpy_does(device):
    for arguments in ((3, 5, 0), (0, 1.5, 0)):
        with pytest.raises(ZeroDivisionError):
            sw.arange(*arguments, device=device)


def test_linspace_matches_numpy(device):
    assert_same(sw.linspace(0, 1, 7, device=device), np.linspace(0, 1, 7))
    assert_same(
        sw.linspace([0, 1], 5, 4, endpoint=False, dtype="float32", axis=1, device=device),
        np.linspace([0, 1], 5, 4, endpoint=False, dtype="float32", axis=1),
    )
    result, step = sw.linspace(0, 1, 5, retstep=True)
    assert (result.shape, step) == ((5,), 0.25)


_ENDS = st.one_of(st.integers(-(2**40), 2**40), st.floats(-1e9, 1e9, allow_subnormal=False))


@given(
    start=_ENDS,
    stop=_ENDS,
    num=st.integers(0, 40),
    endpoint=st.booleans(),
    dtype=st.sampled_from([None, "float64", "float32", "int32", "float16"]),
)
def test_linspace_matches_numpy_to_the_last_bit(device, start, stop, num, endpoint, dtype):
    if dtype in ("int32", "float16"):
        start, stop = start % 1000, stop % 1000
    assert_same(
        sw.linspace(start, stop, num, endpoint, dtype=dtype, device=device),
        np.linspace(start, stop, num, endpoint, dtype=dtype),
    )


@given(
    start=_ENDS,
    step=st.one_of(st.integers(-100, 100), st.floats(-100, 100, allow_subnormal=False)),
    count=st.floats(-3, 50),
    dtype=st.sampled_from([None, "float64", "float32", "int64", "int32"]),
)
def test_arange_matches_numpy_to_the_last_bit(device, start, step, count, dtype):
    assume(abs(step) > 1e-3)
    stop = start + step * count
    if isinstance(start, int) and isinstance(step, int) and count > 1:
        stop = int(stop)
    if dtype in ("int64", "int32"):
        start, stop = start % 1000, start % 1000 + step * count
    try:
        expected = np.arange(start, stop, step, dtype=dtype)
    except ValueError:  # the step is 0 in an integer dtype
        with pytest.raises(ValueError, match="size"):
            sw.arange(start, stop, step, dtype=dtype, device=device)
        return
    assert_same(sw.arange(start, stop, step, dtype=dtype, device=device), expected)


@pytest.mark.parametrize(
    "arguments",
    [
        (2**31 - 2, 2**31), (2**31, 2**31 + 2), (-(2**31), -(2**31) + 3), (0, 2**31, 2**30), (3, 9, 2**31),
        (2**40, 2**40, 1),
    ],
)  # fmt: skip
def test_ranges_that_a_dtype_cannot_hold_are_refused_as_numpy_does(device, arguments):
    try:
        expected = np.arange(*arguments, dtype="int32")
    except OverflowError:
        with pytest.raises(OverflowError):
            sw.arange(*arguments, dtype="int32", device=device)
    else:
        assert_same(sw.arange(*arguments, dtype="int32", device=device), expected)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_long_ranges_match_numpy(device, dtype):
    assert_same(
        sw.linspace(-1, 3.7, 300_001, dtype=dtype, device=device),
        np.linspace(-1, 3.7, 300_001, dtype=dtype),
    )
    assert_same(
        sw.arange(0.1, 3e4, 0.1, dtype=dtype, device=device), np.arange(0.1, 3e4, 0.1, dtype=dtype)
    )


def test_degenerate_ranges_match_numpy_or_raise(device):
    with pytest.raises(ValueError, match="-1"):
        sw.linspace(0, 1, -1, device=device)
    for stop in (np.inf, np.nan):
        with pytest.raises(ValueError, match="size|length"):
            sw.arange(0.0, stop, device=device)
    assert_same(sw.linspace(2, 2, 3, device=device), np.linspace(2, 2, 3))
    assert_same(sw.linspace(0, 5e-324, 3, device=device), np.linspace(0, 5e-324, 3))


def test_ranges_of_bfloat16_are_rounded_once(device):
    result = sw.arange(0, 1, 0.3, dtype="bfloat16", device=device)
    assert result.dtype == "bfloat16"
    assert result.tolist() == sw.array(np.arange(0, 1, 0.3)).astype("bfloat16").tolist()


@pytest.mark.parametrize("arguments", [(3,), (3, 5), (5, 3, 1), (3, 3, -2), (2, 2, 9), (0,)])
def test_eye_matches_numpy(device, arguments):
    assert_same(sw.eye(*arguments, dtype="int32", device=device), np.eye(*arguments, dtype="int32"))


def test_variables_without_values_are_refused(device):
    x = sw.tensor.dvector("x")
    for arguments in ((x, 1), (0, x)):
        with pytest.raises(TypeError, match=r"variable x .*no value yet; write start \+ step"):
            sw.linspace(*arguments, device=device)
