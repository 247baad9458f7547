# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""OpFromGraph: graphs as ops, their gradients, printing and pickling."""

import pickle

import numpy as np
import pytest

import spanwise as sw
from spanwise.gradient import DisconnectedType, verify_grad

T = sw.tensor
A, B = np.array([0.5, 1.0, 2.0]), np.array([3.0, -1.0, 0.25])
INLINE = pytest.mark.parametrize("inline", [False, True])


def sum_and_exp_op(inline=False, **options):
    """The op with the outputs sum(x * y) and exp(x) of two vectors."""
    x, y = T.dvectors("x", "y")
    return sw.graph.OpFromGraph([x, y], [(x * y).sum(), sw.exp(x)], inline, **options)


def op_names(f):
    return [str(node.op) for node in f.maker.fgraph.toposort()]


@INLINE
def test_op_computes_the_graph(inline, device):
    a, b = T.dvectors("ab")
    total, power = sum_and_exp_op(inline)(a, b * 2)
    f = sw.function([a, b], [total, power - 1], device=device)
    got = f(A, B)
    np.testing.assert_allclose(got[0].numpy(), (A * B * 2).sum())
    np.testing.assert_allclose(got[1].numpy(), np.exp(A) - 1)
    assert [str(r.device) for r in got] == [str(device)] * 2
    assert ("OpFromGraph" in op_names(f)) != inline


def test_inline_graph_is_fused_with_the_nodes_around_it():
    x = T.dvector("x")
    op = sw.graph.OpFromGraph([x], sw.exp(x) + 1, inline=True)
    f = sw.function([x], op(x * 2) * 3, device="cpu")
    assert len(op_names(f)) == 1 and "exp" in op_names(f)[0]
    np.testing.assert_allclose(f(A).numpy(), (np.exp(A * 2) + 1) * 3)


def test_nested_inline_op_is_expanded():
    x = T.dvector("x")
    inner = sw.graph.OpFromGraph([x], sw.exp(x), inline=True)
    outer = sw.graph.OpFromGraph([x], inner(x) + 1, inline=True)
    for mode in ("fast_run", "fast_compile", "debug"):
        f = sw.function([x], outer(x), device="cpu", mode=mode)
        assert not any("OpFromGraph" in name for name in op_names(f))
        np.testing.assert_allclose(f(A).numpy(), np.exp(A) + 1)


@INLINE
def test_gradient_matches_finite_differences(inline, device):
    op = sum_and_exp_op(inline)
    verify_grad(lambda a, b: op(a, b)[0] * op(b, a)[1], [A, B], device=device)
    verify_grad(lambda a, b: op(a, b)[1], [A, B], device=device)


@INLINE
def test_second_derivatives_match_finite_differences(inline, device):
    op = sum_and_exp_op(inline)
    verify_grad(lambda a, b: T.grad((op(a, b)[0] * op(a, b)[1]).sum(), a), [A, B], device=device)


def test_gradient_of_an_output_that_does_not_depend_on_an_input_is_disconnected():
    a, b = T.dvectors("ab")
    power = sum_and_exp_op()(a, b)[1]
    with pytest.raises(sw.GraphError, match="does not depend"):
        T.grad(power.sum(), b)
    assert T.grad(power.sum(), [a, b], return_disconnected="none")[1] is None


def test_undefined_derivative_is_an_error_only_where_it_is_needed():
    x, y = T.dvectors("xy")
    op = sw.graph.OpFromGraph([x, y], T.cumprod(x) * y)
    f = sw.function([x, y], T.grad(op(x, y).sum(), y), device="cpu")
    np.testing.assert_allclose(f(A, B).numpy(), np.cumprod(A))
    with pytest.raises(sw.GraphError, match=r"(?s)OpFromGraph.*Cumprod"):
        T.grad(op(x, y).sum(), x)


def twice_the_gradient(inputs, gradients):
    g = gradients[0]
    assert isinstance(gradients[1].type, DisconnectedType)
    return [2 * g * inputs[1], 2 * g * inputs[0]]


def minus_one(inputs, gradients):
    return -T.ones_like(inputs[1])


@INLINE
def test_grad_override_replaces_all_gradients(inline, device):
    a, b = T.dvectors("ab")
    op = sum_and_exp_op(inline, grad_overrides=twice_the_gradient)
    da, db = sw.function([a, b], T.grad(op(a, b)[0], [a, b]), device=device)(A, B)
    np.testing.assert_allclose(da.numpy(), 2 * B)
    np.testing.assert_allclose(db.numpy(), 2 * A)


def test_grad_override_of_one_input_leaves_others_at_default(device):
    a, b = T.dvectors("ab")
    op = sum_and_exp_op(grad_overrides=["default", minus_one])
    da, db = sw.function([a, b], T.grad(op(a, b)[0], [a, b]), device=device)(A, B)
    np.testing.assert_allclose(da.numpy(), B)
    np.testing.assert_array_equal(db.numpy(), [-1, -1, -1])


@INLINE
def test_shared_variables_of_the_graph_are_read_at_each_call_and_have_gradients(inline, device):
    x = T.dvector("x")
    w = sw.shared(B, "w", target=str(device))
    op = sw.graph.OpFromGraph([x], (x * w).sum(), inline)
    cost = op(x) ** 2
    f = sw.function([x], cost, updates={w: w - 0.1 * T.grad(cost, w)}, device=device)
    assert op.shared_inputs == [w]
    np.testing.assert_allclose(f(A).numpy(), (A * B).sum() ** 2)
    updated = B - 0.1 * 2 * (A * B).sum() * A
    np.testing.assert_allclose(w.get_value().numpy(), updated)
    np.testing.assert_allclose(f(A).numpy(), (A * updated).sum() ** 2)


def test_results_share_no_memory_with_arguments(device):
    x = T.dvector("x")
    op = sw.graph.OpFromGraph([x], [x, x[::-1]])
    f = sw.function([x], op(x), device=device, mode="debug")
    for got, expected in zip(f(A), (A, A[::-1]), strict=True):
        np.testing.assert_array_equal(got.numpy(), expected)


def test_equal_ops_on_equal_inputs_are_merged():
    x, y = T.dvectors("xy")
    first = sw.graph.OpFromGraph([x], sw.exp(x) + 1)
    second = sw.graph.OpFromGraph([y], sw.exp(y) + 1)
    different = sw.graph.OpFromGraph([y], sw.exp(y) + 2)
    assert first == second and hash(first) == hash(second) and first != different
    f = sw.function([x], first(x) * second(x) + different(x), device="cpu")
    assert op_names(f).count("OpFromGraph") == 2


@INLINE
def test_pickled_op_and_function_compute_the_same(inline):
    op = sum_and_exp_op(inline, grad_overrides=twice_the_gradient, name="pair")
    assert pickle.loads(pickle.dumps(op)) == op
    a, b = T.dvectors("ab")
    f = sw.function([a, b], T.grad(op(a, b)[0], [a, b]), device="cpu")
    f2 = pickle.loads(pickle.dumps(f))
    for got, expected in zip(f2(A, B), f(A, B), strict=True):
        np.testing.assert_array_equal(got.numpy(), expected.numpy())


def test_debugprint_shows_the_graph_once():
    x, a = T.dscalar("x"), T.dscalar("a")
    op = sw.graph.OpFromGraph([x], sw.exp(x) + 1, name="next")
    assert sw.printing.debugprint(op(op(a)), file="str") == (
        "OpFromGraph{next} [id A] ''   \n"
        " |OpFromGraph{next} [id B] ''   \n"
        "   |a [id C]\n"
        "\nInner graphs:\n"
        "\nOpFromGraph{next} [id A]\n"
        " >Add [id D] ''   \n"
        " > |Exp [id E] ''   \n"
        " > | |x [id F]\n"
        " > |TensorConstant{1.0} [id G]\n"
    )


def test_error_in_the_graph_names_its_node_and_the_op():
    x, y = T.dvectors("xy")
    op = sw.graph.OpFromGraph([x, y], x + y, name="total")
    f = sw.function([x, y], op(x, y), device="cpu")
    with pytest.raises(sw.Error, match=r"(?s)Add\(x, y\).*OpFromGraph\{total\}\(x, y\)"):
        f([1.0, 2.0], [1.0, 2.0, 3.0])


def test_output_extents_follow_from_the_applied_inputs():
    x = T.dmatrix("x")
    op = sw.graph.OpFromGraph([x], x.T @ x)
    assert op(T.tensor("float64", (5, 3))).type.shape == (3, 3)


@pytest.mark.parametrize(
    ("arguments_of", "error", "message"),
    [
        (lambda x, y: ([x], x + y), sw.GraphError, "depend on y of .*; list it"),
        (lambda x, y: ([x, x], x), sw.GraphError, "x is listed twice"),
        (lambda x, y: ([x, T.constant(1.0)], x), sw.GraphError, r"inputs\[1\].*without a value"),
        (lambda x, y: ([x, 1.0], x), TypeError, r"inputs\[1\]: expected a variable, got 1.0"),
        (lambda x, y: ([x], x, False, [1, 2]), sw.GraphError, "each of 1 inputs, got 2"),
        (lambda x, y: ([x], x, False, ["other"]), TypeError, "got 'other'"),
    ],
)
def test_wrong_definition_is_an_error(arguments_of, error, message):
    x, y = T.dvectors("xy")
    with pytest.raises(error, match=message):
        sw.graph.OpFromGraph(*arguments_of(x, y))


def test_wrong_number_or_type_of_inputs_raises():
    op = sum_and_exp_op()
    with pytest.raises(sw.GraphError, match="expected 2 inputs, got 1"):
        op(A)
    with pytest.raises(sw.GraphError, match=r"input 1 must be of float64 and rank 1, got .*cast"):
        op(A, T.fvector())
