# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""reshape, ravel and flatten: elements, strides and memory as in NumPy."""

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from support.arrays import assert_same, pair, windows

import spanwise as sw

SEEDS = st.integers(0, 2**32)


def factors(size):
    """Shapes with `size` elements."""
    if size == 0:
        return st.sampled_from([(0,), (3, 0), (0, 2, 5), (1, 0, 1)])

    def extend(shape):
        remaining = size // int(np.prod(shape, dtype=np.int64))
        divisors = [d for d in range(1, remaining + 1) if remaining % d == 0]
        return st.sampled_from(divisors).map(lambda d: (*shape, d))

    def finish(shape):
        return (*shape, size // int(np.prod(shape, dtype=np.int64)))

    start = st.just(())
    return st.one_of(start, start.flatmap(extend), start.flatmap(extend).flatmap(extend)).map(
        finish
    )


@given(data=st.data(), window=windows(), seed=SEEDS, order=st.sampled_from("CFA"))
def test_reshape_matches_numpy_in_values_and_sharing(device, data, window, seed, order):
    ours, oracle = pair(window, "int32", device, seed)
    shape = data.draw(factors(oracle.size))
    expected = oracle.reshape(shape, order=order)
    result = ours.reshape(shape, order=order)
    assert_same(result, expected)
    is_view = result.base is not None
    if oracle.size > 0:
        assert is_view == np.shares_memory(oracle, expected)
    if is_view:
        assert_same(ours.reshape(shape, order=order, copy=False), expected)
    else:
        with pytest.raises(sw.CopyNeededError) as caught:
            ours.reshape(shape, order=order, copy=False)
        assert isinstance(caught.value, ValueError)


@given(data=st.data(), window=windows(), seed=SEEDS)
def test_reshape_infers_one_extent(device, data, window, seed):
    ours, oracle = pair(window, "int8", device, seed)
    assume(oracle.size > 0)
    shape = list(data.draw(factors(oracle.size)))
    shape[data.draw(st.integers(0, len(shape) - 1))] = -1
    assert_same(ours.reshape(*shape), oracle.reshape(*shape))
    assert_same(sw.reshape(ours, shape), oracle.reshape(*shape))


def test_reshape_with_copy_shares_nothing(device):
    array = sw.zeros(6, device=device)
    copied = array.reshape(2, 3, copy=True)
    copied[...] = 1
    assert copied.base is None
    assert not array.numpy().any()


@pytest.mark.parametrize("shape", [(4,), (-1, 4), (-1, -1), (2, -3), (0, -1)])
def test_reshape_to_another_size_is_a_layout_error(device, shape):
    with pytest.raises(sw.LayoutError):
        sw.zeros((2, 3), device=device).reshape(shape)


@given(window=windows(), seed=SEEDS, order=st.sampled_from("CFAK"))
def test_ravel_and_flatten_match_numpy_in_every_order(device, window, seed, order):
    ours, oracle = pair(window, "int16", device, seed)
    assert_same(ours.ravel(order), oracle.ravel(order))
    flat = ours.flatten(order)
    assert_same(flat, oracle.flatten(order))
    assert flat.base is None
