# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Powers of integers, which wrap around: every dtype, by arrays and by numbers, in pieces of any
length."""

import numpy as np
import pytest

import spanwise as sw

DTYPES = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
LENGTHS = (1, 7, 64, 1003)


def bases(dtype, size):
    info = np.iinfo(dtype)
    random = np.random.default_rng(size)
    values = random.integers(info.min, info.max, size, dtype, endpoint=True)
    values[::2] = random.integers(-5 if info.min else 0, 6, values[::2].size).astype(dtype)
    return values


def wrapped(x, y):
    """Powers computed with Python's unbounded integers and reduced to the dtype."""
    bits = 8 * x.dtype.itemsize
    powers = [
        pow(int(a), int(b), 1 << bits) for a, b in zip(*np.broadcast_arrays(x, y), strict=True)
    ]
    return np.asarray(powers, f"uint{bits}").view(x.dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_exponent_arrays_wrap_around(dtype, device):
    for size in LENGTHS:
        for largest in (1, 9, np.iinfo(dtype).max):
            x = bases(dtype, size)
            y = np.random.default_rng(size).integers(0, largest, size, dtype, endpoint=True)
            a, b = sw.array(x, device=device), sw.array(y, device=device)
            np.testing.assert_array_equal((a**b).numpy(), wrapped(x, y))
            np.testing.assert_array_equal((a[::-1] ** b).numpy(), wrapped(x[::-1], y))
            np.testing.assert_array_equal((3**b).numpy(), wrapped(np.full_like(x, 3), y))
            sw.power(a, b, out=b)
            np.testing.assert_array_equal(b.numpy(), wrapped(x, y))


@pytest.mark.parametrize("dtype", DTYPES)
def test_exponent_numbers_wrap_around(dtype, device):
    for size in LENGTHS:
        x = bases(dtype, size)
        a = sw.array(x, device=device)
        for exponent in (0, 1, 2, 3, 4, 5, 6, 7, 10, 31, 64, 127):
            expected = wrapped(x, np.asarray(exponent))
            np.testing.assert_array_equal((a**exponent).numpy(), expected)
            scalar = sw.asarray(exponent, dtype=dtype, device=device)
            np.testing.assert_array_equal(sw.power(a, scalar).numpy(), expected)
        a **= 3
        np.testing.assert_array_equal(a.numpy(), wrapped(x, np.asarray(3)))


@pytest.mark.parametrize("dtype", [name for name in DTYPES if name[0] == "i"])
def test_negative_exponent_leaves_out_unchanged(dtype):
    x = bases(dtype, 100)
    exponents = np.ones(100, dtype)
    exponents[[70, 99]] = -1, -2
    for by in (sw.asarray(exponents, device="cpu"), -2):
        a = sw.array(x, device="cpu")
        with pytest.raises(ValueError, match="negative integer powers are not allowed.*-2"):
            a **= by
        np.testing.assert_array_equal(a.numpy(), x)


def test_exponents_that_are_masked_out_may_be_anything(device):
    x, y = bases("int64", 50), np.full(50, -1)
    y[::3] = 3
    where = sw.asarray(y > 0, device=device)
    out = sw.zeros(50, "int64", device=device)
    sw.power(sw.asarray(x, device=device), sw.asarray(y, device=device), out=out, where=where)
    np.testing.assert_array_equal(out.numpy(), np.where(y > 0, wrapped(x, np.abs(y)), 0))
