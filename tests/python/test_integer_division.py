# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Integers divided by a number and by integers: every width, and the limits of each way to compute."""

import numpy as np
import pytest

import spanwise as sw

DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def numbers(dtype):
    """Small ones, and the neighbours of powers of two, of either sign."""
    info = np.iinfo(dtype)
    near = {2**k + d for k in range(info.bits) for d in (-1, 0, 1)} | {3, 5, 7, 10, 641, 1000003}
    both = near | {-n for n in near} | {info.min, info.max}
    return sorted(n for n in both if info.min <= n <= info.max)


def values(dtype, size):
    """Anything, then small ones, then the limits: blocks of one kind, and the last of many."""
    info, rng = np.iinfo(dtype), np.random.default_rng(5)
    anything = rng.integers(info.min, info.max, size, dtype=dtype, endpoint=True)
    small = rng.integers(max(info.min, -100), 100, size).astype(dtype)
    return np.concatenate([anything, small, np.array(numbers(dtype), dtype)])


def python_rule(name, a, b):
    """NumPy's, which warns of 0 and of the lowest value by -1."""
    with np.errstate(all="ignore"):
        return getattr(np, name)(a, b)


@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_by_a_number(name, dtype, device):
    a = values(dtype, 700)
    ours = sw.array(a, device=device)
    for number in [0, *numbers(dtype)]:
        found = getattr(sw, name)(ours, number).numpy()
        np.testing.assert_array_equal(
            found, python_rule(name, a, np.array(number, dtype)), str(number)
        )


@pytest.mark.parametrize("size", [0, 1, 3, 7, 8, 9, 511, 513, 8193])
def test_by_a_number_of_any_size_in_place(size, device):
    a = np.random.default_rng(6).integers(-(2**62), 2**62, size)
    ours = sw.array(a, device=device)
    ours //= -7
    np.testing.assert_array_equal(ours.numpy(), a // -7)
    ours %= 1000
    np.testing.assert_array_equal(ours.numpy(), a // -7 % 1000)


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_by_integers(name, dtype, device):
    some = np.array([0, *numbers(dtype)], dtype)
    a, b = (x.ravel() for x in np.meshgrid(some, some))
    rng = np.random.default_rng(7)
    a = np.concatenate([a, rng.integers(0, 100, 3000).astype(dtype)])
    b = np.concatenate([b, rng.integers(1, 100, 3000).astype(dtype)])
    found = getattr(sw, name)(sw.array(a, device=device), sw.array(b, device=device)).numpy()
    np.testing.assert_array_equal(found, python_rule(name, a, b))
