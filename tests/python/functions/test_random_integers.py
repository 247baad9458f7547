# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""sw.random.Generator.integers: exact values, bounds and uniformity."""

import numpy as np
import pytest
from support.arrays import INTEGERS
from support.random_reference import chi_square, philox

import spanwise as sw
from spanwise._numpy.random import bounds_of
from spanwise.random import default_rng


def lemire(generator, size, low, span, bits):
    """The documented algorithm in Python: Lemire's multiplication, which rejects biased words."""
    per_block = 128 // bits
    attempts, integers = {}, []
    for i in range(size):
        attempt = 0
        while True:
            if attempt not in attempts:
                blocks = philox(generator, -(-size // per_block), attempt)
                attempts[attempt] = blocks.reshape(-1, bits // 32)
            parts = attempts[attempt][i]
            word = int(parts[0]) if bits == 32 else int(parts[0]) << 32 | int(parts[1])
            if word * span % 2**bits >= 2**bits % span:
                break
            attempt += 1
        integers.append(low + (word * span >> bits))
    return integers


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS])
def test_integers_match_reference_algorithm(device, dtype):
    _, minimum, maximum = bounds_of(dtype)
    for first, last in (
        (minimum, maximum),
        (minimum, minimum + maximum // 2),
        (maximum // 3, maximum // 3),
    ):
        g = default_rng([1, 2], device)
        span = last - first + 1
        expected = lemire(g, 50, first, span, 32 if span <= 2**32 else 64)
        drawn = g.integers(first, last, 50, dtype, endpoint=True)
        assert drawn.dtype == dtype and drawn.tolist() == expected


@pytest.mark.parametrize("span", [3 * 2**30, 2**31 + 1, 3 * 2**62, 2**63 + 1, 2**32, 2**32 + 1])
def test_rejected_words_are_drawn_again(device, span):
    g = default_rng(4, device)
    expected = lemire(g, 200, 0, span, 32 if span <= 2**32 else 64)
    assert g.integers(0, span - 1, 200, "uint64", endpoint=True).tolist() == expected


def test_integers_accept_arrays_of_bounds(device):
    g = default_rng(9, device)
    low = np.array([0, -5, -(2**63), 7, 2**62])
    high = np.array([2**63 - 1, -4, 2**63 - 1, 8, 2**62 + 3])
    blocks = philox(g, 3)
    drawn = g.integers(sw.asarray(low, device=device), high, endpoint=True)
    for i, (a, b, value) in enumerate(
        zip(low.tolist(), high.tolist(), drawn.tolist(), strict=True)
    ):
        assert a <= value <= b
        word = int(blocks[i // 2, i % 2 * 2]) << 32 | int(blocks[i // 2, i % 2 * 2 + 1])
        span = b - a + 1
        if word * span % 2**64 >= 2**64 % span:
            assert value == a + (word * span >> 64)
    small = g.integers([1, 2, 3], [[4], [5]], (3, 2, 3), dtype="int8")
    assert small.dtype == "int8" and small.shape == (3, 2, 3)
    assert np.all((small.numpy() >= [1, 2, 3]) & (small.numpy() < [[4], [5]]))
    assert g.integers([2**63, 5], [2**64 - 1, 6], dtype="uint64").numpy()[0] >= 2**63


@pytest.mark.parametrize("dtype", ["int8", "int64"])
def test_integers_are_uniform(device, dtype):
    values = default_rng(21, device).integers(-50, 50, 1_000_000, dtype).numpy()
    assert abs(chi_square(np.bincount(values.astype(int) + 50, minlength=100))) < 4


def test_integers_accept_one_bound_and_no_size(device):
    g = default_rng(0, device)
    assert set(g.integers(3, size=200).tolist()) == {0, 1, 2}
    assert g.integers(5).shape == () and g.integers(5).dtype == "int64"
    assert g.integers(3, 3, size=0).shape == (0,)
    assert g.integers(7, 7, 3, endpoint=True).tolist() == [7, 7, 7]
