# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The rewrite "linear": sums of products become affine nodes."""

import numpy as np
import pytest
from support.graphs import op_names

import spanwise as sw

T = sw.tensor
RNG = np.random.default_rng(5)


def affine_names(f):
    return [name for name in op_names(f) if name.startswith("Affine")]


def checked_function(inputs, output, arrays, device="cpu"):
    """The compiled function, after a check that its result equals that without rewrites."""
    options = {"device": device, "on_unused_input": "ignore"}
    f = sw.function(inputs, output, **options)
    plain = sw.function(inputs, output, mode="fast_compile", **options)
    np.testing.assert_allclose(f(*arrays).numpy(), plain(*arrays).numpy(), rtol=1e-5, atol=1e-5)
    return f


def random(*shape, dtype="float32"):
    return RNG.standard_normal(shape).astype(dtype)


def test_gradient_step_becomes_one_product(device):
    x, g, w = T.fmatrix("x"), T.fvector("g"), T.fvector("w")
    step = w - 0.01 * (T.dot(x.T, g) + 0.02 * w)
    f = checked_function([x, g, w], step, [random(40, 30), random(40), random(30)], device)
    assert affine_names(f) == ["Affine{alpha=-0.01, beta=0.9998}"]
    assert len(op_names(f)) == 2  # the other one is the transposed view
    debug = sw.function([x, g, w], step, device=device, mode="debug")
    assert np.isfinite(debug(random(4, 3), random(4), random(3)).numpy()).all()


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (lambda a, b, c: 2 * T.dot(a, b), ["Affine{alpha=2, beta=1}"]),
        (lambda a, b, c: c - T.dot(a, b) / 4, ["Affine{alpha=-0.25, beta=1}"]),
        (lambda a, b, c: -(T.dot(a, b) - c) * 3, ["Affine{alpha=-3, beta=3}"]),
        (lambda a, b, c: T.dot(a, b) + 0.5 * T.dot(b, a), ["Affine{alpha=1, beta=1}", "Affine{alpha=0.5, beta=1}[(0, 2)]"]),
        (lambda a, b, c: T.dot(a, b) + c + 0.5 * T.dot(b, a) + c, ["Affine{alpha=1, beta=2}", "Affine{alpha=0.5, beta=1}[(0, 2)]"]),
        (lambda a, b, c: T.dot(a, b) + c[0], ["Affine{alpha=1, beta=1}"]),
    ],
)  # fmt: skip
def test_sum_with_products_becomes_affine_nodes(device, expression, expected):
    variables = [T.fmatrix(n) for n in "abc"]
    f = checked_function(
        variables, expression(*variables), [random(5, 5) for _ in range(3)], device
    )
    assert affine_names(f) == expected


@pytest.mark.parametrize(
    "expression",
    [
        lambda a, b, c: T.dot(a, b),
        lambda a, b, c: a + 2 * c,
        lambda a, b, c: T.dot(a, b) + b + c,  # as many passes over memory as before
        lambda a, b, c: T.tanh(T.dot(a, b) + c),  # part of one elementwise pass
        lambda a, b, c: T.dot(a, b) + c - c,  # c may be infinite
        lambda a, b, c: T.dot(a, b) * c,
        lambda a, b, c: T.dot(a, b) + T.cast(c, "float64"),
    ],
)
def test_expressions_that_an_affine_node_does_not_shorten_stay(expression):
    variables = [T.fmatrix(n) for n in "abc"]
    f = checked_function(variables, expression(*variables), [random(5, 5) for _ in range(3)])
    assert affine_names(f) == []


def test_product_that_is_read_elsewhere_is_computed_once():
    a, b, c = (T.fmatrix(n) for n in "abc")
    product = T.dot(a, b)
    f = sw.function([a, b, c], [product, product + c])
    assert affine_names(f) == [] and op_names(f).count("Matmul") == 1


def test_products_of_integers_are_not_rewritten():
    a, b, c = (T.imatrix(n) for n in "abc")
    f = sw.function([a, b, c], T.dot(a, b) * 2 - c)
    assert affine_names(f) == []


def test_open_extents_of_1_are_broadcast(device):
    a, b, c = (T.fmatrix(n) for n in "abc")
    f = sw.function([a, b, c], c - 0.5 * T.dot(a, b), device=device)
    assert len(affine_names(f)) == 1
    for shapes in (((1, 3), (3, 4), (5, 4)), ((5, 3), (3, 4), (1, 4)), ((5, 3), (3, 1), (5, 4)),
                   ((0, 3), (3, 4), (1, 4)), ((5, 0), (0, 4), (5, 4))):  # fmt: skip
        x, y, z = (random(*shape) for shape in shapes)
        np.testing.assert_allclose(f(x, y, z).numpy(), z - 0.5 * (x @ y), rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match="broadcast"):
        f(random(5, 3), random(3, 4), random(2, 4))


def test_update_of_a_shared_variable_keeps_its_old_value_until_the_call_ends(device):
    w = sw.shared(random(30), "w", target=device)
    x, g = T.fmatrix("x"), T.fvector("g")
    first, a, b = w.get_value().numpy(), random(40, 30), random(40)
    step = sw.function([x, g], w.sum(), updates={w: w - 0.1 * T.dot(x.T, g)}, device=device)
    assert len(affine_names(step)) == 1
    np.testing.assert_allclose(step(a, b).numpy(), first.sum(), rtol=1e-4)
    np.testing.assert_allclose(w.get_value().numpy(), first - 0.1 * (a.T @ b), rtol=1e-4, atol=1e-5)
