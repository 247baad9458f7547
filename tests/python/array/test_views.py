# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The methods that make views: the same elements, the same strides, the same memory as NumPy's."""

import gc

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from support.arrays import Window, assert_same, assert_same_layout, numbers, pair, windows

import spanwise as sw

SEEDS = st.integers(0, 2**32)


@given(data=st.data(), window=windows(), seed=SEEDS)
def test_transpose_and_swapaxes_match_numpys_layout(device, data, window, seed):
    ours, oracle = pair(window, "float32", device, seed)
    rank = oracle.ndim
    axes = data.draw(st.permutations(range(rank)))
    axes = [axis - rank if data.draw(st.booleans()) else axis for axis in axes]
    for view, expected in [
        (ours.T, oracle.T),
        (ours.transpose(), oracle.transpose()),
        (ours.transpose(None), oracle.transpose(None)),
        (ours.transpose(axes), oracle.transpose(axes)),
    ]:
        assert_same(view, expected)
        assert_same_layout(view, expected)
    if rank > 0:
        assert_same(ours.transpose(*axes), oracle.transpose(*axes))
        a, b = (data.draw(st.integers(-rank, rank - 1)) for _ in range(2))
        assert_same_layout(ours.swapaxes(a, b), oracle.swapaxes(a, b))
        assert_same(ours.swapaxes(a, b), oracle.swapaxes(a, b))


@given(data=st.data(), window=windows(), seed=SEEDS)
def test_squeeze_matches_numpys_layout(device, data, window, seed):
    ours, oracle = pair(window, "float32", device, seed)
    assert_same(ours.squeeze(), oracle.squeeze())
    ones = [axis for axis, extent in enumerate(oracle.shape) if extent == 1]
    axes = tuple(data.draw(st.sets(st.sampled_from(ones)))) if ones else ()
    assert_same(ours.squeeze(axes), oracle.squeeze(axes))
    assert_same_layout(ours.squeeze(axes), oracle.squeeze(axes))


@given(data=st.data(), window=windows(min_rank=2), seed=SEEDS, offset=st.integers(-6, 6))
def test_diagonal_matches_numpys_layout(device, data, window, seed, offset):
    ours, oracle = pair(window, "int64", device, seed)
    axes = data.draw(st.permutations(range(oracle.ndim)))[:2]
    view, expected = ours.diagonal(offset, *axes), oracle.diagonal(offset, *axes)
    assert_same(view, expected)
    assert_same_layout(view, expected)


@given(data=st.data(), window=windows(broadcast=False), seed=SEEDS)
def test_broadcast_to_matches_numpys_layout_and_is_read_only(device, data, window, seed):
    ours, oracle = pair(window, "uint8", device, seed)
    extents = [data.draw(st.integers(0, 4)) if n == 1 else n for n in oracle.shape]
    shape = (
        *data.draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3)),
        *extents,
    )
    expected = np.broadcast_to(oracle, shape)
    for view in (ours.broadcast_to(shape), sw.broadcast_to(ours, shape)):
        assert_same(view, expected)
        assert_same_layout(view, expected)
        assert not view.flags.writeable
    assert ours.flags.writeable


@given(
    window=windows(broadcast=False, min_rank=1),
    seed=SEEDS,
    dtype=st.sampled_from(["int8", "float16", "float32", "float64", "complex128"]),
    target=st.sampled_from(["uint8", "int16", "float32", "int64", "complex128"]),
)
def test_view_with_another_dtype_matches_numpy(device, window, seed, dtype, target):
    ours, oracle = pair(window, dtype, device, seed)
    try:
        expected = oracle.view(target)
    except ValueError:
        # The last axis is not contiguous, or its bytes are no multiple of the element size.
        with pytest.raises(sw.LayoutError):
            ours.view(target)
        return
    assert_same(ours.view(target), expected)


def test_the_host_reads_views_at_any_address():
    memory = np.zeros(33, np.uint8)
    start = 1 - memory.ctypes.data % 2  # odd
    odd = sw.asarray(memory[start : start + 16])
    view = odd.view("float64")
    view[...] = [1.5, -2.5]
    assert not view.flags.aligned
    assert memory[start : start + 16].view("float64").tolist() == view.tolist() == [1.5, -2.5]
    assert (view + view).tolist() == [3.0, -5.0]


@pytest.mark.parametrize("key", [slice(4, -4), slice(3, 11), (slice(None, None, -1), slice(1, 9))])
@pytest.mark.parametrize("target", ["float64", "float32", "int16", "complex64"])
def test_views_of_another_dtype_begin_at_any_byte_on_the_host(key, target):
    shape = (3, 24) if isinstance(key, tuple) else (24,)
    ours, oracle = pair(Window(shape, (("index", key),)), "int8", sw.device("cpu"), 5)
    view, expected = ours.view(target), oracle.view(target)
    assert_same(view, expected)
    assert_same(view[..., ::-1].copy(), expected[..., ::-1])
    assert_same(sw.asarray(np.asarray(view)), expected)
    assert view.view("int8").ptr == ours.ptr
    view[...] = 0
    assert not ours.numpy().any()
    oracle[...] = 0
    assert_same(ours.base, oracle.base)


def test_view_without_a_dtype_is_another_object_on_the_same_memory(device):
    array = sw.zeros(4, device=device)
    view = array.view()
    assert view is not array
    assert view.base is array
    assert view.ptr == array.ptr


def test_mt_swaps_the_last_two_axes(device):
    values = numbers((2, 3, 4), "float32", 5)
    assert_same(sw.array(values, device=device).mT, values.mT)
    with pytest.raises(sw.LayoutError, match="two dimensions"):
        _ = sw.zeros(3, device=device).mT


def test_axes_of_stride_0_are_ordered_as_in_numpy():
    values = np.arange(23.0)
    for shape, strides in (
        ((2, 3, 2), (-24, 0, -48)),
        ((2, 2, 3), (0, -24, 48)),
        ((4, 4, 5, 3), (0, 8, 0, -24)),
    ):
        oracle = np.lib.stride_tricks.as_strided(values[10:], shape, strides)
        read_only = np.broadcast_to(oracle, oracle.shape)
        ours = sw.asarray(read_only)  # shares, so the strides are NumPy's
        assert ours.strides == strides
        assert_same(ours.ravel("K"), oracle.ravel("K"))
        assert ours.copy("K").strides == oracle.copy("K").strides


def test_rank_0_arrays_accept_axes_0_and_minus_1(device):
    ours, oracle = sw.array(3, device=device), np.array(3)
    for axis in (0, -1):
        assert_same(ours.squeeze(axis), oracle.squeeze(axis))
        assert_same(sw.repeat(ours, 2, axis), np.repeat(oracle, 2, axis))
        assert_same(sw.take(ours, 0, axis), np.asarray(np.take(oracle, 0, axis)))
        assert_same(sw.compress([True], ours, axis), np.compress([True], oracle, axis))
    for wrong in (1, -2, (0,)):
        with pytest.raises(IndexError):
            ours.squeeze(wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda a: a.transpose(0, 0),
        lambda a: a.transpose(0),
        lambda a: a.transpose(0, 2),
        lambda a: a.swapaxes(0, 5),
        lambda a: a.squeeze(0),
        lambda a: a.squeeze((0, 0)),
        lambda a: a.diagonal(0, 1, 1),
        lambda a: a.broadcast_to((2, 4)),
        lambda a: a.broadcast_to((3,)),
        lambda a: a.reshape(()),
    ],
)
def test_invalid_shape_raises_layout_error(device, wrong):
    with pytest.raises(sw.Error) as caught:
        wrong(sw.zeros((2, 3), device=device))
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[1],
        lambda a: a[1:, ::-1][::-1],
        lambda a: a.T[2:],
        lambda a: a.reshape(4, 6).view("int32")[1:].T,
        lambda a: a.ravel()[5:].reshape(-1),
        lambda a: a.broadcast_to((2, 8, 3))[1].diagonal(),
        lambda a: next(iter(a.squeeze()))[1:],
        lambda a: sw.expand_dims(a.swapaxes(0, 1), 0)[0].mT,
    ],
)
@pytest.mark.parametrize("create", [sw.asarray, sw.array], ids=["imported", "own"])
def test_view_keeps_memory_alive(device, view, create):
    oracle = numbers((8, 3), "int64", 7)
    a = create(oracle.copy(), device=device)
    expected = view(a).numpy().copy()
    result = view(a)
    assert result.base is a
    del a
    gc.collect()
    others = [sw.full((8, 3), -1, "int64", device=device) for _ in range(64)]
    np.testing.assert_array_equal(result.numpy(), expected)
    copy = result.copy()
    del result, others
    np.testing.assert_array_equal(copy.numpy(), expected)


def test_read_only_view_does_not_change_other_views(device):
    a = sw.arange(6, device=device)
    view = a[1:4]
    view.flags.writeable = False
    further = view[1:]
    assert not further.flags.writeable
    del view, further
    a[1:4] = 0
    assert a.tolist() == [0, 0, 0, 0, 4, 5]


def test_unknown_order_raises():
    with pytest.raises(sw.ArgumentError, match='got "Z"'):
        sw.zeros((2, 3)).copy("Z")
    with pytest.raises(sw.ArgumentError, match='"C", "F" or "A"'):
        sw.zeros((2, 3)).reshape(6, order="K")


def test_functions_take_arrays_of_other_libraries():
    values = numbers((2, 6), "float32", 6)
    reshaped = sw.reshape(values, (3, 4))
    assert_same(reshaped, values.reshape(3, 4))
    reshaped[0, 0] = -5
    assert values[0, 0] == -5
