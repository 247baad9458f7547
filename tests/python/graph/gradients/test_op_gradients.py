# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Gradients of ops in Python and of kernel ops: results and errors."""

from pathlib import Path

import numpy as np
import pytest

import spanwise as sw
from spanwise.gradient import (
    DisconnectedType,
    GradientError,
    grad_not_implemented,
    grad_undefined,
    verify_grad,
)

T = sw.tensor


def evaluate(derivatives, values, device="cpu"):
    result = sw.function([], derivatives, givens=values, device=device)()
    return [r.numpy() for r in result] if isinstance(result, list) else result.numpy()


class Scale(sw.graph.Op):
    """Two outputs, x * y and x + y, with derivatives by L_op."""

    __props__ = ()

    def make_node(self, x, y):
        return sw.graph.Apply(self, [x, y], [x.type(), x.type()])

    def perform(self, node, inputs, outputs):
        x, y = inputs
        outputs[0][0], outputs[1][0] = x * y, x + y

    def L_op(self, inputs, outputs, gradients):  # noqa: N802
        x, y = inputs
        product, total = (
            T.zeros_like(out) if isinstance(g.type, DisconnectedType) else g
            for out, g in zip(outputs, gradients, strict=True)
        )
        return [product * y + total, product * x + total]


class Sine(sw.graph.Op):
    """One output, with a derivative by grad."""

    __props__ = ()

    def make_node(self, x):
        return sw.graph.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = sw.sin(inputs[0])

    def grad(self, inputs, gradients):
        return [gradients[0] * T.cos(inputs[0])]


def op_with(**methods):
    body = {"make_node": Sine.make_node, "perform": Sine.perform, **methods}
    return type("Custom", (sw.graph.Op,), body)()


def test_grad_and_l_op_of_python_ops_equal_finite_differences(device):
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=3), rng.normal(size=3)
    verify_grad(lambda x: Sine()(x) * x, [a], device=device)
    verify_grad(lambda x, y: Scale()(x, y)[0] * Scale()(x, y)[1], [a, b], device=device)
    verify_grad(lambda x, y: Scale()(x, y)[1], [a, b], device=device)


def test_input_without_connection_by_the_pattern_is_disconnected():
    op = op_with(connection_pattern=lambda self, node: [[False]])
    x = T.dvector("x")
    with pytest.raises(sw.GraphError, match="does not depend on x"):
        T.grad(op(x).sum(), x)


def test_missing_gradient_error_names_op_and_source_line():
    x = T.dvector("x")
    cost = op_with()(x).sum()
    with pytest.raises(sw.GraphError, match="Custom") as caught:
        T.grad(cost, x)
    message = str(caught.value)
    assert "neither grad() nor L_op()" in message and "consider_constant" in message
    assert Path(__file__).name in message


@pytest.mark.parametrize("undefined", [grad_undefined, grad_not_implemented])
def test_an_undefined_derivative_gives_its_reason(undefined):
    def grad(self, inputs, gradients):
        return [undefined(self, 0, inputs[0], "it is a step")]

    x = T.dvector("x")
    with pytest.raises(sw.GraphError, match="it is a step"):
        T.grad(op_with(grad=grad)(x).sum(), x)
    without_reason = op_with(grad=lambda self, inputs, g: [undefined(self, 0, inputs[0])])
    with pytest.raises(sw.GraphError, match="derivative"):
        T.grad(without_reason(x).sum(), x)


def test_disconnected_derivative_of_a_python_op_is_zero_if_ignored():
    op = op_with(grad=lambda self, inputs, g: [DisconnectedType()()])
    x = T.dvector("x")
    got = T.grad(op(x).sum(), x, disconnected_inputs="ignore")
    assert evaluate(got, {x: np.ones(2)}).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (lambda x: x, "must return a list"),
        (lambda x: [x, x], "2 derivatives"),
        (lambda x: [3.0], "must return variables, got 3.0"),
        (lambda x: [x.sum()], "rank 0"),
    ],
)
def test_error_of_a_wrong_result_of_grad_describes_it(result, text):
    op = op_with(grad=lambda self, inputs, g: result(inputs[0]))
    x = T.dvector("x")
    with pytest.raises(sw.GraphError, match=text):
        T.grad(op(x).sum(), x)


def test_an_exception_of_grad_reaches_the_caller():
    def grad(self, inputs, gradients):
        raise ZeroDivisionError("in grad")

    x = T.dvector("x")
    with pytest.raises(ZeroDivisionError, match="in grad"):
        T.grad(op_with(grad=grad)(x).sum(), x)


def test_verify_grad_finds_a_wrong_derivative():
    op = op_with(grad=lambda self, inputs, g: [g[0]])
    with pytest.raises(GradientError, match=r"argument 0 at element \(0,\)"):
        verify_grad(op, [np.array([1.0, 2.0])])
