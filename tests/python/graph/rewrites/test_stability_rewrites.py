# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Rewrites for numerical stability."""

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor

#: Without fusion, so that programs show the single operations.
NOT_FUSED = sw.Mode("fast_run").excluding("fuse")


def ops(f):
    return [str(node.op).partition("[")[0] for node in f.maker.fgraph.toposort()]


LARGE = np.array([-800.0, -40.0, -1.0, 0.0, 1.0, 40.0, 800.0])

#: (expression of x, its values by NumPy, the ops that are left of it or None for any).
STABLE = {
    "sigmoid": (lambda x: 1 / (1 + T.exp(-x)), lambda x: 1 / (1 + np.exp(-x)), ["Sigmoid"]),
    "sigmoid reversed": (lambda x: 1 / (T.exp(x) + 1), lambda x: 1 / (1 + np.exp(x)), None),
    "sigmoid by quotient": (
        lambda x: T.exp(x) / (1 + T.exp(x)),
        lambda x: 1 / (1 + np.exp(-x)),
        None,
    ),
    "sigmoid by reciprocal": (
        lambda x: sw.reciprocal(1 + T.exp(-x)),
        lambda x: 1 / (1 + np.exp(-x)),
        ["Sigmoid"],
    ),
    "log of sigmoid": (lambda x: T.log(1 / (1 + T.exp(-x))), lambda x: -np.logaddexp(0, -x), None),
    "log of 1 - sigmoid": (
        lambda x: T.log(1 - 1 / (1 + T.exp(-x))),
        lambda x: -np.logaddexp(0, x),
        ["Softplus", "Negative"],
    ),
    "log1p of -sigmoid": (lambda x: sw.log1p(-sw.sigmoid(x)), lambda x: -np.logaddexp(0, x), None),
    "log of 1 + exp": (lambda x: T.log(1 + T.exp(x)), lambda x: np.logaddexp(0, x), ["Softplus"]),
    "log1p of exp": (lambda x: sw.log1p(T.exp(x)), lambda x: np.logaddexp(0, x), ["Softplus"]),
    "log of 1 + x": (lambda x: T.log(1 + x * x * 1e-20), lambda x: np.log1p(x * x * 1e-20), None),
    "log of 1 - x": (lambda x: T.log(1 - x * x * 1e-20), lambda x: np.log1p(-x * x * 1e-20), None),
    "exp - 1": (lambda x: T.exp(x * 1e-20) - 1, lambda x: np.expm1(x * 1e-20), None),
    "1 - exp": (lambda x: 1 - T.exp(x * 1e-20), lambda x: -np.expm1(x * 1e-20), None),
    "log of exp": (lambda x: T.log(T.exp(x)), lambda x: x, []),
    "log of softmax": (lambda x: T.log(T.softmax(x)), lambda x: x - x.max(), None),
    "log of a sum": (lambda x: T.log(T.exp(x).sum()), lambda x: x.max(), None),
    "square": (lambda x: x**2, lambda x: x * x, ["Square"]),
    "first power": (lambda x: x**1, lambda x: x, []),
    "root": (lambda x: (x * x) ** 0.5, np.abs, ["Multiply", "Sqrt"]),
    "inverse": (lambda x: (x + 900) ** -1, lambda x: 1 / (x + 900), ["Add", "Reciprocal"]),
    "negative twice": (lambda x: sw.negative(-x), lambda x: x, []),
}


@pytest.mark.parametrize("name", STABLE)
def test_a_function_is_computed_without_overflow_or_cancellation(name, device):
    expression, expected, remaining_ops = STABLE[name]
    x = T.dvector("x")
    f = sw.function([x], expression(x), mode=NOT_FUSED, device=device)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(f(LARGE).numpy(), expected(LARGE), rtol=1e-13)
    if remaining_ops is not None:
        assert ops(f) == remaining_ops


@pytest.mark.parametrize("name", STABLE)
def test_derivative_is_finite(name, device):
    x = T.dvector("x")
    f = sw.function([x], T.grad(STABLE[name][0](x).sum(), x), device=device, mode="fast_compile")
    points = LARGE[LARGE != 0] if name == "root" else LARGE  # a root has no derivative at 0
    assert np.isfinite(f(points).numpy()).all()


def test_float64_constant_in_a_float32_sigmoid_gives_float64():
    x = T.fvector("x")
    f = sw.function([x], 1 / (np.float64(1) + T.exp(-x)))
    assert f(np.float32([0.0])).dtype == "float64" and f([0.0]).tolist() == [0.5]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_log_of_a_sum_of_exp_along_axes_does_not_overflow(axis, keepdims, device):
    values = np.array([[1000.0, 999.0, -5.0], [-2000.0, -2001.0, -np.inf]])
    x = T.dmatrix("x")
    cost = T.log(T.exp(x).sum(axis=axis, keepdims=keepdims))
    f = sw.function([x], [cost, T.grad(cost.sum(), x)], device=device)
    value, derivative = (result.numpy() for result in f(values))
    top = values.max(axis=axis, keepdims=True)
    powers = np.exp(values - top)
    expected = np.log(powers.sum(axis=axis, keepdims=True)) + top
    np.testing.assert_allclose(value, expected.reshape(value.shape))
    np.testing.assert_allclose(derivative, powers / powers.sum(axis=axis, keepdims=True))


def test_log_of_a_sum_of_exp_of_infinities_is_infinite(device):
    x = T.dvector("x")
    f = sw.function([x], T.log(T.exp(x).sum()), device=device)
    assert f([-np.inf, -np.inf]).item() == -np.inf and f([np.inf, 0.0]).item() == np.inf


def test_cross_entropy_of_logistic_regression_is_finite(device):
    z, y = T.fvector("z"), T.fvector("y")
    p = 1 / (1 + T.exp(-z))
    xent = -y * T.log(p) - (1 - y) * T.log(1 - p)
    f = sw.function([z, y], [xent, T.grad(xent.sum(), z)], device=device)
    points = np.float32([-1000, -100, -20, 0, 20, 100, 1000])
    for label in (0, 1):
        got, derivative = (r.numpy() for r in f(points, np.full(7, label, "float32")))
        wide = points.astype("float64")
        np.testing.assert_allclose(got, np.logaddexp(0, wide * (1 - 2 * label)), 1e-6, 1e-43)
        with np.errstate(over="ignore"):
            np.testing.assert_allclose(derivative, 1 / (1 + np.exp(-wide)) - label, atol=1e-6)


def test_debug_mode_takes_results_that_rewrites_make_finite(device):
    x = T.fvector("x")
    f = sw.function([x], T.log(1 - 1 / (1 + T.exp(-x))), mode="debug", device=device)
    np.testing.assert_allclose(f([-200.0, 0.0, 200.0]), [0, -np.log(2), -200], atol=1e-30)


#: A matrix of logits far apart, and views of a matrix with the same in NumPy.
LOGITS = np.array([[800.0, -800.0, 3.0], [0.0, 1.0, -2000.0]])
VIEWS = {
    "index": lambda p: p[:, 1],
    "negative step": lambda p: p[::-1, ::2],
    "rows and columns": lambda p: p[[0, 1, 1], [1, 2, 0]],
    "transposed": lambda p: p.T,
    "transposed and indexed": lambda p: p.T[1:],
    "reshaped": lambda p: p.reshape((3, 2)),
    "reshaped and indexed": lambda p: p.reshape((6,))[1:5],
    "scaled": lambda p: 0.25 * p,
    "divided": lambda p: p / 8.0,
    "scaled view": lambda p: (p * 0.5)[1:].T * 4.0,
    "view of a scaled view": lambda p: (p.T * 0.5)[1:],
}
MODES = ["fast_run", "fast_compile"]


def log_softmax_of(x):
    top = x.max(axis=1, keepdims=True)
    return x - top - np.log(np.exp(x - top).sum(axis=1, keepdims=True))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", VIEWS)
def test_log_of_a_view_of_softmax_is_finite(name, mode, device):
    view, x = VIEWS[name], T.dmatrix("x")
    logarithm = T.log(view(T.softmax(x)))
    f = sw.function([x], [logarithm, T.grad(logarithm.sum(), x)], mode=mode, device=device)
    value, derivative = (r.numpy() for r in f(LOGITS))
    factor = np.log(np.max(view(np.ones((2, 3)))))
    np.testing.assert_allclose(value, view(log_softmax_of(LOGITS)) * _unscaled(view) + factor)
    weights = np.zeros((2, 3))
    places = view(np.arange(1.0, 7).reshape(2, 3)) * _unscaled(view)
    np.add.at(weights.reshape(-1), places.astype(int).ravel() - 1, 1)
    softmax = np.exp(log_softmax_of(LOGITS))
    expected = weights - softmax * weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(derivative, expected, atol=1e-12)


def _unscaled(view):
    """The inverse of the constant factor of a view."""
    return 1 / np.max(view(np.ones((2, 3))))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", VIEWS)
def test_log_of_a_view_of_sigmoid_is_finite(name, mode, device):
    view, x = VIEWS[name], T.dmatrix("x")
    logarithms = [T.log(view(sw.sigmoid(x)))]
    factors = [np.log(np.max(view(np.ones((2, 3)))))]
    expected = [view(-np.logaddexp(0, -LOGITS)) * _unscaled(view) + factors[0]]
    if "caled" not in name and name != "divided":
        logarithms += [T.log(1 - view(sw.sigmoid(x))), T.log(1 + view(T.exp(x)))]
        expected += [view(-np.logaddexp(0, LOGITS)), view(np.logaddexp(0, LOGITS))]
    derivatives = [T.grad(y.sum(), x) for y in logarithms]
    f = sw.function([x], [*logarithms, *derivatives], mode=mode, device=device)
    results = [r.numpy() for r in f(LOGITS)]
    for got, wanted in zip(results, expected, strict=False):
        np.testing.assert_allclose(got, wanted, atol=1e-300)
    assert all(np.isfinite(r).all() for r in results)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("target", ["classes", "one-hot"])
def test_cross_entropy_of_saturated_softmax_is_finite(target, dtype, mode, device):
    x = T.matrix("x", dtype=dtype)
    y = T.ivector("y")
    p = T.softmax(x)
    if target == "classes":
        cost, labels = -T.log(p[T.arange(y.shape[0]), y]).mean(), np.array([1, 0], "int32")
    else:
        y = T.matrix("y", dtype=dtype)
        cost, labels = -(y * T.log(p)).sum(axis=1).mean(), np.array([[0, 1], [1, 0]], dtype)
    f = sw.function([x, y], [cost, T.grad(cost, x)], mode=mode, device=device)
    value, derivative = f(np.array([[120, -120], [0, 0]], dtype), labels)
    np.testing.assert_allclose(float(value.item()), (240 + np.log(2)) / 2, rtol=2e-3)
    np.testing.assert_allclose(
        derivative.numpy().astype(float), [[0.5, -0.5], [-0.25, 0.25]], atol=1e-3
    )


@pytest.mark.parametrize("mode", MODES)
def test_other_logarithms_of_exponentials_are_finite(mode, device):
    x = T.dmatrix("x")
    p = T.softmax(x)
    rows = log_softmax_of(LOGITS)
    top = LOGITS.max(axis=1)
    sums = top + np.log(np.exp(LOGITS - top[:, None]).sum(axis=1))
    cases = {
        "log2": (sw.log2(p), rows / np.log(2)),
        "log10": (sw.log10(p.T), rows.T / np.log(10)),
        "mean": (T.log(T.exp(x).mean(axis=1)), sums - np.log(3)),
        "sum of a view": (T.log(T.exp(x)[:, ::-1].sum(axis=1)), sums),
        "view of a sum": (T.log(2 * T.exp(x).sum(axis=1)[::-1]), np.log(2) + sums[::-1]),
        "two": (T.log(T.exp(x[0]) + T.exp(x[1])), np.logaddexp(*LOGITS)),
        "quotient": (T.log(T.exp(x) / (1 + T.exp(x))), -np.logaddexp(0, -LOGITS)),
        "narrower": (T.log(T.cast(p, "float32")), rows.astype("float32")),
    }
    outputs = [expression for expression, _ in cases.values()]
    outputs += [T.grad(T.cast(y.sum(), "float64"), x) for y in outputs]
    results = [r.numpy() for r in sw.function([x], outputs, mode=mode, device=device)(LOGITS)]
    for name, got in zip(cases, results, strict=False):
        np.testing.assert_allclose(got, cases[name][1], rtol=1e-6, atol=1e-300, err_msg=name)
    assert all(np.isfinite(r).all() for r in results)


#: Ops whose result consists of elements of several values: (the op on p, an array of other values
#: and NumPy's or Spanwise's functions, the same of log(p) and the others' logarithms or None where
#: that is the op itself).
CHOOSES = np.eye(2, 3) > 0
JOINS = {
    "concatenate": (lambda m, p, other: m.concatenate([p, other, p], axis=1), None),
    "stack": (lambda m, p, other: m.stack([p, other]), None),
    "where": (lambda m, p, other: m.where(CHOOSES, p, other), None),
    "where of a number": (
        lambda m, p, other: m.where(CHOOSES, p, 1.0),
        lambda y: np.where(CHOOSES, y, 0.0),
    ),
    "where of itself": (lambda m, p, other: m.where(CHOOSES, p, p[::-1]), None),
    "maximum": (lambda m, p, other: m.maximum(p, p[::-1]), None),
    "fmin": (lambda m, p, other: m.fmin(p, p[:, ::-1]), None),
    "max": (lambda m, p, other: p.max(axis=0), None),
    "min": (lambda m, p, other: p.min(axis=1), None),
    "clip": (lambda m, p, other: m.clip(p, 0.0, 0.5), lambda y: np.minimum(y, np.log(0.5))),
    "absolute": (lambda m, p, other: abs(p), lambda y: y),
    "square": (lambda m, p, other: p**2, lambda y: 2 * y),
    "root": (lambda m, p, other: p**0.5, lambda y: y / 2),
    "power": (lambda m, p, other: p**2.5, lambda y: 2.5 * y),
    "reciprocal": (lambda m, p, other: 1 / p, lambda y: -y),
    "product": (lambda m, p, other: p * p[::-1], lambda y: y + y[::-1]),
    "weighted": (lambda m, p, other: p * other, lambda y: y + np.log(OTHERS)),
    "quotient": (lambda m, p, other: other / p, lambda y: np.log(OTHERS) - y),
    "prod": (lambda m, p, other: p.prod(axis=1), lambda y: y.sum(axis=1)),
    "sum": (lambda m, p, other: p[:, 1:].sum(axis=1), lambda y: np.logaddexp(y[:, 1], y[:, 2])),
    "two terms": (
        lambda m, p, other: p[0] + 0.5 * p[1],
        lambda y: np.logaddexp(y[0], y[1] + np.log(0.5)),
    ),
}
OTHERS = np.array([[0.5, 2.0, 7.0], [1.0, 3.0, 0.25]])
PROBABILITIES = {
    "softmax": (T.softmax, log_softmax_of),
    "sigmoid": (sw.sigmoid, lambda x: -np.logaddexp(0, -x)),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", PROBABILITIES)
@pytest.mark.parametrize("name", JOINS)
def test_log_of_joined_probabilities_is_finite(name, kind, mode, device):
    op, expected = JOINS[name]
    probability, logarithm_of = PROBABILITIES[kind]
    x, other = T.dmatrix("x"), T.dmatrix("other")
    logarithm = T.log(op(T, probability(x), other))
    f = sw.function(
        [x, other],
        [logarithm, T.grad(logarithm.sum(), x)],
        mode=mode,
        device=device,
        on_unused_input="ignore",
    )
    value, derivative = (result.numpy() for result in f(LOGITS, OTHERS))
    y = logarithm_of(LOGITS)
    wanted = op(np, y, np.log(OTHERS)) if expected is None else expected(y)
    np.testing.assert_allclose(value, wanted, rtol=1e-12, atol=1e-12)
    assert np.isfinite(derivative).all() and derivative.any()


@pytest.mark.parametrize("mode", MODES)
def test_log_of_assigned_probabilities_is_finite(mode, device):
    x, other = T.dmatrix("x"), T.dmatrix("other")
    p = sw.sigmoid(x)
    outputs = [
        T.log(T.set_subtensor(T.zeros_like(T.concatenate([x, x]))[1:3], p)),
        T.log(T.set_subtensor(p[0], other[0])),
        T.log(T.set_subtensor(other[:, 1], p[:, 0])),
        T.log(T.ifelse(T.gt(x[0, 0], 0), p, other)),
        T.log(1 - T.concatenate([p, other / 8])),
    ]
    outputs += [T.grad(y.sum(), x) for y in outputs]
    results = [
        r.numpy()
        for r in sw.function([x, other], outputs, mode=mode, device=device)(LOGITS, OTHERS)
    ]
    y = -np.logaddexp(0, -LOGITS)
    first, third = np.log(OTHERS), np.log(OTHERS)
    third[:, 1] = y[:, 0]
    with np.errstate(divide="ignore"):
        edge = np.log(np.zeros((1, 3)))
    expected = [
        np.concatenate([edge, y, edge]),
        np.stack([first[0], y[1]]),
        third,
        y,
        np.concatenate([-np.logaddexp(0, LOGITS), np.log(1 - OTHERS / 8)]),
    ]
    for got, wanted in zip(results, expected, strict=False):
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-300)
    assert all(np.isfinite(r).all() for r in results[5:])


def test_log_of_values_that_are_not_chosen_has_no_derivative(device):
    x, y = T.dvector("x"), T.dvector("y")
    joined = T.where(T.gt(y, 0), y, sw.sigmoid(x))
    filled = T.set_subtensor(y[:1], sw.sigmoid(x)[:1])
    costs = [
        T.log(joined).sum(),
        T.log(T.where(T.gt(y, 0), sw.sigmoid(x), y + 3)).sum(),
        T.log(filled).sum(),
    ]
    outputs = [T.grad(cost, z, disconnected_inputs="ignore") for cost in costs for z in (x, y)]
    results = [
        r.tolist() for r in sw.function([x, y], outputs, device=device)([-800.0, 2.0], [0.0, 2.0])
    ]
    inner = 1 / (1 + np.exp(2.0))
    expected = [[1, 0], [0, 0.5], [0, inner], [1 / 3, 0], [1, 0], [0, 0.5]]
    np.testing.assert_allclose(results, expected, rtol=1e-12)


def test_log_of_compared_numbers_that_may_be_negative_is_not_rewritten(device):
    x, y = T.dvector("x"), T.dvector("y")
    outputs = [
        T.log(T.maximum(sw.sigmoid(x), y)),
        T.log(T.clip(sw.sigmoid(x), -1.0, 0.25)),
        T.log(T.where(T.gt(y, 0), sw.sigmoid(x), y) * T.where(T.gt(y, 0), sw.sigmoid(x), y)),
    ]
    results = sw.function([x, y], outputs, device=device)([0.0, 0.0], [-3.0, 4.0])
    expected = [[0.5, 4.0], [0.25, 0.25], [9.0, 0.25]]
    for got, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(got.numpy(), np.log(wanted))


def test_log_of_a_negative_factor_is_no_number(device):
    x, k = T.dvector("x"), T.dscalar("k")
    outputs = [T.log(-2.0 * sw.sigmoid(x)), T.log(T.exp(x) / k), T.log(T.exp(x) / k / k)]
    results = [r.numpy() for r in sw.function([x, k], outputs, device=device)([1.0], -2.0)]
    assert np.isnan(results[0]).all() and np.isnan(results[1]).all()
    np.testing.assert_allclose(results[2], 1 - np.log(4))
