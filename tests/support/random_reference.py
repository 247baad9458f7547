# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The random words of sw.random's generator, computed by NumPy, and draws by its methods."""

import math

import numpy as np
from support.arrays import INTEGERS

from spanwise._numpy.random import bounds_of, hashed_key
from spanwise.random import default_rng

FLOATS = ("float16", "float32", "float64", "bfloat16")

SIZES = (0, 1, 2, 3, 4, 5, 127, 128, 129, 1000, 5001)


def philox(generator, count, attempt=0):
    """The next `count` blocks of Philox4x32-10, uint32 of shape (count, 4). Does not advance
    `generator`.

    `attempt` is the number of earlier blocks that were rejected for the same element.
    """
    state = generator.state
    key, stream = hashed_key(tuple(state["seed"]), tuple(state["spawn_key"]))
    counter = np.arange(count, dtype="u8") + np.uint64(state["position"])
    shift, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    c = [
        counter & mask,
        counter >> shift,
        np.full(count, attempt, "u8"),
        np.full(count, stream, "u8"),
    ]
    key0, key1 = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [
            (b >> shift) ^ c[1] ^ np.uint64(key0),
            b & mask,
            (a >> shift) ^ c[3] ^ np.uint64(key1),
            a & mask,
        ]
        key0, key1 = (key0 + 0x9E3779B9) & 0xFFFFFFFF, (key1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack(c, axis=-1).astype("u4")


def words_for(generator, size, bits):
    """The words of `bits` bits, 32 or 64, that `generator` uses for the next `size` elements."""
    blocks = philox(generator, -(-size * bits // 128))
    if bits == 32:
        return blocks.reshape(-1)[:size]
    wide = blocks.astype("u8").reshape(-1, 2)
    return ((wide[:, 0] << np.uint64(32)) | wide[:, 1])[:size]


def chi_square(counts):
    """Pearson's statistic for equal frequencies, minus its mean, divided by its standard deviation."""
    counts = np.asarray(counts)
    expected = counts.sum() / counts.size
    freedom = counts.size - 1
    return (((counts - expected) ** 2 / expected).sum() - freedom) / math.sqrt(2 * freedom)


def draws(device):
    """Draws by the methods of one generator in each dtype, as (name, array on `device`)."""
    g = default_rng(20261121, device)
    for dtype in FLOATS:
        yield f"random {dtype}", g.random((7, 333), dtype)
        yield f"normal {dtype}", g.normal(1.5, 2.25, 2345, dtype)
        yield f"exponential {dtype}", g.exponential(0.75, 2345, dtype)
    for dtype in ("bool", *INTEGERS):
        _, minimum, maximum = bounds_of(dtype)
        yield f"integers {dtype}", g.integers(minimum, maximum, 999, dtype, endpoint=True)
        yield f"smaller range {dtype}", g.integers(0, 2 + maximum // 3, 999, dtype)
    yield "uniform, array bounds", g.uniform(np.arange(50.0), np.arange(50.0) + 2, (20, 50))
    yield "integers, array bounds", g.integers(np.arange(50), np.arange(50) * 3 + 1, (20, 50))
    yield "permutation of 1000", g.permutation(1000)
    yield "permutation of 100003", g.permutation(100_003)
    yield "weighted", g.choice(100, 500, p=np.arange(100) / 4950)
    yield "without replacement", g.choice(100, 50, replace=False, p=np.arange(100) / 4950)
    yield "spawned", g.spawn(2)[1].random(100)
    yield "jumped", g.jumped(3).standard_normal(100)
