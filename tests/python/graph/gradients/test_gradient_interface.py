# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""grad, Lop and Rop: their arguments and errors."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from support.tree import ROOT

import spanwise as sw
from spanwise.gradient import Lop, Rop, grad, verify_grad

T = sw.tensor


def evaluate(derivatives, values, device="cpu"):
    result = sw.function([], derivatives, givens=values, device=device)()
    return [r.numpy() for r in result] if isinstance(result, list) else result.numpy()


def test_one_variable_gives_one_derivative_and_a_list_gives_a_list():
    x, y = T.dvectors("x", "y")
    cost = (x * y).sum()
    assert T.grad(cost, x).ndim == 1
    assert len(T.grad(cost, [x, y])) == 2
    assert len(T.grad(cost, (x,))) == 1


def test_derivatives_are_named_after_cost_and_variable():
    x = T.dvector("x")
    cost = (x * x).sum()
    cost.name = "cost"
    assert T.grad(cost, x).name == "(dcost/dx)"
    assert T.grad(cost, x, add_names=False).name is None


def test_wrt_may_be_a_shared_variable_or_a_variable_inside_the_graph(device):
    w = sw.shared(np.array([1.0, 2.0]), "w")
    x = T.dvector("x")
    inner = x * w
    dw, dinner = T.grad((inner * inner).sum(), [w, inner])
    got = sw.function([x], [dw, dinner], device=device)([3.0, 5.0])
    np.testing.assert_array_equal(got[0].numpy(), [18, 100])
    np.testing.assert_array_equal(got[1].numpy(), [6, 20])


def test_derivative_with_respect_to_the_cost_is_one():
    x = T.dscalar("x")
    cost = x * 2
    assert evaluate(T.grad(cost, cost), {x: np.array(3.0)}) == 1


def test_second_derivative_of_a_cube_is_six_times_its_argument(device):
    x = T.dscalar("x")
    second = T.grad(T.grad(x**3, x), x)
    assert sw.function([x], second, device=device)(2.0) == 12


def test_no_derivative_passes_through_constants():
    x = T.dvector("x")
    square = x * x
    cost = (square * x).sum()
    got = evaluate(T.grad(cost, x, consider_constant=[square]), {x: np.array([2.0, 3.0])})
    np.testing.assert_array_equal(got, [4, 9])
    marked = (T.consider_constant(x * x) * x).sum()
    np.testing.assert_array_equal(evaluate(T.grad(marked, x), {x: np.array([2.0, 3.0])}), [4, 9])


def test_known_grads_replace_the_cost(device):
    x = T.dvector("x")
    y = x * x
    got = sw.function([x], grad(None, x, known_grads={y: [1.0, 10.0]}), device=device)([2.0, 3.0])
    np.testing.assert_array_equal(got.numpy(), [4, 60])


def test_known_grads_are_added_to_the_cost():
    x = T.dvector("x")
    y = x * x
    got = grad(y.sum(), x, known_grads={x: np.array([100.0, 200.0])})
    np.testing.assert_array_equal(evaluate(got, {x: np.array([2.0, 3.0])}), [104, 206])


def test_a_disconnected_variable_is_an_error_that_names_it():
    x, y = T.dvector("x"), T.dvector("weights")
    with pytest.raises(sw.GraphError, match="does not depend on weights.*disconnected_inputs"):
        T.grad(x.sum(), y)


def made_in_this_test(name):
    """A pattern for the end of a message: where the variable was made."""
    return rf"(.|\n)*{name} was made here:\n(.|\n)*test_gradient_interface.py\", line"


def test_errors_name_the_line_that_made_the_variable():
    x, weights = T.dvector("x"), T.dvector("weights")
    inside = weights * 2
    inside.name = "inside"
    for variable in (weights, inside):
        with pytest.raises(sw.GraphError, match=made_in_this_test(variable.name)):
            T.grad(x.sum(), variable)
    with pytest.warns(UserWarning, match=made_in_this_test("weights")):
        T.grad(x.sum(), weights, disconnected_inputs="warn")
    with pytest.raises(sw.GraphError, match="neither an input" + made_in_this_test("weights")):
        sw.function([x], x + weights)
    with pytest.raises(sw.GraphError, match="no output needs" + made_in_this_test("weights")):
        sw.function([x, weights], x)
    with pytest.warns(UserWarning, match=made_in_this_test("weights")):
        sw.function([x, weights], x, on_unused_input="warn")


def test_disconnected_inputs_ignore_gives_zeros_and_warn_warns():
    x, y = T.dvector("x"), T.dvector("y")
    zeros = T.grad(x.sum(), y, disconnected_inputs="ignore")
    np.testing.assert_array_equal(evaluate(zeros, {y: np.array([2.0, 3.0])}), [0, 0])
    with pytest.warns(UserWarning, match="does not depend on y"):
        T.grad(x.sum(), y, disconnected_inputs="warn")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert T.grad(x.sum(), [y], return_disconnected="none") == [None]


def test_cost_that_reads_only_the_shape_of_a_variable_does_not_depend_on_it():
    x, y = T.dvector("x"), T.dvector("y")
    cost = (x * y.shape[0]).sum()
    with pytest.raises(sw.GraphError, match="does not depend on y"):
        T.grad(cost, y)
    assert evaluate(T.grad(cost, x), {x: np.ones(2), y: np.ones(3)}).tolist() == [3, 3]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x, i: T.grad(x * 2, x), sw.GraphError, r"cost of rank 0.*sum\(\) or mean\(\)"),
        (lambda x, i: T.grad(i.sum(), x), sw.DTypeError, "cost of a floating dtype"),
        (lambda x, i: T.grad((x * i).sum(), i), sw.DTypeError, "floating dtypes, got i .*cast"),
        (lambda x, i: T.grad(None, x), sw.GraphError, "known_grads"),
        (lambda x, i: T.grad(3.0, x), TypeError, "cost as a variable, got 3.0"),
        (lambda x, i: T.grad(x.sum(), "x"), TypeError, "wrt: expected variables, got 'x'"),
        (lambda x, i: T.grad(x.sum(), x, consider_constant=[3]), TypeError, "constant: .*got 3"),
        (
            lambda x, i: T.grad(x.sum(), x, disconnected_inputs="no"),
            sw.ArgumentError,
            '"ignore", got "no"',
        ),
        (
            lambda x, i: grad(None, x, known_grads={x * 2: np.ones((2, 2))}),
            sw.GraphError,
            "derivative of rank 2",
        ),
        (lambda x, i: Lop([x, x], x, [x]), sw.GraphError, "2 variables and 1 eval_points"),
    ],
)
def test_error_of_a_wrong_argument_of_grad_names_it(call, error, text):
    with pytest.raises(error, match=text):
        call(T.dvector("x"), T.ivector("i"))


def test_lop_is_the_row_times_the_jacobian(device):
    x, v = T.dvectors("x", "v")
    f = sw.function([x, v], Lop(x * x, x, v), device=device)
    np.testing.assert_array_equal(f([1.0, 2.0], [10.0, 100.0]).numpy(), [20, 400])


def test_rop_is_the_jacobian_times_the_column(device):
    rng = np.random.default_rng(0)
    w, x, v = T.dmatrix("w"), T.dvector("x"), T.dvector("v")
    f = sw.function([w, x, v], Rop(T.tanh(w @ x), x, v), device=device)
    weights, point, column = rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=4)
    expected = (1 - np.tanh(weights @ point) ** 2) * (weights @ column)
    np.testing.assert_allclose(f(weights, point, column).numpy(), expected)


def test_rop_of_several_outputs_with_open_extents_is_a_list():
    x, v = T.dmatrix("x"), T.dmatrix("v")
    total, square = Rop([x.sum(), x * x], x, v)
    values = {x: np.array([[1.0, 2.0]]), v: np.array([[10.0, 100.0]])}
    got = evaluate([total, square], values)
    assert got[0] == 110
    np.testing.assert_array_equal(got[1], [[20, 400]])


def test_complex_variables_are_refused():
    z = T.zvector("z")
    with pytest.raises(sw.GraphError, match="complex"):
        T.grad(T.abs(z * z).sum(), z)


SQUARES = """
__global__ void squares(const T *x, T *y, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * x[i];
}"""

SQUARES_GRADIENT = """
__global__ void squares_gradient(const T *x, const T *dy, T *dx, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) dx[i] = 2 * x[i] * dy[i];
}"""


def squares(grad):
    return sw.kernel_op(
        "squares",
        SQUARES,
        "x: contiguous T[n]",
        "y: contiguous T[n]",
        arguments=["x", "y", "n"],
        grad=grad,
    )


def squares_gradient(gradient_parameter="dy: contiguous T[n]"):
    return sw.kernel_op(
        "squares_gradient",
        SQUARES_GRADIENT,
        ["x: contiguous T[n]", gradient_parameter],
        "dx: contiguous T[n]",
        arguments=["x", gradient_parameter.split(":")[0], "dx", "n"],
    )


def gradient_of_squares(inputs, gradients):
    return [2 * inputs[0] * gradients[0]]


@pytest.mark.parametrize("kind", ["callable", "kernel"])
def test_gradient_of_a_kernel_op_equals_finite_differences_also_after_pickling(kind, device):
    op = squares(gradient_of_squares if kind == "callable" else {"x": squares_gradient()})
    verify_grad(lambda x: op(x) * x, [np.array([1.0, -2.0, 3.0])], device=device)
    unpickled = pickle.loads(pickle.dumps(op))
    verify_grad(lambda x: unpickled(x) * x, [np.array([1.0, -2.0, 3.0])], device=device)


def test_kernel_op_without_a_gradient_names_the_argument():
    x = T.dvector("x")
    with pytest.raises(sw.GraphError, match="squares.*grad="):
        T.grad(squares(None)(x).sum(), x)
    with pytest.raises(sw.GraphError, match="grad= has no entry for x"):
        T.grad(squares({})(x).sum(), x)


@pytest.mark.parametrize(
    ("grad", "text"),
    [
        (3, "expected a function or a dict"),
        ({"y": squares_gradient()}, "'y'.*inputs: x"),
        ({"x": 3}, "expected an op"),
        ({"x": squares_gradient("g: contiguous T[n]")}, "'g'.*expected x, y or dy"),
    ],
)
def test_error_of_a_wrong_gradient_of_a_kernel_op_names_it(grad, text):
    with pytest.raises((sw.ArgumentError, TypeError), match=text):
        squares(grad)


def test_example_of_logistic_regression_runs(tmp_path, device):
    example = ROOT / "examples" / "06_logistic_regression.py"
    command = [
        sys.executable,
        example,
        "--steps",
        "120",
        "--device",
        str(device),
        "--out",
        "curve.png",
    ]
    completed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr
    assert "after 100 steps: largest relative difference" in completed.stdout
    assert "sigmoid(" in completed.stdout and "120 steps in" in completed.stdout
