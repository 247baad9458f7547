# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""sw.random: floating numbers of each distribution, against formulas repeated in support.random_reference."""

import math

import numpy as np
import pytest
from support.random_reference import FLOATS, SIZES, philox, words_for

import spanwise as sw
from spanwise.random import default_rng


def minus_log(words, bits):
    """-ln((r + 1/2) / 2^bits) in extended precision, exact also next to 1."""
    x = words.astype("longdouble")
    u = np.ldexp(x + 0.5, -bits)
    complement = np.ldexp((~words).astype("longdouble") + 0.5, -bits)
    return np.where(u > 0.5, -np.log1p(-complement), -np.log(u))


def box_muller(radius_words, angle_words, bits):
    """Pairs of normal numbers, in extended precision. The angle is reduced to quarter turns and a
    remainder of at most an eighth of a turn."""
    radius = np.sqrt(2 * minus_log(radius_words, bits))
    quarter = np.uint64(1 << (bits - 2))
    a = angle_words.astype("u8")
    turns = ((a >> np.uint64(bits - 32)) + np.uint64(1 << 29)) >> np.uint64(30)
    remainder = (a - turns * quarter).view("i8").astype("longdouble") + 0.5
    f = np.ldexp(remainder, -(bits - 2)) * (np.longdouble(np.arctan(np.longdouble(1))) * 2)
    turns = turns % np.uint64(4)
    c, s = np.cos(f), np.sin(f)
    first = np.choose(turns.astype(int), [c, -s, -c, s])
    second = np.choose(turns.astype(int), [s, c, -s, -c])
    return np.stack([radius * first, radius * second], axis=-1)


def ulps(ours, exact):
    """The largest error in units in the last place of the dtype of `ours`."""
    exact = np.asarray(exact)
    unit = np.spacing(np.abs(exact).astype(ours.dtype)).astype("longdouble")
    return np.max(np.abs(ours.astype("longdouble") - exact) / unit)


@pytest.mark.parametrize("size", SIZES)
def test_random_is_the_words_upper_bits(device, size):
    g = default_rng(1, device)
    for dtype, bits in (("float32", 24), ("float16", 11), ("bfloat16", 8)):
        expected = (words_for(g, size, 32) >> np.uint32(32 - bits)) * 0.5**bits
        drawn = g.random(size, dtype)
        assert drawn.dtype == dtype
        np.testing.assert_array_equal(drawn.numpy().astype("float64"), expected)
    wide = philox(g, -(-size // 2)).reshape(-1, 2)[:size].astype("u8")
    expected = ((wide[:, 0] >> 5) * 2**26 + (wide[:, 1] >> 6)) * 0.5**53
    np.testing.assert_array_equal(g.random(size).numpy(), expected)


@pytest.mark.parametrize(("dtype", "bits", "bound"), [("float32", 32, 3.0), ("float64", 64, 3.0)])
def test_exponential_is_within_3_ulps(device, dtype, bits, bound):
    g = default_rng(2, device)
    exact = minus_log(words_for(g, 200_000, bits), bits)
    assert ulps(g.standard_exponential(200_000, dtype).numpy(), exact) < bound


@pytest.mark.parametrize(("dtype", "bits", "bound"), [("float32", 32, 5.0), ("float64", 64, 5.0)])
def test_normal_is_within_5_ulps(device, dtype, bits, bound):
    g = default_rng(3, device)
    words = words_for(g, 400_000, bits).reshape(-1, 2)
    exact = box_muller(words[:, 0], words[:, 1], bits).reshape(-1)
    assert ulps(g.standard_normal(400_000, dtype).numpy(), exact) < bound


def distance(values, distribution):
    """The Kolmogorov-Smirnov statistic, times the square root of the number of values."""
    values = np.sort(np.asarray(values, "float64"))
    n = values.size
    expected = distribution(values)
    steps = np.arange(n + 1) / n
    return math.sqrt(n) * max(np.max(steps[1:] - expected), np.max(expected - steps[:-1]))


erf = np.vectorize(math.erf)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("method", "distribution"),
    [
        ("random", lambda x: x),
        ("standard_normal", lambda x: 0.5 * (1 + erf(x / math.sqrt(2)))),
        ("standard_exponential", lambda x: -np.expm1(-x)),
    ],
)
def test_values_follow_the_distribution(device, method, distribution, dtype):
    values = getattr(default_rng(11, device), method)(200_000, dtype=dtype).numpy()
    assert distance(values, distribution) < 1.95  # exceeded with probability 0.001
    pairs = values.reshape(-1, 2).astype("float64")
    assert abs(np.corrcoef(pairs[:, 0], pairs[:, 1])[0, 1]) < 4 / math.sqrt(100_000)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_numbers_have_the_expected_moments_and_tails(device, dtype):
    n = 4_000_000
    values = default_rng(12, device).standard_normal(n, dtype).numpy().astype("float64")
    # `spread` is the variance of the power; bounds are 4 standard deviations.
    for power, moment, spread in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs(np.mean(values**power) - moment) < 4 * math.sqrt(spread / n)
    for bound in (1, 2, 3, 4, 4.5):
        expected = n * math.erfc(bound / math.sqrt(2)) / 2
        for side in (values > bound, values < -bound):
            assert abs(np.count_nonzero(side) - expected) < 4 * math.sqrt(expected) + 1


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("method", ["uniform", "normal"])
def test_numbers_and_arrays_as_parameters_agree(device, method, dtype):
    a, b = default_rng(5, device), default_rng(5, device)
    first, second = (-1.7, 4.3)
    whole = sw.full((3, 50), first, "float64", device=device)
    by_numbers = getattr(a, method)(first, second, (3, 50), dtype=dtype)
    by_arrays = getattr(b, method)(whole, np.float64(second), dtype=dtype)
    assert by_numbers.dtype == by_arrays.dtype == dtype
    np.testing.assert_array_equal(by_numbers.numpy(), by_arrays.numpy())
    assert a.state == b.state


def test_parameters_are_broadcast_to_the_size(device):
    g, twin = default_rng(6, device), default_rng(6, device)
    loc, scale = np.array([[0.0], [10.0]]), np.array([1.0, 2.0, 0.0])
    drawn = g.normal(sw.asarray(loc, device=device), scale)
    expected = twin.standard_normal((2, 3)).numpy() * scale + loc
    np.testing.assert_array_equal(drawn.numpy(), expected)
    assert g.normal(loc, scale, (4, 2, 3)).shape == (4, 2, 3)
    assert g.exponential([1.0, 2.0]).shape == (2,)
    assert np.all(g.uniform([0, 5], [1, 6], (1000, 2)).numpy() // 5 == [0, 1])
    with pytest.raises(ValueError, match="does not fit|mismatch"):
        g.normal(loc, scale, (2, 2))


def test_uniform_is_in_range(device):
    values = default_rng(8, device).uniform(-3, 5, 100_000).numpy()
    assert values.min() >= -3 and values.max() < 5
    assert abs(values.mean() - 1) < 0.05
