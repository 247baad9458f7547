# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Division of integers by a number and by integers, and of floats: operands at the limits of each
algorithm."""

import numpy as np
import pytest

import spanwise as sw

DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def numbers(dtype):
    """Small numbers, powers of two and their neighbours, of either sign, that the dtype holds."""
    info = np.iinfo(dtype)
    magnitudes = {2**k + d for k in range(info.bits) for d in (-1, 0, 1)}
    magnitudes |= {3, 5, 7, 10, 641, 1000003}
    signed = magnitudes | {-n for n in magnitudes} | {info.min, info.max}
    return sorted(n for n in signed if info.min <= n <= info.max)


def values(dtype, size):
    """`size` integers over the whole range, `size` small ones, then numbers(dtype): loops that choose an
    algorithm for each block get blocks of one kind and mixed ones."""
    info, rng = np.iinfo(dtype), np.random.default_rng(5)
    whole_range = rng.integers(info.min, info.max, size, dtype=dtype, endpoint=True)
    small = rng.integers(max(info.min, -100), 100, size).astype(dtype)
    return np.concatenate([whole_range, small, np.array(numbers(dtype), dtype)])


def numpy_result(name, a, b):
    """NumPy's result, without its warnings for division by 0 and of the lowest value by -1."""
    with np.errstate(all="ignore"):
        return getattr(np, name)(a, b)


@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_division_by_a_number_matches_numpy(name, dtype, device):
    a = values(dtype, 700)
    ours = sw.array(a, device=device)
    for number in [0, *numbers(dtype)]:
        result = getattr(sw, name)(ours, number).numpy()
        np.testing.assert_array_equal(
            result, numpy_result(name, a, np.array(number, dtype)), str(number)
        )


@pytest.mark.parametrize("size", [0, 1, 3, 7, 8, 9, 511, 513, 8193])
def test_in_place_division_by_a_number_matches_numpy(size, device):
    a = np.random.default_rng(6).integers(-(2**62), 2**62, size)
    ours = sw.array(a, device=device)
    ours //= -7
    np.testing.assert_array_equal(ours.numpy(), a // -7)
    ours %= 1000
    np.testing.assert_array_equal(ours.numpy(), a // -7 % 1000)


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_division_by_integer_arrays_matches_numpy(name, dtype, device):
    operands = np.array([0, *numbers(dtype)], dtype)
    a, b = (x.ravel() for x in np.meshgrid(operands, operands))
    rng = np.random.default_rng(7)
    a = np.concatenate([a, rng.integers(0, 100, 3000).astype(dtype)])
    b = np.concatenate([b, rng.integers(1, 100, 3000).astype(dtype)])
    result = getattr(sw, name)(sw.array(a, device=device), sw.array(b, device=device)).numpy()
    np.testing.assert_array_equal(result, numpy_result(name, a, b))


def awkward(dtype):
    """Pairs of floats whose quotient is nearly an integer, or large, or not finite."""
    info, rng = np.finfo(dtype), np.random.default_rng(8)
    b = (rng.random(4000) * 10.0 ** rng.integers(-3, 4, 4000)).astype(dtype)
    whole = rng.integers(0, 2 ** rng.integers(1, 30, 4000)).astype(dtype)
    near = [whole * b, np.nextafter(whole * b, dtype(0)), np.nextafter(whole * b, info.max)]
    ends = [0.0, -0.0, 1.0, info.max, info.tiny, info.smallest_subnormal, np.inf, np.nan]
    ends = np.array([*ends, *(-x for x in ends), 3 * info.smallest_subnormal, 1e30], dtype)
    x, y = (e.ravel() for e in np.meshgrid(ends, ends))
    a, b = (
        np.concatenate([*near, x, rng.random(700).astype(dtype)]),
        np.concatenate([b, b, b, y, b[:700]]),
    )
    return a * np.where(rng.random(a.size) < 0.5, -1, 1).astype(dtype), b


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_division_of_floats_matches_numpy_bitwise(name, dtype, device):
    """fmod is exact, so it and the operations computed from it equal NumPy's to the last bit, signs of 0
    included."""
    with np.errstate(all="ignore"):
        a, b = awkward(dtype)
        for x, y in ((a, b), (a, -b), (a, dtype(0.3)), (a[:5], b[:5]), (b, a)):
            expected = getattr(np, name)(x, y)
            operands = (v if v.ndim == 0 else sw.array(v, device=device) for v in (x, y))
            result = getattr(sw, name)(*operands).numpy()
            np.testing.assert_array_equal(result, expected)
            is_number = ~np.isnan(expected)
            np.testing.assert_array_equal(
                np.signbit(result[is_number]), np.signbit(expected[is_number])
            )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_in_place_remainder_of_floats_matches_numpy(dtype, device):
    """NaN and large quotients make the loop compute a block again, which needs the unchanged operands."""
    a = np.linspace(-50, 50, 1500).astype(dtype)
    a[700], a[1400] = np.nan, 1e30
    ours = sw.array(a, device=device)
    ours %= sw.array(np.full(1500, 0.7, dtype), device=device)
    np.testing.assert_array_equal(ours.numpy(), a % dtype(0.7))
