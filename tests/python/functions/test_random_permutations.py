# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""sw.random: permutations, shuffles and samples. Statistics may differ from their expected values by 4
standard deviations."""

import itertools
import math

import numpy as np
import pytest
from support.random_reference import chi_square

import spanwise as sw
from spanwise.random import default_rng


@pytest.mark.parametrize("size", [0, 1, 2, 5, 4096, 4097, 5000, 8192, 70_001])
def test_permutations_are_permutations(device, size):
    g = default_rng(31, device)
    order = g.permutation(size)
    assert order.dtype == "int64" and order.device == device
    np.testing.assert_array_equal(np.sort(order.numpy()), np.arange(size))
    if size > 2:
        assert not np.array_equal(g.permutation(size).numpy(), order.numpy())
        prefix = default_rng(31, device).choice(size, size // 2, replace=False)
        np.testing.assert_array_equal(prefix.numpy(), order.numpy()[: size // 2])


def test_small_permutations_are_uniform(device):
    g = default_rng(32, device)
    orders = dict.fromkeys(itertools.permutations(range(4)), 0)
    for _ in range(4800):
        orders[tuple(g.permutation(4).tolist())] += 1
    assert abs(chi_square(list(orders.values()))) < 4


def test_large_permutations_are_uniform(device):
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
    drawn = g.choice(6, 100_000, p=p)
    assert drawn.device == device
    counts = np.bincount(drawn.numpy(), minlength=6)
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
