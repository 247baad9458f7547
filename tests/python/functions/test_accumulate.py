# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""sw.add.at and the other ufuncs' at(): NumPy's results where an element is indexed repeatedly."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import COMPUTABLE, assert_same, numbers, same_kind, windows, with_ellipsis
from support.index_keys import WHERE, keys, ours_of

import spanwise as sw

T = sw.tensor
SEEDS = st.integers(0, 2**32)
NAMES = ("add", "subtract", "multiply", "maximum", "minimum")


def lacks_atomic(device, name, dtype):
    """Whether a GPU has no atomic operation for this update."""
    return device.kind == "cuda" and dtype == "complex128" and name not in ("add", "subtract")


def small(values):
    """The values made so small that products of several are exact in floating and complex dtypes."""
    if values.dtype.kind in "biu":
        return values
    return np.asarray(values / 64 if values.dtype.kind == "c" else values % 4, values.dtype)


@given(
    data=st.data(),
    window=windows(broadcast=False),
    name=st.sampled_from(NAMES),
    dtype=st.sampled_from(COMPUTABLE),
    seed=SEEDS,
    where=WHERE,
)
def test_random_layouts_and_keys_match_numpy(device, data, window, name, dtype, seed, where):
    if (name == "subtract" and dtype == "bool") or lacks_atomic(device, name, dtype):
        return
    expected = small(numbers(window.base_shape, dtype, seed))
    base = sw.array(expected, device=device)
    oracle, ours = window.of(expected), window.of(base)
    key = data.draw(keys(oracle.shape))
    try:
        shape = oracle[with_ellipsis(key)].shape
    except (IndexError, ValueError):
        with pytest.raises((IndexError, ValueError)):
            getattr(sw, name).at(ours, ours_of(key, device, where), True)
        return
    value_shape = tuple(n if data.draw(st.booleans()) else 1 for n in shape)
    value = numbers(value_shape[data.draw(st.integers(0, len(shape))) :], dtype, seed + 1)
    value = small(value)
    with np.errstate(all="ignore"):
        getattr(np, name).at(oracle, with_ellipsis(key), value)
    our_value = sw.array(value, device=device) if data.draw(st.booleans()) else value
    assert getattr(sw, name).at(ours, ours_of(key, device, where), our_value) is None
    # All of the memory: bytes outside the selection must be unchanged.
    assert_same(base, expected)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "dtype", ["int8", "uint16", "int32", "int64", "float32", "float64", "complex64"]
)
def test_many_values_for_few_elements_match_numpy(device, name, dtype):
    rng = np.random.default_rng(5)
    indices = rng.integers(-7, 7, 100_003)
    low = -3 if dtype.startswith(("int", "float", "complex")) else 0
    values = rng.integers(low, 4, indices.size).astype(dtype)
    if name == "multiply" and not dtype.startswith(("int", "uint")):
        values = np.where(
            rng.random(indices.size) < 0.5, values.dtype.type(-1), values.dtype.type(1)
        )
    expected = np.ones(7, dtype)
    ours = sw.array(expected, device=device)
    getattr(np, name).at(expected, indices, values)
    getattr(sw, name).at(ours, sw.array(indices, device=device), sw.array(values, device=device))
    assert_same(ours, expected)


@pytest.mark.parametrize("shape", [(5003, 64), (64, 5003), (4, 5003, 8)])
def test_rows_of_large_arrays_match_numpy(device, shape):
    rng = np.random.default_rng(6)
    for axis in range(len(shape)):
        key = (slice(None),) * axis + (rng.integers(0, shape[axis], 3001),)
        expected = rng.integers(0, 9, shape).astype("float32")
        values = rng.integers(0, 9, expected[key].shape).astype("float32")
        ours = sw.array(expected, device=device)
        np.add.at(expected, key, values)
        sw.add.at(ours, key, sw.array(values, device=device))
        assert_same(ours, expected)


@pytest.mark.parametrize("name", ["maximum", "minimum"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_nan_is_the_accumulated_extremum(device, name, dtype):
    expected = np.array([1, np.nan, 3, -2], dtype)
    ours = sw.array(expected, device=device)
    values = np.array([2, 5, np.nan, -5, 0], dtype)
    with np.errstate(invalid="ignore"):
        getattr(np, name).at(expected, [0, 1, 2, 3, 3], values)
    getattr(sw, name).at(ours, [0, 1, 2, 3, 3], values)
    assert_same(ours, expected)


@pytest.mark.parametrize("target", COMPUTABLE)
@pytest.mark.parametrize("source", ["bool", "int8", "int64", "float32", "float64", "complex64"])
def test_values_of_other_dtypes_are_cast_by_same_kind_or_raise(device, target, source):
    ours = sw.ones(3, target, device=device)
    values = numbers((4,), source, 1)
    promoted = sw.result_type(target, source)
    if not same_kind(str(promoted), target):
        with pytest.raises(sw.DTypeError, match="same_kind.*astype"):
            sw.add.at(ours, [0, 1, 0, 2], values)
        assert_same(ours, sw.ones(3, target).numpy())
        return
    expected = ours.numpy().copy()
    np.add.at(expected, [0, 1, 0, 2], values.astype(expected.dtype))
    sw.add.at(ours, [0, 1, 0, 2], values)
    assert_same(ours, expected)


def test_wide_values_are_not_truncated_before_use(device):
    ours = sw.full(2, 50, "int8", device=device)
    sw.minimum.at(ours, [0, 1], np.array([300, 7]))
    assert ours.tolist() == [50, 7]


def test_numbers_are_accumulated_if_their_dtype_fits(device):
    ours = sw.zeros((2, 3), "float32", device=device)
    sw.add.at(ours, 0, 1)
    sw.add.at(ours, (slice(None), [1, 1]), 0.5)
    sw.subtract.at(ours, ..., True)
    assert ours.tolist() == [[0, 1, 0], [-1, 0, -1]]
    whole = sw.zeros(2, "int32", device=device)
    for number in (0.5, 1j):
        with pytest.raises(sw.DTypeError, match="cast the values"):
            sw.add.at(whole, [0], number)
    with pytest.raises(sw.DTypeError, match="same_kind"):
        sw.add.at(sw.zeros(2, bool, device=device), [0], 2)
    assert whole.tolist() == [0, 0]


def test_arrays_of_other_libraries_are_changed_in_place():
    ours, expected = np.zeros(4), np.zeros(4)
    sw.add.at(ours, [1, 1, -1], [1.0, 2.0, 3.0])
    np.add.at(expected, [1, 1, -1], [1.0, 2.0, 3.0])
    assert np.array_equal(ours, expected)


def test_values_and_indices_may_share_memory_with_the_target(device):
    ours = sw.array(np.arange(6), device=device)
    expected = np.arange(6)
    sw.add.at(ours, ours[::-1], ours)
    np.add.at(expected, expected[::-1].copy(), expected.copy())
    assert_same(ours, expected)


def test_unsupported_calls_raise(device):
    a = sw.zeros(3, device=device)
    with pytest.raises(TypeError, match="array, an index and values"):
        sw.add.at(a, [0])
    with pytest.raises(sw.ArgumentError, match="power.at: expected add"):
        sw.power.at(a, [0], 2)
    with pytest.raises(sw.ArgumentError, match="negative.at"):
        sw.negative.at(a, [0], 2)
    with pytest.raises(sw.BoundsError, match="index 3"):
        sw.add.at(a, [0, 3], 1)
    with pytest.raises(sw.LayoutError, match="broadcast"):
        sw.add.at(a, [0, 1], [1, 2, 3])
    with pytest.raises(sw.DTypeError, match="bool"):
        sw.subtract.at(a > 0, [0], True)
    with pytest.raises(sw.ReadOnlyError):
        sw.add.at(a.broadcast_to((2, 3)), [0], 1)
    with pytest.raises(sw.GraphError, match="inc_subtensor"):
        sw.add.at(T.dvector(), [0], 1)
    assert a.tolist() == [0, 0, 0], "an error leaves all elements unchanged"
    if device.kind == "cuda":
        with pytest.raises(sw.DTypeError, match="complex128"):
            sw.multiply.at(a.astype("complex128"), [0], 1)


# ---- In graphs


@given(
    data=st.data(),
    shape=st.lists(st.integers(1, 5), min_size=1, max_size=3),
    dtype=st.sampled_from(("float64", "int32")),
    seed=SEEDS,
    mode=st.sampled_from(("fast_run", "debug")),
)
def test_inc_subtensor_sums_repeated_indices(device, data, shape, dtype, seed, mode):
    values = numbers(shape, dtype, seed)
    key = data.draw(keys(tuple(shape)))
    if any(isinstance(k, np.ndarray) and k.ndim == 0 for k in key):
        return  # a graph has no masks of rank 0
    try:
        selection = values[with_ellipsis(key)]
    except (IndexError, ValueError):
        return
    added = numbers(selection.shape, dtype, seed + 1)
    expected = values.copy()
    np.add.at(expected, with_ellipsis(key), added)
    x = T.tensor(dtype, (None,) * len(shape), "x")
    y = T.tensor(dtype, (None,) * selection.ndim, "y")
    our_key = tuple(sw.array(k, device=device) if isinstance(k, np.ndarray) else k for k in key)
    f = sw.function([x, y], T.inc_subtensor(x[our_key], y), device=device, mode=mode)
    assert_same(f(values, added), expected)
    assert_same(f(sw.array(values, device=device)[::1], added), expected)


def test_rows_of_a_shared_variable_are_updated_in_place(device):
    table = sw.shared(np.zeros((5, 2), "float32"), "table", target=device)
    rows, step = T.ivector("rows"), T.fmatrix("step")
    f = sw.function(
        [rows, step], updates={table: T.inc_subtensor(table[rows], step * 2)}, device=device
    )
    for _ in range(2):
        f([1, 3, 1], np.ones((3, 2), "float32"))
    assert table.get_value().tolist() == [[0, 0], [8, 8], [0, 0], [4, 4], [0, 0]]


def test_chained_inc_subtensors_run_in_place(device):
    x, i = T.fvector("x"), T.lvector("i")
    f = sw.function(
        [x, i], T.inc_subtensor(T.inc_subtensor((x * 2)[i], 1)[i], x[:2]), device=device
    )
    names = [str(node.op) for node in f.maker.fgraph.toposort()]
    assert names.count("IncSubtensor{[]}[(0, 0)]") == 2, names
    assert f([1, 2, 3], [2, 2]).tolist() == [2, 4, 6 + 2 + 1 + 2]


def test_inc_subtensor_accepts_a_mask(device):
    x = T.dmatrix("x")
    f = sw.function([x], T.inc_subtensor(x[x > 1], 10), device=device)
    assert f([[1, 2], [3, 0]]).tolist() == [[1, 12], [13, 0]]


def test_target_may_also_be_the_value(device):
    x = T.dvector("x")
    f = sw.function([x], T.inc_subtensor(x[::-1][[0, 1, 2]], x), device=device, mode="debug")
    assert f([1, 2, 4]).tolist() == [4 + 1, 2 + 2, 1 + 4]
