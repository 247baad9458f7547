# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""softmax and log_softmax of arrays and of variables, against NumPy in double precision."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import Window, windows

import spanwise as sw
from spanwise.printing import debugprint

T = sw.tensor

TOLERANCES = {"float16": 2e-3, "bfloat16": 1e-2, "float32": 2e-6, "float64": 1e-14}
FUNCTIONS = {"softmax": sw.softmax, "log_softmax": sw.log_softmax}


def expected(name, x, axis):
    shifted = x - x.max(axis, keepdims=True)
    total = np.exp(shifted).sum(axis, keepdims=True)
    return np.exp(shifted) / total if name == "softmax" else shifted - np.log(total)


def logits(shape, dtype, seed, device):
    """(array of Spanwise, its values as float64)."""
    ours = sw.array(np.random.default_rng(seed).normal(0, 4, shape), dtype, device=device)
    return ours, ours.astype("float64").numpy()


def assert_close(ours, oracle, dtype):
    assert ours.dtype == dtype
    assert ours.shape == oracle.shape
    scale = TOLERANCES[dtype]
    np.testing.assert_allclose(ours.astype("float64").numpy(), oracle, rtol=scale, atol=scale / 4)


@pytest.mark.parametrize("name", FUNCTIONS)
@given(
    window=windows(broadcast=True, min_rank=1),
    dtype=st.sampled_from(list(TOLERANCES)),
    seed=st.integers(0, 1000),
    data=st.data(),
)
def test_any_layout_matches_numpy(device, name, window, dtype, seed, data):
    if 0 in window.shape:
        return
    ours, values = logits(window.base_shape, dtype, seed, device)
    axis = data.draw(st.integers(-len(window.shape), len(window.shape) - 1))
    result = FUNCTIONS[name](window.of(ours), axis)
    assert_close(result, expected(name, window.of(values), axis), dtype)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((64, 50), 1),
        ((50, 64), 0),
        ((3, 1000, 7), 1),
        ((2, 33, 70), 1),
        ((5, 1025), -1),
        ((2, 40_000), -1),
        ((1, 20_000, 3), 1),
        ((300, 1), 1),
        ((7,), None),
    ],
)
def test_rows_and_columns_match_numpy(device, name, dtype, shape, axis):
    ours, values = logits(shape, dtype, 3, device)
    assert_close(FUNCTIONS[name](ours, axis), expected(name, values, axis), dtype)


def test_values_that_are_far_apart(device):
    values = np.array([[1e4, -1e4, 0], [-np.inf, 0, -700], [-200, -150, -100]])
    for dtype in ("float32", "float64"):
        ours = sw.array(values, dtype, device=device)
        for name, function in FUNCTIONS.items():
            assert_close(function(ours), expected(name, values, -1), dtype)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nan_and_infinity_make_a_line_nan(device, value, axis):
    values = np.zeros((40, 60), "float32")
    values[3, 5] = value
    result = sw.softmax(sw.array(values, device=device), axis).numpy()
    is_nan = np.zeros((40, 60), bool)
    is_nan[(slice(None), 5) if axis == 0 else (3, slice(None))] = True
    np.testing.assert_array_equal(np.isnan(result), is_nan)


def test_other_arguments_as_before(device):
    assert sw.softmax(sw.zeros((0, 3), device=device)).shape == (0, 3)
    np.testing.assert_allclose(
        sw.softmax(sw.array([1, 2], device=device)).numpy(), expected("softmax", np.r_[1, 2], 0)
    )
    with pytest.raises(sw.AxisError):
        sw.softmax(sw.zeros((2, 3), device=device), 2)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_compiled_functions_compute_it_in_one_node(device, name, axis):
    ours, values = logits((6, 5, 40), "float32", 5, device)
    x = T.tensor3("x", dtype="float32")
    function = sw.function([x], getattr(T, name)(x, axis) * 2, device=device)
    assert_close(function(ours), 2 * expected(name, values, axis), "float32")
    assert "oftmax" in debugprint(function, file="str")


def test_gradients_of_compiled_softmax(device):
    ours, values = logits((4, 6), "float64", 6, device)
    x = T.matrix("x", dtype="float64")
    p = T.softmax(x)
    slope = sw.function([x], [p, T.grad((p * p).sum(), x)], device=device)(ours)[1]
    y = expected("softmax", values, 1)
    exact = y * (2 * y - (2 * y * y).sum(1, keepdims=True))
    np.testing.assert_allclose(slope.numpy(), exact, rtol=1e-12, atol=1e-15)


def test_window_of_rank_one(device):
    ours, values = logits((9,), "float32", 8, device)
    part = Window((9,), (("index", (slice(None, None, -2), Ellipsis)),))
    assert_close(sw.softmax(part.of(ours)), expected("softmax", part.of(values), 0), "float32")


def test_debug_mode_compares_in_the_coarsest_dtype_of_the_graph():
    """The one pass rounds otherwise than the operations one by one, which a cast to double shows."""
    x = sw.tensor.fmatrix("x")
    y = sw.tensor.cast(sw.tensor.tanh(sw.softmax(x)), "float64")
    value = np.random.default_rng(0).standard_normal((3, 3)).astype("float32")
    expected = np.exp(value.astype("float64"))
    expected = np.tanh(expected / expected.sum(-1, keepdims=True))
    np.testing.assert_allclose(sw.function([x], y, mode="debug")(value).numpy(), expected, 1e-6)
