# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Basic indexing gives the same views as NumPy."""

import operator

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from support.arrays import assert_same, assert_same_layout, numbers, pair, windows

import spanwise as sw


@given(data=st.data(), window=windows(), seed=st.integers(0, 2**32))
def test_basic_indexing_matches_numpy(device, data, window, seed):
    ours, oracle = pair(window, "int16", device, seed)
    key = data.draw(hnp.basic_indices(oracle.shape, allow_newaxis=True, max_dims=6))
    view, expected = ours[key], np.asarray(oracle[key])
    assert_same(view, expected)
    assert_same_layout(view, expected)


@given(window=windows(min_rank=1), seed=st.integers(0, 2**32))
def test_iteration_goes_over_the_first_axis(device, window, seed):
    ours, oracle = pair(window, "float32", device, seed)
    rows = list(ours)
    assert len(rows) == len(ours) == len(oracle)
    for row, expected in zip(rows, oracle, strict=True):
        assert_same(row, np.asarray(expected))


def test_view_shares_memory_and_has_base(device):
    base = sw.array(numbers((4, 6), "float32", 1), device=device)
    view = base[1:3, ::-2]
    assert view.base is base
    assert view[0].base is base
    assert view.ptr == base.ptr + 1 * 24 + 5 * 4
    view[...] = -1
    assert (base.numpy()[1:3, ::-2] == -1).all()
    assert (base.numpy() == -1).sum() == 6


class Index:
    def __index__(self):
        return 2


@pytest.mark.parametrize("key", [2, -2, np.int8(2), np.uint64(2), np.array(2), Index()])
def test_every_kind_of_integer_is_an_index(device, key):
    values = numbers((4, 3), "int32", 2)
    assert_same(sw.array(values, device=device)[key], values[operator.index(key)])


def test_an_integer_array_of_rank_0_is_an_index(device):
    values = numbers((4, 3), "int32", 3)
    assert_same(sw.array(values, device=device)[sw.array(3, device=device)], values[3])


@pytest.mark.parametrize(
    "key",
    [
        slice(10**30, None, -1),
        slice(-(10**30), 10**30),
        slice(None, None, -(10**30)),
        slice(None, None, 10**30),
        slice(2**63 - 1, None, -(2**63)),
        slice(5, 2),
        slice(-100, -1, 3),
    ],
)
def test_slices_with_bounds_far_outside_match_numpy(key):
    values = numbers((7,), "int32", 4)
    assert_same(sw.array(values, device="cpu")[key], values[key])


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (4, "4"),
        (-5, "-5"),
        (10**30, "axis 0"),
        ((0, 3), "3"),
        ((0, 0, 0), "too many indices for array: array is 2-dimensional, but 3 were indexed"),
        ((Ellipsis, Ellipsis), "single ellipsis"),
        (1.0, "got a float"),
        ("name", "got a str"),
    ],
)
def test_invalid_indices_raise_index_error(device, key, message):
    array = sw.zeros((4, 3), device=device)
    with pytest.raises(sw.BoundsError, match=message) as caught:
        array[key]
    assert isinstance(caught.value, IndexError)
    with pytest.raises(sw.BoundsError, match=message):
        array[key] = 0


def test_a_step_of_zero_is_an_argument_error():
    with pytest.raises(ValueError, match=r"zero|0"):
        sw.zeros(4)[::0]


def test_an_index_that_raises_is_not_hidden():
    class Broken:
        def __index__(self):
            raise RuntimeError("from __index__")

    with pytest.raises(RuntimeError, match="from __index__"):
        sw.zeros(4)[Broken()]
    with pytest.raises(RuntimeError, match="from __index__"):
        sw.zeros(4)[Broken() :]


def test_rank_0_has_no_length_and_no_items():
    scalar = sw.array(3.0)
    with pytest.raises(TypeError, match=r"len\(\)"):
        len(scalar)
    with pytest.raises(TypeError, match="rank 0"):
        iter(scalar)
    with pytest.raises(sw.BoundsError):
        scalar[0]
    assert scalar[()].item() == 3.0
    assert scalar[...].item() == 3.0
    assert scalar[None].shape == (1,)


def test_elements_cannot_be_deleted():
    array = sw.zeros(4)
    with pytest.raises(ValueError, match="deleted"):
        del array[0]
