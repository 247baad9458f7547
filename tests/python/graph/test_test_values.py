# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""config.compute_test_value: values and errors of expressions while they are written."""

import warnings

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor
VALUES = np.array([1.0, 2.0, 3.0])


@pytest.fixture
def computed():
    with sw.config.change(compute_test_value="raise"):
        yield


def vector(value=VALUES, name="x"):
    x = T.dvector(name)
    x.tag.test_value = value
    return x


def test_setting_off_is_the_default_and_computes_nothing():
    y = vector() + 1
    assert sw.config.compute_test_value == "off" and not hasattr(y.tag, "test_value")


def test_each_expression_gets_its_value(computed):
    x = vector()
    w = sw.shared(VALUES * 2, "w")
    y = (x * w)[1:].sum() + T.arange(3).sum()
    assert y.tag.test_value.item() == (2 * VALUES**2)[1:].sum() + 3
    assert (x * w).owner.inputs[0].tag.test_value is x.tag.test_value
    outputs = sw.graph.OpFromGraph([x], [x + 1, x.sum()])(x)
    assert [v.tag.test_value.tolist() for v in outputs] == [[2, 3, 4], 6]


def test_values_of_gradients_are_computed(computed):
    x = vector()
    dx = T.grad((x**3).sum(), x)
    np.testing.assert_allclose(dx.tag.test_value.numpy(), 3 * VALUES**2)


def test_error_is_raised_where_the_expression_is_written(computed):
    x, y = vector(), vector(VALUES[:2], "y")
    with pytest.raises(
        sw.LayoutError, match=r"(?s)shapes \(3,\) and \(2,\).*test value of Add\(x, y\)"
    ):
        x + y


def test_wrong_test_value_is_an_error_that_names_the_input(computed):
    x = vector([[1.0]])
    with pytest.raises(sw.InputError, match=r"(?s)test value of Exp\(x\).*x"):
        sw.exp(x)


def test_missing_value_raises_warns_or_is_ignored():
    x = T.dvector("x")
    message = r"x of TensorType\(float64, vector\), an input of Exp\(x\), has no test value"
    raises = pytest.raises(sw.GraphError, match=message)
    with sw.config.change(compute_test_value="raise"), raises:
        sw.exp(x)
    with sw.config.change(compute_test_value="warn"), pytest.warns(UserWarning, match=message):
        y = sw.exp(x)
    with sw.config.change(compute_test_value="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        z = sw.exp(x)
        assert vector().sum().tag.test_value.item() == 6
    assert not hasattr(y.tag, "test_value") and not hasattr(z.tag, "test_value")


def test_compiling_computes_no_test_values(computed):
    class Counts(sw.graph.Op):
        __props__ = ()
        calls = 0

        def make_node(self, x):
            return sw.graph.Apply(self, [x], [x.type()])

        def perform(self, node, inputs, outputs):
            Counts.calls += 1
            outputs[0][0] = inputs[0].copy()

    @sw.graph.rewrite("sqrt_to_power")
    def to_power(node):
        return node.inputs[0] ** 0.5 if str(node.op) == "Sqrt" else None

    try:
        x = vector()
        y = Counts()(sw.sqrt(x))
        assert Counts.calls == 1
        f = sw.function([x], y + 1)
        assert Counts.calls == 1
        np.testing.assert_allclose(f(VALUES).numpy(), VALUES**0.5 + 1)
    finally:
        sw.graph.remove_rewrite("sqrt_to_power")


def failing(node):
    if str(node.op) == "Exp":
        raise ValueError("no rule")


def to_float32(node):
    return node.inputs[0].astype("float32") if str(node.op) == "Exp" else None


@pytest.mark.parametrize(
    ("rewrite", "error", "message"),
    [(failing, ValueError, "no rule"), (to_float32, sw.GraphError, "of the same type")],
)
def test_rewrite_that_fails_raises_warns_or_is_ignored(rewrite, error, message):
    x = T.dvector("x")
    sw.graph.rewrite("tested")(rewrite)
    try:
        with pytest.raises(error, match=message):
            sw.function([x], sw.exp(x), device="cpu")
        with sw.config.change(on_opt_error="warn"), pytest.warns(UserWarning, match=message):
            f = sw.function([x], sw.exp(x), device="cpu")
        with sw.config.change(on_opt_error="ignore"), warnings.catch_warnings():
            warnings.simplefilter("error")
            g = sw.function([x], sw.exp(x), device="cpu")
    finally:
        sw.graph.remove_rewrite("tested")
    for function in (f, g):
        np.testing.assert_allclose(function(VALUES).numpy(), np.exp(VALUES))
