# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Warp, on the CPU and on a GPU."""

import numpy as np
import pytest
from support import foreign

import spanwise as sw


@pytest.fixture(scope="module")
def warp():
    try:
        return foreign.library("warp")
    except foreign.Unavailable as reason:
        pytest.skip(str(reason))


def test_vectors_are_imported_as_a_further_axis(warp):
    theirs = warp.module.zeros(5, dtype=warp.module.vec3, device=warp.device)
    ours = sw.from_warp(theirs)
    assert (ours.shape, ours.strides) == ((5, 3), (12, 4))
    ours[2] = 7
    ours.sync()
    assert theirs.numpy()[2].tolist() == [7, 7, 7]


def test_structs_are_refused_by_name(warp):
    struct = type("Pair", (), {"__annotations__": {"left": warp.module.float32}})
    pairs = warp.module.zeros(3, dtype=warp.module.struct(struct), device=warp.device)
    for take in (sw.asarray, sw.from_warp):
        with pytest.raises(sw.DTypeError, match="each field"):
            take(pairs)


def test_negative_strides_are_read_right(warp):
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    ours = sw.array(values, device=warp.device)[::-1, ::-1]
    np.testing.assert_array_equal(warp.read(sw.to_warp(ours)), values[::-1, ::-1])


@pytest.mark.parametrize("shape", [(), (1, 1, 1, 1, 1)])
def test_unsupported_number_of_axes_raises(warp, shape):
    with pytest.raises(ValueError, match=r"1 to 4 axes.*reshape"):
        sw.to_warp(sw.ones(shape, dtype="float32", device=warp.device), copyif=True)


def test_complex_array_is_exported_as_pairs_of_reals(warp):
    ours = sw.ones(3, dtype="complex64", device=warp.device)
    with pytest.raises(sw.DTypeError, match="view"):
        sw.to_warp(ours)
    assert warp.read(sw.to_warp(ours.view("float32"))).tolist() == [1, 0] * 3


def test_an_array_with_a_gradient_is_shared(warp):
    theirs = warp.module.zeros(4, dtype=float, device=warp.device, requires_grad=True)
    assert sw.from_warp(theirs).ptr == theirs.ptr
    assert sw.from_warp(theirs.grad).ptr == theirs.grad.ptr
