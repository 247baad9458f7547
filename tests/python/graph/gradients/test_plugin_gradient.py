# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of ops of loaded libraries (sw_op.gradient_op), and libraries of interface 1.1. The ops
and the inputs of their gradient_op are declared in tests/python/graph/plugins/gradient_ops.cpp."""

import pickle

import numpy as np
import pytest
from python.graph.plugins.compile_plugin import SOURCES, compile_plugin

import spanwise as sw

T = sw.tensor


@pytest.fixture(scope="session")
def derived(tmp_path_factory):
    library = tmp_path_factory.mktemp("derived") / "libderived.so"
    return sw.load_ops(compile_plugin("g++ -std=c++20", SOURCES / "gradient_ops.cpp", library))


def test_gradient_op_gets_the_declared_inputs(derived, device):
    # product_gradient gets (ds, dz, x, y) and computes (dy, dx): neither is the default order.
    x, y = T.dvectors("x", "y")
    z, s = derived.product(x, y, factor=3.0)
    rng = np.random.default_rng(5)
    a, b, u, v = rng.standard_normal((4, 30))
    dx, dy = T.grad((z * u).sum() + (s * v).sum(), [x, y])
    got = sw.function([x, y], [dx, dy], device=device)(a[::-1], b)
    np.testing.assert_allclose(got[0].numpy(), 3 * b * u + v, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(got[1].numpy(), 3 * a[::-1] * u + v, rtol=1e-13, atol=1e-13)


def test_output_without_influence_has_the_derivative_zero(derived, device):
    x, y = T.dvectors("x", "y")
    total = derived.product(x, y)[1]
    f = sw.function([x, y], T.grad((total * total).sum(), [x, y]), device=device)
    for g in f([1.0, 2.0], [5.0, -3.0]):
        assert g.numpy().tolist() == [12.0, -2.0]


def test_second_derivatives_and_rop_come_from_gradient_ops(derived, device):
    rng = np.random.default_rng(6)
    a, b, p, q = rng.standard_normal((4, 12))
    for output in (0, 1):
        sw.gradient.verify_grad(
            lambda x, y, output=output: derived.product(x, y, factor=2.0)[output], [a, b], rng=rng
        )
        sw.gradient.verify_grad(
            lambda x, y, output=output: T.grad(
                (derived.product(x, y, factor=2.0)[output] ** 3).sum(), [x, y]
            )[0],
            [a, b],
            rng=rng,
        )
    x, y = T.dvectors("x", "y")
    z, s = sw.gradient.Rop(
        derived.product(x, y, factor=2.0), [x, y], [T.constant(p), T.constant(q)]
    )
    got = sw.function([x, y], [z, s], device=device)(a, b)
    np.testing.assert_allclose(got[0].numpy(), 2 * (a * q + p * b), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(got[1].numpy(), p + q, rtol=1e-13, atol=1e-13)


def test_inputs_that_gradient_op_leaves_out_are_undefined(derived):
    x, y = T.dvectors("x", "y")
    z = derived.half(x, y)
    f = sw.function([x, y], T.grad(z.sum(), y), device="cpu")
    assert f([2.0, 3.0], [7.0, 7.0]).tolist() == [2.0, 3.0]
    with pytest.raises(
        sw.GraphError, match="half.* input 0: the op that computes its derivatives leaves it out"
    ):
        T.grad(z.sum(), x)


def test_error_names_the_op_without_gradient_op(derived):
    x = T.dvector("x")
    z = derived.product_second(*[x] * 8, factor=1.0)[0]
    with pytest.raises(
        sw.GraphError,
        match=r"product_second.*declares no gradient .OpInfo::gradient(.|\n)*test_error_names_the_op_without_gradient_op",
    ):
        T.grad(z.sum(), x)


def test_function_of_a_gradient_survives_pickling(derived):
    x, y = T.dvectors("x", "y")
    f = sw.function([x, y], T.grad(derived.product(x, y, factor=4.0)[0].sum(), x), device="cpu")
    assert pickle.loads(pickle.dumps(f))([1.0], [3.0]).tolist() == [12.0]


def test_ops_with_an_element_body_are_fused(derived, device):
    x = T.dvector("x")
    f = sw.function([x], T.sqrt(derived.parabola(x, scale=0.1) + 1), device=device)
    names = [str(node.op) for node in f.maker.fgraph.toposort()]
    assert len(names) == 1 and "derived.parabola(i0)" in names[0]
    alone = sw.function([x], derived.parabola(x, scale=0.1), device=device)
    values = np.random.default_rng(7).standard_normal(700)
    for vector in (values, values[::-3], values[:0]):
        expected = 0.1 * vector * vector
        np.testing.assert_allclose(alone(vector).numpy(), expected, rtol=1e-14)
        np.testing.assert_allclose(f(vector).numpy(), np.sqrt(expected + 1), rtol=1e-14)


def test_library_of_interface_1_1_computes_and_has_no_gradient(tmp_path):
    library = tmp_path / "libof_1_1.so"
    old = sw.load_ops(compile_plugin("gcc -std=c99", SOURCES / "ops_1_1.c", library))
    x = T.dvector("x")
    f = sw.function([x], old.increment(x), device="cpu")
    assert f(np.arange(6.0)[::-2]).tolist() == [6.0, 4.0, 2.0]
    with pytest.raises(
        sw.GraphError,
        match=r"declares no gradient .OpInfo::gradient in C.., sw_op.gradient_op in C.",
    ):
        T.grad(old.increment(x).sum(), x)
