# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The derivative of every op of graphs, against central differences in float64."""

import numpy as np
import pytest

import spanwise as sw
from spanwise.gradient import verify_grad

T = sw.tensor
RNG = np.random.default_rng(3)
MATRIX = RNG.uniform(0.2, 0.8, (2, 3))
MATRIX_2 = RNG.uniform(0.2, 0.8, (2, 3))
ROW = RNG.uniform(1.2, 1.8, (3,))
CUBE = RNG.uniform(-1, 1, (2, 3, 4))

#: Elementwise ops without a derivative: their results are bool or integers, or steps.
DISCRETE = {
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "logical_not",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "invert",
    "left_shift",
    "right_shift",
    "isnan",
    "isinf",
    "isfinite",
    "signbit",
    "nextafter",
}
#: Values for ops that are not defined or not differentiable everywhere between the values of MATRIX.
RANGES = {"arccosh": (MATRIX + 1.5,), "arctan2": (MATRIX - 0.5, MATRIX_2)}


def elementwise_ops():
    ufuncs = {v.__name__ for v in vars(sw).values() if isinstance(v, sw.ufunc)}
    registered = set(dir(sw.ops))
    return sorted(n for n in ufuncs if n in registered and n not in DISCRETE)


@pytest.mark.parametrize("name", elementwise_ops())
def test_elementwise_derivative_equals_central_differences(name, device):
    op = getattr(sw, name)
    points = RANGES.get(name, (MATRIX, MATRIX_2, ROW)[: op.nin])
    verify_grad(op, points, n_tests=1, device=device)


OPS = {
    "broadcast row": (lambda a, b: a * b, [MATRIX, ROW]),
    "affine": (
        lambda a, b, c: sw.graph.apply_registered("affine", a, b, c, alpha=0.5, beta=-2.0),
        [MATRIX, MATRIX.T, ROW[:1]],
    ),
    "broadcast both": (lambda a, b: a[:, None] * b, [ROW, MATRIX[:1, :2]]),
    "scalar": (lambda a, b: a * b, [MATRIX, np.array(0.7)]),
    "same operand twice": (lambda a: a * a + a, [MATRIX]),
    "power of constant": (lambda a: a**3, [MATRIX]),
    "square by power": (lambda a: a**2, [CUBE]),
    "root by power": (lambda a: a**0.5, [MATRIX]),
    "clip": (lambda a, lo, hi: T.clip(a, lo, hi), [CUBE, np.array(-0.4), np.array(0.5)]),
    "angle": (lambda a: sw.angle(a) + a, [CUBE]),
    "where": (lambda a, b: T.where(MATRIX > 0.5, a, b), [MATRIX, ROW]),
    "sum": (lambda a: a.sum(), [CUBE]),
    "sum axis": (lambda a: a.sum(axis=1), [CUBE]),
    "sum axes keepdims": (lambda a: a.sum(axis=(0, 2), keepdims=True), [CUBE]),
    "mean": (lambda a: a.mean(axis=0), [CUBE]),
    "prod": (lambda a: a.prod(axis=2), [CUBE]),
    "var": (lambda a: a.var(axis=1), [CUBE]),
    "std": (lambda a: a.std(axis=(0, 1), ddof=1), [CUBE]),
    "max": (lambda a: a.max(axis=2), [CUBE]),
    "min": (lambda a: a.min(), [CUBE]),
    "ptp": (lambda a: T.ptp(a, axis=1), [CUBE]),
    "nansum": (lambda a: T.nansum(a, axis=0), [CUBE]),
    "cumsum": (lambda a: T.cumsum(a, axis=1), [CUBE]),
    "vector dot vector": (lambda a, b: T.dot(a, b), [ROW, ROW * 2]),
    "matrix dot vector": (lambda a, b: T.dot(a, b), [MATRIX, ROW]),
    "vector dot matrix": (lambda a, b: T.dot(a, b), [ROW[:2], MATRIX]),
    "matrix dot matrix": (lambda a, b: T.dot(a, b), [MATRIX, CUBE[0]]),
    "stacked matrices": (lambda a, b: T.matmul(a, b), [CUBE, CUBE[:1].swapaxes(1, 2)]),
    "vector times stacked": (lambda a, b: T.matmul(a, b), [ROW, CUBE]),
    "stacked times vector": (lambda a, b: T.matmul(a, b), [CUBE, CUBE[0, 0]]),
    "dimshuffle": (lambda a: a.dimshuffle(2, "x", 0, 1), [CUBE]),
    "transpose": (lambda a: a.T * 2, [CUBE]),
    "squeeze": (lambda a: a[:1].squeeze(0), [CUBE]),
    "reshape": (lambda a: a.reshape(4, -1), [CUBE]),
    "flatten": (lambda a: a.flatten(2), [CUBE]),
    "broadcast_to": (lambda a: T.broadcast_to(a, (4, 2, 3)), [MATRIX]),
    "concatenate": (lambda a, b: T.concatenate([a, b, a], axis=1), [MATRIX, MATRIX[:, :2]]),
    "stack": (lambda a, b: T.stack([a, b]), [MATRIX, MATRIX_2]),
    "subtensor": (lambda a: a[1, ::-1, 1:3], [CUBE]),
    "index array": (lambda a: a[:, np.array([0, 2, 0])], [MATRIX]),
    "mask": (lambda a: a[MATRIX > 0.5], [MATRIX]),
    "take": (lambda a: T.take(a, np.array([[1, 0], [1, 1]]), axis=1), [CUBE]),
    "set_subtensor": (lambda a, b: T.set_subtensor(a[0, 1:], b), [CUBE, ROW[:1]]),
    "inc_subtensor": (lambda a, b: T.inc_subtensor(a[np.array([0, 0])], b), [MATRIX, ROW]),
    "softmax": (lambda a: T.softmax(a), [MATRIX]),
    "log_softmax": (lambda a: T.log_softmax(a), [MATRIX]),
    "sum_to": (lambda a, b: T.grad(((a * b) ** 2).sum(), b), [MATRIX, ROW]),
    "contiguous": (lambda a: T.contiguous(a.T), [MATRIX]),
}


@pytest.mark.parametrize("name", OPS)
def test_derivative_equals_central_differences(name, device):
    function, points = OPS[name]
    verify_grad(function, points, n_tests=1, device=device)


@pytest.mark.parametrize("zeros", [(), (1,), (1, 3)])
def test_derivative_of_a_product_with_zeros_is_the_product_of_the_others(zeros, device):
    values = np.array([2.0, 3.0, 5.0, 7.0])
    values[list(zeros)] = 0
    x = T.dvector("x")
    got = sw.function([x], T.grad(x.prod(), x), device=device)(values).numpy()
    np.testing.assert_array_equal(got, [np.prod(np.delete(values, i)) for i in range(4)])


def test_derivative_of_a_power_is_finite_at_zero(device):
    x, y = T.dvectors("x", "y")
    f = sw.function([x, y], T.grad((x**y).sum(), [x, y]), device=device)
    dx, dy = (a.numpy() for a in f([0.0, 0.0, 2.0], [0.0, 2.0, 0.0]))
    np.testing.assert_array_equal(dx, [0, 0, 0])
    np.testing.assert_allclose(dy, [0, 0, np.log(2)])


def test_equal_maxima_share_the_derivative(device):
    x = T.dvector("x")
    f = sw.function([x], T.grad(x.max(), x), device=device)
    np.testing.assert_array_equal(f([3.0, 1.0, 3.0]).numpy(), [0.5, 0, 0.5])


@pytest.mark.parametrize("shape", [(1, 3), (2, 1), (1, 1), (2, 3)])
def test_unknown_extents_equal_to_one_are_summed(shape, device):
    x, y = T.dmatrices("x", "y")
    f = sw.function([x, y], T.grad((x * y).sum(), [x, y]), device=device)
    a, b = RNG.uniform(size=shape), RNG.uniform(size=(2, 3))
    dx, dy = (value.numpy() for value in f(a, b))
    axes = tuple(i for i in range(2) if shape[i] == 1)
    np.testing.assert_allclose(dx, b.sum(axis=axes, keepdims=True) if axes else b)
    np.testing.assert_allclose(dy, np.broadcast_to(a, (2, 3)))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_derivative_has_the_dtype_of_its_variable(dtype, device):
    x, y = T.vector("x", dtype=dtype), T.dvector("y")
    derivative = T.grad((x * y).sum(), x)
    assert derivative.dtype == dtype and derivative.ndim == 1
    got = sw.function([x, y], derivative, device=device)(np.ones(2, dtype), [0.5, 2.0])
    assert got.dtype == dtype and got.tolist() == [0.5, 2.0]


#: Read on import, before tests load further ops.
REGISTERED = set(dir(sw.ops))
#: Registered ops without a derivative: results that are bool, integers or only shapes, and cumprod.
WITHOUT_DERIVATIVE = DISCRETE | {
    "arange",
    "all",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "cumprod",
    "shape",
}
#: Ops whose derivatives other tests evaluate, in test_op_gradients.py, test_graph_matrices.py, tests/addons/collectives
#: and below.
TESTED_ELSEWHERE = {
    "cast",
    "collective",
    "ifelse",
    "consider_constant",
    "disconnected_grad",
    "transfer",
}


def test_each_registered_op_has_a_tested_derivative_or_is_listed_as_having_none():
    tested = set(elementwise_ops())
    for function, points in OPS.values():
        output = function(*(T.tensor("float64", p.shape) for p in points))
        for node in sw.graph.ancestors([output]):
            tested.add(node.op.recipe[0])
    assert REGISTERED - tested - WITHOUT_DERIVATIVE - TESTED_ELSEWHERE == set()


def test_derivative_passes_through_a_transfer(device):
    x = T.dvector("x")
    f = sw.function([x], T.grad((x.transfer("cpu:1") ** 2).sum(), x), device=device)
    assert f([1.0, 2.0]).tolist() == [2, 4]
