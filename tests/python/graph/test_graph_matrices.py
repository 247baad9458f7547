# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges, diagonals, products, repetitions and ifelse of variables, against NumPy."""

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor
RNG = np.random.default_rng(0)


def evaluate(expression, values, device):
    return sw.function(list(values), expression, device=device, on_unused_input="ignore")(
        *values.values()
    ).numpy()


@pytest.mark.parametrize(
    ("numbers", "dtype"),
    [
        ((5,), None),
        ((2, 9), None),
        ((9, 2, -3), None),
        ((0.5, 3, 0.25), None),
        ((4,), "float32"),
        ((3, 1), None),
    ],
)
def test_arange_of_numbers_and_of_variables_equals_numpy(numbers, dtype, device):
    expected = np.arange(*numbers, dtype=dtype)
    fixed = T.arange(*numbers, dtype=dtype)
    assert fixed.type.shape == expected.shape
    got = evaluate(fixed, {}, device)
    np.testing.assert_array_equal(got, expected)
    assert got.dtype == expected.dtype
    variables = {
        T.scalar(f"n{i}", dtype="float64" if isinstance(n, float) else "int64"): n
        for i, n in enumerate(numbers)
    }
    got = evaluate(T.arange(*variables, dtype=dtype), variables, device)
    np.testing.assert_array_equal(got, expected)


def test_arange_refuses_a_step_of_zero_and_variables_with_axes():
    n = T.lscalar("n")
    with pytest.raises(ValueError, match="step is 0"):
        sw.function([n], T.arange(0, 3, n))(0)
    with pytest.raises(sw.GraphError, match="rank 0"):
        T.arange(T.vector("v"))


@pytest.mark.parametrize(("n", "m", "k"), [(3, None, 0), (2, 4, 1), (4, 2, -1), (0, 3, 0)])
def test_eye_equals_numpy(n, m, k, device):
    np.testing.assert_array_equal(evaluate(T.eye(n, m, k), {}, device), np.eye(n, m, k))


@pytest.mark.parametrize("k", [-2, -1, 0, 1, 2])
def test_triangles_and_diagonals_equal_numpy(k, device):
    x, v = T.dmatrix("x"), T.dvector("v")
    for shape in [(3, 4), (4, 3)]:
        a = RNG.normal(size=shape)
        np.testing.assert_array_equal(evaluate(T.tril(x, k), {x: a}, device), np.tril(a, k))
        np.testing.assert_array_equal(evaluate(T.triu(x, k), {x: a}, device), np.triu(a, k))
        np.testing.assert_array_equal(evaluate(T.diag(x, k), {x: a}, device), np.diag(a, k))
    b = RNG.normal(size=3)
    np.testing.assert_array_equal(evaluate(T.diag(v, k), {v: b}, device), np.diag(b, k))


@pytest.mark.parametrize("axes", [0, 1, 2, ([1, 2], [0, 1]), ([0], [2]), (0, 2), ([-1, 0], [1, 2])])
def test_tensordot_equals_numpy(axes, device):
    a, b = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(3, 4, 2))
    if axes in (1, 2):
        b = RNG.normal(size=(4, 5) if axes == 1 else (3, 4, 5))
    x = T.tensor("float64", (None,) * 3, "x")
    y = T.tensor("float64", (None,) * b.ndim, "y")
    got = evaluate(T.tensordot(x, y, axes), {x: a, y: b}, device)
    np.testing.assert_allclose(got, np.tensordot(a, b, axes))


def test_tensordot_refuses_axes_that_a_variable_lacks():
    with pytest.raises(sw.ArgumentError, match="tensordot: shape-mismatch"):
        T.tensordot(T.dmatrix(), T.dmatrix(), ([5], [0]))


def test_outer_and_batched_dot_equal_numpy(device):
    x, y = T.dmatrix("x"), T.dvector("y")
    a, b = RNG.normal(size=(2, 3)), RNG.normal(size=4)
    np.testing.assert_array_equal(evaluate(T.outer(x, y), {x: a, y: b}, device), np.outer(a, b))
    p, q = T.dtensor3("p"), T.dtensor3("q")
    c, d = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 4, 5))
    np.testing.assert_allclose(evaluate(T.batched_dot(p, q), {p: c, q: d}, device), c @ d)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_repeat_equals_numpy(axis, device):
    x, n = T.dmatrix("x"), T.lscalar("n")
    a = RNG.normal(size=(2, 3))
    expected = np.repeat(a, 3, axis)
    np.testing.assert_array_equal(evaluate(T.repeat(x, 3, axis), {x: a}, device), expected)
    np.testing.assert_array_equal(evaluate(T.repeat(x, n, axis), {x: a, n: 3}, device), expected)


@pytest.mark.parametrize("reps", [2, (2,), (1, 2), (2, 1, 3), (2, 0)])
def test_tile_equals_numpy(reps, device):
    x = T.dmatrix("x")
    a = RNG.normal(size=(2, 3))
    np.testing.assert_array_equal(evaluate(T.tile(x, reps), {x: a}, device), np.tile(a, reps))


def test_shape_padding_adds_axes_of_extent_one():
    x = T.dmatrix("x")
    assert T.shape_padleft(x, 2).type.shape[:2] == (1, 1) and T.shape_padleft(x, 2).ndim == 4
    assert T.shape_padright(x).type.shape[2] == 1


@pytest.mark.parametrize(
    "function",
    [
        T.tril,
        T.diag,
        lambda x: T.repeat(x, 2, 0),
        lambda x: T.tile(x, 2),
        lambda x: T.outer(x, x),
        lambda x: T.tensordot(x, x, ([0, 1], [0, 1])),
    ],
)
def test_derivatives_equal_central_differences(function, device):
    T.verify_grad(function, [RNG.normal(size=(2, 3))], device=device, n_tests=1)


class Fails(sw.Op):
    __props__ = ()

    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        raise AssertionError("computed")


def test_ifelse_computes_only_the_chosen_branch(device):
    c, x, y = T.iscalar("c"), T.dvector("x"), T.dvector("y")
    f = sw.function([c, x, y], T.ifelse(c, x * 2, Fails()(y)), device=device)
    assert f(1, [1.0, 2.0], [5.0]).tolist() == [2, 4]
    with pytest.raises(AssertionError, match="computed"):
        f(0, [1.0, 2.0], [5.0])
    g = sw.function([c, x, y], T.ifelse(c > 1, Fails()(x), y + 1), device=device)
    assert g(1, [1.0, 2.0], [5.0]).tolist() == [6]


def test_ifelse_has_derivatives_and_checks_its_branches(device):
    c, x, y = T.iscalar("c"), T.dvector("x"), T.dvector("y")
    cost = T.ifelse(c, x * x, y * 3).sum()
    f = sw.function([c, x, y], T.grad(cost, [x, y]), device=device)
    assert [r.tolist() for r in f(1, [3.0], [4.0])] == [[6], [0]]
    assert [r.tolist() for r in f(0, [3.0], [4.0])] == [[0], [3]]
    with pytest.raises(sw.GraphError, match="one dtype and rank"):
        T.ifelse(c, x, T.fvector())
    with pytest.raises(sw.GraphError, match="condition of rank 0"):
        T.ifelse(x, x, x)


@pytest.mark.parametrize("mode", ["fast_run", "fast_compile", "debug"])
def test_ifelse_results_do_not_share_memory_with_inputs(mode, device):
    c, x = T.iscalar("c"), T.dvector("x")
    f = sw.function([c, x], T.ifelse(c, x, x + 1), device=device, mode=mode)
    value = sw.array([1.0, 2.0], device=device)
    result = f(1, value)
    result[...] = 7
    assert value.tolist() == [1, 2] and f(0, value).tolist() == [2, 3]


def test_as_op_calls_a_function_and_has_the_given_gradient(device):
    matrix = T.dmatrix().type

    @sw.graph.as_op([matrix], [matrix], grad=lambda inputs, g: [2 * inputs[0] * g[0]])
    def squared(x):
        return x.numpy() ** 2

    x = T.dmatrix("x")
    f = sw.function([x], [squared(x), T.grad(squared(x).sum(), x)], device=device)
    assert [r.tolist() for r in f([[3.0]])] == [[[9]], [[6]]]
    assert str(squared) == "FromFunctionOp{squared}"
    with pytest.raises(sw.GraphError, match=r"input 0 must be of TensorType\(float64, matrix\)"):
        squared(T.dvector())


def test_as_op_checks_types_and_the_number_of_results():
    with pytest.raises(TypeError, match="expected types"):
        sw.graph.as_op(["float32"], T.dvector().type)(abs)
    two_outputs = sw.graph.as_op([T.dvector().type], [T.dvector().type] * 2)(lambda x: [x])
    x = T.dvector("x")
    with pytest.raises(sw.GraphError, match="expected 2 results, got 1"):
        sw.function([x], two_outputs(x))([1.0])


def test_function_of_arrays_refuses_a_variable_with_a_remedy():
    with pytest.raises(sw.BridgeError, match=r"got a variable of a graph; spanwise\.tensor has"):
        sw.roll(T.dvector("x"), 1)


def test_zeros_like_keeps_the_extents_that_the_type_fixes():
    assert T.zeros_like(T.tensor("float32", (3, None))).type.shape == (3, None)


def test_repeat_by_a_vector_matches_numpy_and_has_a_derivative(device):
    x, counts = T.dmatrix("x"), T.ivector("counts")
    value, times = np.arange(6.0).reshape(3, 2), np.array([2, 0, 1], "int32")
    repeated = T.repeat(x, counts, axis=-2)
    f = sw.function([x, counts], [repeated, T.repeat(x, [1, 0, 2, 1, 1, 3])], device=device)
    for got, expected in zip(
        f(value, times),
        [np.repeat(value, times, 0), np.repeat(value, [1, 0, 2, 1, 1, 3])],
        strict=True,
    ):
        np.testing.assert_array_equal(got.numpy(), expected)
    slope = sw.function([x, counts], T.grad((repeated * repeated).sum(), x), device=device)
    np.testing.assert_array_equal(slope(value, times).numpy(), 2 * value * times[:, None])


def test_tile_adds_axes_and_ifelse_takes_lists(device):
    x, c = T.dvector("x"), T.iscalar("c")
    f = sw.function(
        [x, c], [T.tile(x, 2, ndim=3), *T.ifelse(c, (x, x + 1), (x + 2, x + 3))], device=device
    )
    tiled, first, second = f([1.0, 2.0], 0)
    assert tiled.numpy().tolist() == [[[1, 2, 1, 2]]]
    assert (first.tolist(), second.tolist()) == ([3, 4], [4, 5])
