# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Shared variables, updates, and borrowed memory."""

import numpy as np
import pytest
from support.step_ops import AddOne

import spanwise as sw

T = sw.tensor


def ones(*shape, dtype="float32"):
    return np.ones(shape, dtype)


def test_shared_integer_scalar_is_on_the_host():
    state = sw.shared(0)
    assert repr(state) == "<TensorType(int64, scalar)>"
    assert state.device == "cpu" and state.get_value().shape == ()
    state.set_value(1)
    assert state.get_value().item() == 1 and state.get_value().dtype == "int64"
    assert isinstance(state, sw.SharedVariable) and isinstance(state, sw.Variable)


def test_shared_variable_is_on_the_default_device_or_the_target(device):
    with device:
        assert sw.shared(ones(2)).device == device
        assert sw.shared(2.5).device == device
        assert sw.shared(ones(2), target="cpu").device == "cpu"
    w = sw.shared(ones(2, 1), "w", target=device)
    assert w.device == device and w.type.device == device and w.name == "w" and str(w) == "w"
    assert w.type.shape == (None, None), "an initial extent of 1 does not fix the shape"


def test_values_are_copied_unless_borrowed(device):
    mine = sw.asarray(ones(3), device=device)
    copied, borrowed = sw.shared(mine, target=device), sw.shared(mine, borrow=True, target=device)
    mine[...] = 7
    assert copied.get_value().tolist() == [1, 1, 1]
    assert borrowed.get_value().tolist() == [7, 7, 7]
    copied.get_value()[...] = 5
    assert copied.get_value().tolist() == [1, 1, 1]
    copied.get_value(borrow=True)[...] = 5
    assert copied.get_value().tolist() == [5, 5, 5]
    copied.set_value(mine)
    mine[...] = 9
    assert copied.get_value().tolist() == [7, 7, 7]
    copied.set_value(mine, borrow=True)
    mine[...] = 2
    assert copied.get_value().tolist() == [2, 2, 2]


def test_set_value_takes_arrays_of_any_library_and_shape(device):
    w = sw.shared(ones(2, 3), target=device)
    for value in (ones(4, 1)[::-1], [[1, 2.5]], sw.zeros((0, 3), dtype="float32")):
        w.set_value(value)
        assert w.get_value().device == device
        assert np.array_equal(w.get_value(), np.asarray(value, "float32"))
    jax = pytest.importorskip("jax")
    w.set_value(jax.numpy.ones((2, 2), "float32"))
    assert w.get_value().shape == (2, 2)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (ones(2, dtype="float64"), "expected dtype float32, got float64"),
        (ones(2, 2), r"expected 1 axes, got 2 \(shape \(2, 2\)\)"),
        (1.0, "expected 1 axes"),
    ],
)
def test_invalid_value_leaves_the_variable_unchanged(value, message, device):
    w = sw.shared(ones(2), target=device)
    with pytest.raises(sw.InputError, match=message):
        w.set_value(value)
    assert w.get_value().tolist() == [1, 1]
    with pytest.raises(AttributeError, match="get_value"):
        _ = w.value


def test_graph_variable_as_initial_value_raises():
    with pytest.raises(sw.GraphError, match="got a variable"):
        sw.shared(T.fscalar())


def test_functions_read_and_update_one_shared_value(device):
    w = sw.shared(ones(2), "w", target=device)
    add = sw.function([], updates=[(w, w + 1)], device=device)
    double = sw.function([], [w * 2], updates={w: w * 2}, device=device)
    show = sw.function([], w, device=device)
    assert add() == [] and show().tolist() == [2, 2]
    assert double()[0].tolist() == [4, 4] and show().tolist() == [4, 4]
    w.set_value([0, 1])
    assert show().tolist() == [0, 1] and double()[0].tolist() == [0, 2]
    assert add.maker.updates[0][0] is w


def test_results_share_no_memory_with_shared_variables(device):
    w = sw.shared(ones(3), target=device)
    f = sw.function([], [w, w + 1], updates={w: w + 1}, device=device)
    same, more = f()
    same[...], more[...] = -1, -1
    assert w.get_value().tolist() == [2, 2, 2]
    borrowed = w.get_value(borrow=True)
    f()
    assert borrowed.tolist() == [2, 2, 2] and w.get_value().tolist() == [3, 3, 3]


def test_borrowed_output_is_the_shared_value_itself(device):
    w = sw.shared(ones(3), target=device)
    f = sw.function([], sw.Out(w, borrow=True), device=device)
    assert f().ptr == w.get_value(borrow=True).ptr


def test_overwriting_op_gets_a_copy_of_a_shared_value(device):
    w = sw.shared(ones(2), target=device)
    f = sw.function([], AddOne()(w), updates={w: AddOne()(w) * 2}, device=device)
    assert f().tolist() == [2, 2] and w.get_value().tolist() == [4, 4]


def test_shared_variable_as_input_raises():
    w = sw.shared(ones(2), "w")
    with pytest.raises(sw.GraphError, match="w.*shared variable.*givens"):
        sw.function([w], w)


def test_givens_replace_a_variable_by_a_shared_one_and_the_reverse(device):
    x, w = T.fvector("x"), sw.shared(ones(2), "w", target=device)
    y = x * 2
    assert sw.function([], y, givens={x: w}, device=device)().tolist() == [2, 2]
    v = T.fvector("v")
    assert sw.function([v], w + 1, givens={w: v}, device=device)([5]).tolist() == [6]


def test_mutable_inputs_may_be_overwritten(device):
    x, y = T.fvector("x"), T.fvector("y")
    value = sw.asarray(ones(3), device=device)
    keeps = sw.function([x], AddOne()(x), device=device)
    assert keeps(value).tolist() == [2, 2, 2] and value.tolist() == [1, 1, 1]
    overwrites = sw.function([sw.In(x, mutable=True)], AddOne()(x), device=device)
    assert overwrites(value).tolist() == [2, 2, 2] and value.tolist() == [2, 2, 2]
    both = sw.function([sw.In(x, mutable=True), y], AddOne()(x) + y, device=device)
    assert both(value, value).tolist() == [5, 5, 5], "an array that is passed twice is copied"
    assert value.tolist() == [2, 2, 2]
    read_only = ones(3)
    read_only.flags.writeable = False
    assert overwrites(read_only).tolist() == [2, 2, 2] and read_only.tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="mutable"):
        sw.In(x, mutable=True, borrow=False)
