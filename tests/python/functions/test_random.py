# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""sw.random: the generator's words and the distributions, against formulas repeated here."""

import copy
import hashlib
import itertools
import math
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import INTEGERS, poisoned, windows

import spanwise as sw
from spanwise import _core
from spanwise._numpy.random_arguments import bounds_of
from spanwise._numpy.random_state import hashed_key
from spanwise.random import Generator, default_rng

FLOATS = ("float16", "float32", "float64", "bfloat16")
SIZES = (0, 1, 2, 3, 4, 5, 127, 128, 129, 1000, 5001)


# ---- The reference: Philox and the transforms, in NumPy ----


def philox(generator, count, attempt=0):
    """The words of the next `count` blocks, as (count, 4), without drawing them."""
    state = generator.state
    key, stream = hashed_key(tuple(state["seed"]), tuple(state["spawn_key"]))
    place = np.arange(count, dtype="u8") + np.uint64(state["position"])
    low, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    c = [place & mask, place >> low, np.full(count, attempt, "u8"), np.full(count, stream, "u8")]
    key0, key1 = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [
            (b >> low) ^ c[1] ^ np.uint64(key0),
            b & mask,
            (a >> low) ^ c[3] ^ np.uint64(key1),
            a & mask,
        ]
        key0, key1 = (key0 + 0x9E3779B9) & 0xFFFFFFFF, (key1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack(c, axis=-1).astype("u4")


def words_for(generator, size, bits):
    """One word of 32 or 64 bits for each element."""
    blocks = philox(generator, -(-size * bits // 128))
    if bits == 32:
        return blocks.reshape(-1)[:size]
    wide = blocks.astype("u8").reshape(-1, 2)
    return ((wide[:, 0] << np.uint64(32)) | wide[:, 1])[:size]


def minus_log(words, bits):
    """-ln((r + 1/2) / 2^bits) in extended precision, exact also next to 1."""
    x = words.astype("longdouble")
    u = np.ldexp(x + 0.5, -bits)
    rest = np.ldexp((~words).astype("longdouble") + 0.5, -bits)
    return np.where(u > 0.5, -np.log1p(-rest), -np.log(u))


def box_muller(radius_words, angle_words, bits):
    radius = np.sqrt(2 * minus_log(radius_words, bits))
    quarter = np.uint64(1 << (bits - 2))
    a = angle_words.astype("u8")
    turns = ((a >> np.uint64(bits - 32)) + np.uint64(1 << 29)) >> np.uint64(30)
    rest = (a - turns * quarter).view("i8").astype("longdouble") + 0.5
    f = np.ldexp(rest, -(bits - 2)) * (np.longdouble(np.arctan(np.longdouble(1))) * 2)
    turns = turns % np.uint64(4)
    c, s = np.cos(f), np.sin(f)
    first = np.choose(turns.astype(int), [c, -s, -c, s])
    second = np.choose(turns.astype(int), [s, c, -s, -c])
    return np.stack([radius * first, radius * second], axis=-1)


def ulps(ours, exact):
    exact = np.asarray(exact)
    unit = np.spacing(np.abs(exact).astype(ours.dtype)).astype("longdouble")
    return np.max(np.abs(ours.astype("longdouble") - exact) / unit)


# ---- Words ----


def test_words_are_random123s_known_answer(device):
    """Random123's known answer for the counter and key 0; C++ tests have the others."""
    words = sw.empty((4,), "uint32", device=device)
    _core._random_draw(_core._random_counter(0, 0, 0), "words", words, 0.0, 1.0)
    assert words.tolist() == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


@pytest.mark.parametrize("position", [0, 1, 2**32 - 3, 2**64 - 2])
def test_words_are_those_of_the_reference(device, position):
    g = default_rng([7, 2**70], device).advance(position)
    expected = philox(g, 9).reshape(-1)
    words = sw.empty((36,), "uint32", device=device)
    _core._random_draw(g._counter, "words", words, 0.0, 1.0)
    np.testing.assert_array_equal(words.numpy(), expected)
    assert g.state["position"] == (position + 9) % 2**64


def test_bytes_are_those_of_the_words():
    g, twin = default_rng(3), default_rng(3)
    words = words_for(g, 5, 32)
    assert g.bytes(18) == words.astype("<u4").tobytes()[:18]
    assert twin.bytes(0) == b""
    assert twin.bytes(17) == words.astype("<u4").tobytes()[:17]


# ---- Floating numbers ----


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
def test_exponential_is_exact_to_some_ulps(device, dtype, bits, bound):
    g = default_rng(2, device)
    exact = minus_log(words_for(g, 200_000, bits), bits)
    assert ulps(g.standard_exponential(200_000, dtype).numpy(), exact) < bound


@pytest.mark.parametrize(("dtype", "bits", "bound"), [("float32", 32, 5.0), ("float64", 64, 5.0)])
def test_normal_is_exact_to_some_ulps(device, dtype, bits, bound):
    g = default_rng(3, device)
    words = words_for(g, 400_000, bits).reshape(-1, 2)
    exact = box_muller(words[:, 0], words[:, 1], bits).reshape(-1)
    assert ulps(g.standard_normal(400_000, dtype).numpy(), exact) < bound


def distance(values, distribution):
    """Kolmogorov and Smirnov's, times the root of the count."""
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
    assert distance(values, distribution) < 1.95  # one in a thousand is above
    pairs = values.reshape(-1, 2).astype("float64")
    assert abs(np.corrcoef(pairs[:, 0], pairs[:, 1])[0, 1]) < 4 / math.sqrt(100_000)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_numbers_have_the_expected_moments_and_tails(device, dtype):
    n = 4_000_000
    values = default_rng(12, device).standard_normal(n, dtype).numpy().astype("float64")
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
    one = getattr(a, method)(first, second, (3, 50), dtype=dtype)
    other = getattr(b, method)(whole, np.float64(second), dtype=dtype)
    assert one.dtype == other.dtype == dtype
    np.testing.assert_array_equal(one.numpy(), other.numpy())
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


# ---- Integers ----


def lemire(generator, size, low, span, bits):
    """Integers by the definition, in Python's own."""
    each = 128 // bits
    attempts, found = {}, []
    for i in range(size):
        attempt = 0
        while True:
            if attempt not in attempts:
                blocks = philox(generator, -(-size // each), attempt)
                attempts[attempt] = blocks.reshape(-1, bits // 32)
            parts = attempts[attempt][i]
            word = int(parts[0]) if bits == 32 else int(parts[0]) << 32 | int(parts[1])
            if word * span % 2**bits >= 2**bits % span:
                break
            attempt += 1
        found.append(low + (word * span >> bits))
    return found


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS])
def test_integers_are_those_of_the_definition(device, dtype):
    _, least, most = bounds_of(dtype)
    for first, last in ((least, most), (least, least + most // 2), (most // 3, most // 3)):
        g = default_rng([1, 2], device)
        span = last - first + 1
        expected = lemire(g, 50, first, span, 32 if span <= 2**32 else 64)
        drawn = g.integers(first, last, 50, dtype, endpoint=True)
        assert drawn.dtype == dtype and drawn.tolist() == expected


@pytest.mark.parametrize("span", [3 * 2**30, 2**31 + 1, 3 * 2**62, 2**63 + 1, 2**32, 2**32 + 1])
def test_refused_words_are_drawn_again(device, span):
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


def chi_square(counts):
    counts = np.asarray(counts)
    expected = counts.sum() / counts.size
    freedom = counts.size - 1
    return (((counts - expected) ** 2 / expected).sum() - freedom) / math.sqrt(2 * freedom)


@pytest.mark.parametrize("dtype", ["int8", "int64"])
def test_integers_are_even(device, dtype):
    values = default_rng(21, device).integers(-50, 50, 1_000_000, dtype).numpy()
    assert abs(chi_square(np.bincount(values.astype(int) + 50, minlength=100))) < 4


def test_integers_accept_one_bound_and_no_size(device):
    g = default_rng(0, device)
    assert set(g.integers(3, size=200).tolist()) == {0, 1, 2}
    assert g.integers(5).shape == () and g.integers(5).dtype == "int64"
    assert g.integers(3, 3, size=0).shape == (0,)
    assert g.integers(7, 7, 3, endpoint=True).tolist() == [7, 7, 7]


# ---- Orders and samples ----


@pytest.mark.parametrize("size", [0, 1, 2, 5, 4096, 4097, 5000, 8192, 70_001])
def test_permutations_are_permutations(device, size):
    g = default_rng(31, device)
    places = g.permutation(size)
    assert places.dtype == "int64" and places.device == device
    np.testing.assert_array_equal(np.sort(places.numpy()), np.arange(size))
    if size > 2:
        assert not np.array_equal(g.permutation(size).numpy(), places.numpy())
        prefix = default_rng(31, device).choice(size, size // 2, replace=False)
        np.testing.assert_array_equal(prefix.numpy(), places.numpy()[: size // 2])


def test_small_permutations_are_even(device):
    g = default_rng(32, device)
    orders = dict.fromkeys(itertools.permutations(range(4)), 0)
    for _ in range(4800):
        orders[tuple(g.permutation(4).tolist())] += 1
    assert abs(chi_square(list(orders.values()))) < 4


def test_large_permutations_look_even(device):
    """Target of the first element, distance of neighbours, and number of fixed points."""
    g, size = default_rng(33, device), 5000
    draws = np.stack([g.permutation(size).numpy() for _ in range(400)])
    for column in (0, 1, size // 2, size - 1):
        assert abs(chi_square(np.bincount(draws[:, column] // 500, minlength=10))) < 4
    steps = (draws[:, 1:] - draws[:, :-1]) % size
    assert abs(chi_square(np.bincount(steps.reshape(-1) // 500, minlength=10))) < 4
    fixed = np.count_nonzero(draws == np.arange(size))
    assert abs(fixed - 400) < 4 * math.sqrt(400)
    descents = np.count_nonzero(draws[:, 1:] < draws[:, :-1])
    assert abs(descents - 400 * (size - 1) / 2) < 4 * math.sqrt(400 * size / 12)


def test_permutation_and_shuffle_move_slices_along_an_axis(device):
    values = np.arange(60).reshape(3, 4, 5)
    for axis in (0, 1, -1):
        order = default_rng(34, device).permutation(values.shape[axis]).numpy()
        expected = np.take(values, order, axis)
        array = sw.asarray(values, device=device, copy=True)
        shuffled = default_rng(34, device).permutation(array, axis)
        np.testing.assert_array_equal(shuffled.numpy(), expected)
        np.testing.assert_array_equal(array.numpy(), values)
        window = sw.zeros((3, 4, 10), "int64", device=device)[:, ::-1, ::2]
        window[...] = array
        assert default_rng(34, device).shuffle(window, axis) is None
        np.testing.assert_array_equal(window.numpy(), expected)
    items = list("abcdefg")
    default_rng(34).shuffle(items)
    assert sorted(items) == list("abcdefg") and items != list("abcdefg")
    ours = values.copy()
    default_rng(34, device="cpu").shuffle(ours)
    np.testing.assert_array_equal(
        ours, values[default_rng(34).permutation(3, device="cpu").numpy()]
    )


def test_choice_draws_with_the_given_probabilities(device):
    g = default_rng(35, device)
    array = sw.asarray(np.arange(12.0).reshape(4, 3), device=device)
    assert g.choice(array, (2, 5), axis=1).shape == (4, 2, 5)
    assert g.choice(array).shape == (3,)
    assert g.choice(7).shape == () and g.choice(7).dtype == "int64"
    assert g.choice(7, 0).shape == (0,) and g.choice(0, 0).shape == (0,)
    assert sorted(g.choice(array, 4, replace=False).numpy()[:, 0].tolist()) == [0, 3, 6, 9]
    p = np.array([0.0, 0.1, 0.0, 0.6, 0.3, 0.0])
    places = g.choice(6, 100_000, p=p)
    assert places.device == device
    counts = np.bincount(places.numpy(), minlength=6)
    assert set(np.flatnonzero(counts)) == {1, 3, 4}
    assert np.all(np.abs(counts - 100_000 * p) < 4 * np.sqrt(100_000 * p) + 1e-9)


def test_weighted_choice_is_the_first_entry_above(device):
    g, twin = default_rng(36, device), default_rng(36, device)
    p = np.array([0.2, 0.3, 0.5])
    expected = np.searchsorted(np.cumsum(p), twin.random(50).numpy(), side="right")
    np.testing.assert_array_equal(g.choice(3, 50, p=p).numpy(), expected)


def test_weighted_choice_without_replacement(device):
    g = default_rng(37, device)
    p = [0.5, 0.25, 0.25, 0.0]
    firsts, pairs = np.zeros(4), np.zeros((4, 4))
    for _ in range(4000):
        a, b = g.choice(4, 2, replace=False, p=p).tolist()
        firsts[a] += 1
        pairs[a, b] += 1
    assert np.all(np.abs(firsts - 4000 * np.array(p)) < 4 * np.sqrt(1000))
    assert abs(pairs[1, 0] - 4000 * 0.25 * 0.5 / 0.75) < 4 * math.sqrt(700)
    assert np.all(pairs[:, 3] == 0) and np.all(np.diag(pairs) == 0)


# ---- The same numbers everywhere ----


def draws(device):
    """Of everything some, from one generator, as (name, array of NumPy)."""
    g = default_rng(20261121, device)
    for dtype in ("float16", "float32", "float64", "bfloat16"):
        yield f"random {dtype}", g.random((7, 333), dtype)
        yield f"normal {dtype}", g.normal(1.5, 2.25, 2345, dtype)
        yield f"exponential {dtype}", g.exponential(0.75, 2345, dtype)
    for dtype in ("bool", *INTEGERS):
        _, least, most = bounds_of(dtype)
        yield f"integers {dtype}", g.integers(least, most, 999, dtype, endpoint=True)
        yield f"some {dtype}", g.integers(0, 2 + most // 3, 999, dtype)
    yield "arrays", g.uniform(np.arange(50.0), np.arange(50.0) + 2, (20, 50))
    yield "bounds", g.integers(np.arange(50), np.arange(50) * 3 + 1, (20, 50))
    yield "few places", g.permutation(1000)
    yield "many places", g.permutation(100_003)
    yield "weighted", g.choice(100, 500, p=np.arange(100) / 4950)
    yield "without replacement", g.choice(100, 50, replace=False, p=np.arange(100) / 4950)
    yield "spawned", g.spawn(2)[1].random(100)
    yield "jumped", g.jumped(3).standard_normal(100)


def hashes(device):
    return {
        name: hashlib.sha256(np.ascontiguousarray(array.numpy()).tobytes()).hexdigest()[:16]
        for name, array in draws(device)
    }


# A change of any of these is one that users notice: their programs give other numbers.
GOLDEN = {
    "random float16": "36487cead3e7144c",
    "normal float16": "bbb04cf31f6fb856",
    "exponential float16": "617362a0419c121c",
    "random float32": "b404898d9a6de289",
    "normal float32": "5805115cd4ba3af2",
    "exponential float32": "7113bd2c291555ac",
    "random float64": "17e97a26c0fa0c6d",
    "normal float64": "cada0a68321f5493",
    "exponential float64": "1ac0d2aeda8fe3ad",
    "random bfloat16": "d27423b99b405b10",
    "normal bfloat16": "eb5b1c0958e74c27",
    "exponential bfloat16": "5710e305acd89d2d",
    "integers bool": "f671d08658e3c6d8",
    "some bool": "b2d4090dd37cfb38",
    "integers int8": "0dfc961d4eba2c94",
    "some int8": "9620becef2399562",
    "integers int16": "64fc7574daae471e",
    "some int16": "ba53f42ac3edb233",
    "integers int32": "fa0a44b1cc0750ac",
    "some int32": "cd4f1b7724006214",
    "integers int64": "10150370db7c64b7",
    "some int64": "b15f0a948d559456",
    "integers uint8": "5dde0c2e6a588a38",
    "some uint8": "bc626d88f63b8014",
    "integers uint16": "a155372d326a9788",
    "some uint16": "a0eb15b153012f8b",
    "integers uint32": "3222fed8c37d204d",
    "some uint32": "bdd6872811f0cb3f",
    "integers uint64": "cf6b732a503a68cc",
    "some uint64": "65c32fd06f950178",
    "arrays": "2c2c9dafb89dc415",
    "bounds": "36066dd3db386b1b",
    "few places": "afc84cb6302acff2",
    "many places": "217deb74b46f0c91",
    "weighted": "9770cab43e016256",
    "without replacement": "968eea01c13f34c2",
    "spawned": "425c12fcc68ae741",
    "jumped": "041ef06262a4c687",
}


def test_sequences_are_stable_between_versions(device):
    assert hashes(device) == GOLDEN


def test_the_gpu_makes_the_cpus_numbers():
    if "cuda:0" not in [str(d) for d in sw.devices()]:
        pytest.skip("no GPU here; GOLDEN compares what a GPU makes with these numbers")
    for (name, cpu), (_, gpu) in zip(draws("cpu"), draws("cuda:0"), strict=True):
        assert cpu.numpy().tobytes() == gpu.numpy().tobytes(), name


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("method", ["random", "standard_normal", "standard_exponential"])
def test_element_depends_only_on_its_index(device, method, dtype):
    whole = getattr(default_rng(41, device), method)(1_000_003, dtype=dtype).numpy()
    for size in SIZES[1:]:
        part = getattr(default_rng(41, device), method)(size, dtype=dtype).numpy()
        np.testing.assert_array_equal(part, whole[:size])
    with sw.config.change(cpu_threads=1):
        alone = getattr(default_rng(41, device), method)(1_000_003, dtype=dtype).numpy()
    np.testing.assert_array_equal(alone, whole)


@given(
    windows(broadcast=False),
    st.sampled_from(("random", "standard_normal")),
    st.sampled_from(FLOATS),
)
def test_out_may_have_any_strides(device, window, method, dtype):
    base = poisoned(window.base_shape, dtype, device)
    before = base.numpy().copy()
    view = window.of(base)
    out = getattr(default_rng(42, device), method)(dtype=dtype, out=view)
    assert out is view
    expected = before.copy()
    dense = getattr(default_rng(42, device), method)(view.shape, dtype).numpy()
    window.of(expected)[...] = dense
    assert base.numpy().tobytes() == expected.tobytes()


def test_out_may_be_a_numpy_array(device):
    target = np.zeros(10, "float32")
    assert default_rng(43, device).random(out=target) is target
    np.testing.assert_array_equal(
        target, default_rng(43).random(10, "float32", device="cpu").numpy()
    )
    ours = sw.zeros((3, 4), "int32", device=device)
    assert default_rng(43, device).integers(1, 9, dtype="int32", out=ours) is ours
    assert np.all(ours.numpy() > 0)
    loc = sw.asarray(np.arange(4.0), device=device)
    expected = default_rng(44, device).normal(np.arange(4.0), 1.0).numpy()
    np.testing.assert_array_equal(
        default_rng(44, device).normal(loc, 1.0, out=loc).numpy(), expected
    )


def test_draws_are_on_the_device_of_the_call_or_generator(device):
    assert default_rng(1, device).random(3).device == device
    assert default_rng(1).random(3, device=device).device == device
    with device:
        assert default_rng(1).random(3).device == device
    loc = sw.zeros((3,), "float64", device=device)
    assert default_rng(1).normal(loc, 1.0).device == device


# ---- Generators ----


def test_different_seeds_give_different_streams():
    assert default_rng(5).random(4).tolist() == default_rng([5]).random(4).tolist()
    assert default_rng(5).random(4).tolist() == default_rng(np.array([5])).random(4).tolist()
    seeds = [0, 1, 2**32, 2**64 - 1, 2**200, (), (0, 0), (1, 2), (2, 1), (258,), (2, 1, 0)]
    firsts = {tuple(default_rng(seed).integers(2**60, size=2).tolist()) for seed in seeds}
    assert len(firsts) == len(seeds)
    sequence = np.random.SeedSequence(5)
    assert default_rng(sequence).state == default_rng(np.random.SeedSequence(5)).state
    assert default_rng().random(2).tolist() != default_rng().random(2).tolist()
    g = default_rng(3)
    assert default_rng(g) is g
    assert repr(g) == "Generator(Philox4x32-10, seed=3, position=0)"
    assert isinstance(g, Generator)


@pytest.mark.parametrize("seed", [-1, [1, -2], 1.5, "five", [1.5], {}])
def test_invalid_seed_raises_as_in_numpy(seed):
    try:
        np.random.default_rng(seed)
    except Exception as error:
        expected = type(error)
    with pytest.raises(expected if expected in (ValueError, TypeError) else TypeError):
        default_rng(seed)


def test_assigned_state_repeats_the_numbers():
    g = default_rng([1, 2**80])
    g.random(13)
    g.spawn(2)
    state = g.state
    assert state["position"] == 7 and state["children"] == 2
    ahead = g.random(5).tolist()
    g.state = state
    assert g.random(5).tolist() == ahead
    for twin in (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        g.state = state
        other = twin(g)
        assert other is not g and other.random(5).tolist() == ahead
        assert other.spawn(1)[0].state == g.spawn(1)[0].state
        assert g.random(5).tolist() == ahead
    for bad in ({}, {**state, "position": 2**64}, {**state, "bit_generator": "PCG64"}, 5):
        with pytest.raises(sw.ArgumentError, match="state"):
            g.state = bad
    assert pickle.loads(pickle.dumps(default_rng(1, "cpu"))).device == sw.device("cpu")


def test_advance_and_jumped_move_the_position():
    g = default_rng(1)
    values = g.random(20).tolist()
    assert default_rng(1).advance(5).random(10).tolist() == values[10:]
    assert g.advance(-10).random(20).tolist() == values
    jumped = g.jumped(2)
    assert jumped.state["position"] == (g.state["position"] + 2**49) % 2**64
    assert default_rng(1).jumped().random(4).tolist() != values[:4]


def test_spawned_generators_differ():
    g = default_rng(1)
    family = [g, *g.spawn(3), *g.spawn(2), *g.spawn(1)[0].spawn(2)]
    assert len({tuple(x.random(2).tolist()) for x in family}) == len(family)
    again = default_rng(1)
    again.spawn(3)
    assert again.spawn(1)[0].random(3).tolist() == default_rng(1).spawn(4)[3].random(3).tolist()


def test_threads_share_a_generator():
    g, found = default_rng(51, "cpu"), []

    def work():
        for _ in range(200):
            found.append(g.integers(2**62, size=8).tolist())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = default_rng(51, "cpu").integers(2**62, size=8 * 1600).numpy().reshape(-1, 8)
    assert sorted(found) == sorted(whole.tolist())


def test_random_module_is_imported_at_first_use():
    program = (
        "import sys, spanwise; print('spanwise.random' in sys.modules, 'hashlib' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "False"]


# ---- Errors ----

WRONG = {
    "uniform backwards": lambda g: g.uniform(2, 1),
    "uniform to infinity": lambda g: g.uniform(0, np.inf),
    "uniform arrays backwards": lambda g: g.uniform([2.0], [1.0]),
    "uniform arrays to infinity": lambda g: g.uniform([0.0], [np.inf]),
    "negative scale": lambda g: g.normal(0, -1),
    "negative scales": lambda g: g.normal(0, [1, -1]),
    "negative mean": lambda g: g.exponential(-1),
    "negative means": lambda g: g.exponential([-1.0]),
    "no integers": lambda g: g.integers(5, 5),
    "no integers with endpoint": lambda g: g.integers(5, 4, endpoint=True),
    "no integers in one": lambda g: g.integers([1, 2], [3, 2]),
    "high out of bounds": lambda g: g.integers(0, 300, dtype="int8"),
    "low out of bounds": lambda g: g.integers(-1, 3, dtype="uint8"),
    "highs out of bounds": lambda g: g.integers([0], [300], dtype="int8"),
    "lows out of bounds": lambda g: g.integers([-1], [3], dtype="uint8"),
    "integers of floats": lambda g: g.integers(0, 3, dtype="float32"),
    "random integers": lambda g: g.random(3, dtype="int32"),
    "normal integers": lambda g: g.standard_normal(3, dtype="int32"),
    "size and out": lambda g: g.random(3, out=np.empty(4)),
    "dtype and out": lambda g: g.random(dtype="float64", out=np.empty(4, "float32")),
    "negative size": lambda g: g.random(-3),
    "size by parameters": lambda g: g.normal([0, 1, 2], 1, size=2),
    "too many": lambda g: g.choice(5, 7, replace=False),
    "of none": lambda g: g.choice(0, 1),
    "of an empty list": lambda g: g.choice([]),
    "of fewer than none": lambda g: g.choice(-1, 2),
    "probabilities of another size": lambda g: g.choice(3, p=[0.5, 0.5]),
    "probabilities of rank 2": lambda g: g.choice(1, p=[[1.0]]),
    "probabilities of another sum": lambda g: g.choice(2, p=[0.1, 0.2]),
    "negative probabilities": lambda g: g.choice(2, p=[2, -1]),
    "probabilities that are none": lambda g: g.choice(2, p=[np.nan, 1]),
    "too few probabilities": lambda g: g.choice(2, 2, p=[1, 0], replace=False),
    "permutation of a float": lambda g: g.permutation(2.5),
    "permutation along no axis": lambda g: g.permutation([[1, 2]], axis=2),
    "shuffle of a tuple": lambda g: g.shuffle((1, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_of_numpys_types(device, name):
    try:
        WRONG[name](np.random.default_rng(1))
    except Exception as error:
        expected = type(error)
    if expected is np.exceptions.AxisError:
        expected = sw.AxisError
    g = default_rng(1, device)
    before = g.state
    with pytest.raises(expected) as ours:
        WRONG[name](g)
    assert len(str(ours.value)) > 20
    assert g.state == before


def test_read_only_targets_raise(device):
    target = np.zeros(4)
    target.flags.writeable = False
    for call in (lambda g: g.random(out=target), lambda g: g.shuffle(target)):
        with pytest.raises(ValueError, match="read-only"):
            call(default_rng(1, device))


def test_negative_counts_raise():
    for call in (lambda g: g.bytes(-1), lambda g: g.spawn(-1)):
        with pytest.raises(sw.ArgumentError, match="got -1"):
            call(default_rng(1))
