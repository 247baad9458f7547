# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Rop through ops that define R_op, and beside ops that do not."""

import numpy as np
import pytest

import spanwise as sw
from spanwise.gradient import DisconnectedType, Rop, grad_not_implemented

T = sw.tensor


class Squares(sw.Op):
    """x**2 and x + y, with R_op and without a gradient; counts the calls of R_op."""

    calls = 0

    def make_node(self, x, y):
        return sw.Apply(self, [x, y], [x.type(), x.type()])

    def perform(self, node, inputs, outputs):
        x, y = inputs
        outputs[0][0], outputs[1][0] = x * x, x + y

    def R_op(self, inputs, eval_points):  # noqa: N802
        Squares.calls += 1
        x, _ = inputs
        dx, dy = eval_points
        sums = [g for g in (dx, dy) if g is not None]
        return [
            None if dx is None else 2 * x * dx,
            sums[0] if len(sums) == 1 else sums[0] + sums[1],
        ]


def evaluate(outputs, inputs, values, device):
    f = sw.function(inputs, outputs, device=device, on_unused_input="ignore")
    return [r.numpy() for r in f(*values)]


def test_r_op_between_differentiable_ops_equals_finite_differences(device):
    x, y, p, q = T.dvectors("x", "y", "p", "q")
    square, total = Squares()(T.sin(x), y * x)
    z = T.exp(square) * total * x
    rng = np.random.default_rng(2)
    a, b, u, v = rng.standard_normal((4, 20))

    def value(a, b):
        return np.exp(np.sin(a) ** 2) * (np.sin(a) + a * b) * a

    h = 1e-6
    expected = (value(a + h * u, b + h * v) - value(a - h * u, b - h * v)) / (2 * h)
    got = evaluate([Rop(z, [x, y], [p, q])], [x, y, p, q], (a, b, u, v), device)[0]
    np.testing.assert_allclose(got, expected, rtol=2e-6, atol=1e-7)


def test_rop_of_chained_r_ops_and_of_the_variable_itself(device):
    x, y, p = T.dvectors("x", "y", "p")
    once = Squares()(x, y)[0]
    twice = Squares()(once, once)[1] + x
    got = evaluate(
        Rop([twice, once, x], x, p), [x, y, p], ([3.0, 1.0], [0, 0], [1.0, 10.0]), device
    )
    assert [g.tolist() for g in got] == [[13.0, 50.0], [6.0, 20.0], [1.0, 10.0]]


def test_unchanged_inputs_are_none_and_unchanged_outputs_are_disconnected(device):
    x, y, q = T.dvectors("x", "y", "q")
    square, total = Squares()(x, y)
    assert evaluate([Rop(total, y, q)], [x, y, q], ([1.0], [2.0], [5.0]), device)[0].tolist() == [5]
    with pytest.raises(sw.GraphError, match="does not depend"):
        Rop(square * 2, y, q)
    got = Rop(square * 2, y, q, disconnected_outputs="ignore")
    assert evaluate([got], [x, y, q], ([1.0], [2.0], [5.0]), device)[0].tolist() == [0.0]


def test_r_op_is_not_called_for_nodes_that_do_not_change():
    x, y, q = T.dvectors("x", "y", "q")
    Squares.calls = 0
    Rop(Squares()(x, x)[0] * y, y, q)
    assert Squares.calls == 0


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (
            lambda op, x: [x],
            "R_op must return a list with one derivative for each of the 2 outputs",
        ),
        (lambda op, x: None, "R_op must return a list"),
        (lambda op, x: [x.sum(), x], "R_op gives a derivative of rank 0 for"),
        (lambda op, x: [3.0, x], "must return variables"),
        (
            lambda op, x: [grad_not_implemented(op, 0, x, "too hard"), x],
            "Rop: no derivative of .*too hard",
        ),
    ],
)
def test_wrong_results_of_r_op_raise(result, message):
    class Wrong(Squares):
        def R_op(self, inputs, eval_points):  # noqa: N802
            return result(self, inputs[0])

    x, p = T.dvectors("x", "p")
    with pytest.raises(sw.GraphError, match=message):
        Rop(Wrong()(x, x)[0], x, p)


def test_disconnected_type_as_result_of_r_op_means_unchanged():
    class Step(Squares):
        def R_op(self, inputs, eval_points):  # noqa: N802
            return [DisconnectedType()(), None]

    x, p = T.dvectors("x", "p")
    with pytest.raises(sw.GraphError, match="does not depend"):
        Rop(Step()(x, x)[0], x, p)


def test_direction_does_not_pass_through_a_cast_to_integers(device):
    x, p = T.dvectors("x", "p")
    n = x.astype("int64")
    z = Squares()(x, n.astype("float64"))[1]
    got = evaluate([Rop(z, x, p)], [x, p], ([1.5, 2.5], [2.0, 4.0]), device)[0]
    assert got.tolist() == [2.0, 4.0]
