# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""sw.jax_op: ops of Spanwise as functions of JAX."""

import numpy as np
import pytest
from bridges.framework_ops import SumAndDifference, cube, power_of_sum, scale_rows, scaled

import spanwise as sw

T = sw.tensor

jax = pytest.importorskip("jax", reason="jax is not installed")
jnp = jax.numpy


@pytest.fixture(autouse=True)
def on_the_device(device):
    with sw.device(device):
        yield


@pytest.fixture
def x64():
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


def random(*shape, dtype="float32"):
    return jnp.asarray(np.random.default_rng(1).standard_normal(shape), dtype)


def assert_close(value, expected):
    assert value.dtype == expected.dtype
    np.testing.assert_allclose(np.asarray(value), np.asarray(expected), rtol=2e-6)


def test_op_computes_under_jit_and_vmap():
    op, x = sw.jax_op(cube()), random(6)
    result = op(x)
    assert isinstance(result, jax.Array) and op.__name__ == "cube"
    assert_close(result, x**3)
    assert_close(jax.jit(op)(x), x**3)
    rows = random(3, 4)
    assert_close(jax.vmap(op)(rows), rows**3)
    assert_close(jax.jit(jax.vmap(jax.vmap(op)))(rows[None]), rows[None] ** 3)
    assert_close(op(np.arange(3, dtype="float32")), jnp.arange(3.0) ** 3)
    assert op(jnp.ones(3, "bfloat16")).dtype == "bfloat16"


def test_gradient_computes_under_jit_vmap_and_jacrev():
    op, x = sw.jax_op(cube()), random(6)
    gradient = jax.grad(lambda v: op(v * 2).sum())
    assert_close(gradient(x), 24 * x**2)
    assert_close(jax.jit(gradient)(x), 24 * x**2)
    rows = random(3, 6)
    assert_close(jax.vmap(gradient)(rows), 24 * rows**2)
    assert_close(jax.jacrev(op)(x), jnp.diag(3 * x**2))
    value, pull_back = jax.vjp(op, x)
    assert_close(value, x**3)
    assert_close(pull_back(x)[0], 3 * x**3)


def test_op_with_several_inputs_and_outputs_has_values_and_gradients():
    op, x, by = sw.jax_op(scale_rows()), random(3, 4), random(3)
    assert_close(op(x.T.T, by), x * by[:, None])
    dx, dby = jax.grad(lambda x, by: (op(x, by) ** 2).sum(), argnums=(0, 1))(x, by)
    assert_close(dx, 2 * x * by[:, None] ** 2)
    assert_close(dby, (2 * x**2 * by[:, None]).sum(1))
    # The gradient of one input of two, then a batch of that input.
    assert_close(jax.grad(lambda by: op(x, by).sum())(by), x.sum(1))
    assert_close(
        jax.vmap(op, in_axes=(None, 0))(x, jnp.stack([by, -by])),
        jnp.stack([1, -1])[:, None, None] * op(x, by),
    )
    both = sw.jax_op(SumAndDifference(), outputs=2)
    total, difference = both(x, x)
    assert_close(total, 2 * x)
    assert not difference.any()
    # The cotangent of the other output is zero.
    assert_close(jax.grad(lambda a: both(a, x)[0].sum())(x), jnp.ones_like(x))


def test_op_of_an_element_body_broadcasts_and_takes_a_gradient():
    x, y = random(3, 1), random(4)
    for op in (sw.jax_op(power_of_sum()), jax.jit(sw.jax_op(power_of_sum()))):
        total, difference = op(x, y)
        assert_close(total, (x + y) ** 2)
        assert_close(difference, x - y)

    def gradient(inputs, g):
        doubled = 2 * (inputs[0] + inputs[1]) * g[0]
        return [T.sum(doubled + g[1], axis=1, keepdims=True), T.sum(doubled - g[1], axis=0)]

    for op in (
        sw.jax_op(power_of_sum(grad=gradient)),
        sw.jax_op(power_of_sum(), grad=gradient),
    ):
        dx, dy = jax.grad(lambda x, y: op(x, y)[0].sum(), argnums=(0, 1))(x, y)  # noqa: B023
        assert_close(dx, (2 * (x + y)).sum(1, keepdims=True))
        assert_close(dy, (2 * (x + y)).sum(0))


@pytest.fixture
def compiled():
    """The events of JAX's compiler during a test."""
    events = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, duration, **_: events.append(event) if "compile" in event else None
    )
    yield events
    jax.monitoring.clear_event_listeners()


def test_calls_without_jit_compile_once(compiled):
    op, x, y = sw.jax_op(scale_rows()), random(3, 4), random(3)
    gradient = jax.grad(lambda x, y: op(x, y).sum())
    calls = (op, gradient, jax.vmap(op), jax.vmap(gradient))
    arguments = ((x, y), (x, y), (x[None], y[None]), (x[None], y[None]))
    for call, values in zip(calls, arguments, strict=True):
        call(*values)
        assert compiled
        compiled.clear()
        for _ in range(3):
            call(*values)
        assert not compiled, call
    # Another device compiles for itself, another dtype raises its own error.
    with sw.device("cpu"):
        assert_close(op(x, y), x * y[:, None])
    with pytest.raises(sw.DTypeError, match="scale_rows: input by"):
        op(x, jnp.arange(3))


def test_integers_have_no_derivative():
    largest = sw.jax_op(
        lambda x: (T.max(x, axis=1), T.argmax(x, axis=1).astype("int32")), outputs=2
    )
    x = random(3, 4)
    indices = jax.jit(largest)(x)[1]
    assert indices.dtype == "int32"
    np.testing.assert_array_equal(indices, x.argmax(1))
    assert_close(jax.grad(lambda x: largest(x)[0].sum())(x), jax.nn.one_hot(x.argmax(1), 4))
    take = sw.ElementwiseKernel("raw T x, int32 k", "T z", "z = x[k]", "take")
    op = sw.jax_op(take, grad=lambda inputs, g: [inputs[0] * T.sum(g[0]), None])
    k = jnp.array([2, 1])
    assert_close(jax.grad(lambda v: op(v, k).sum())(x[0]), 2 * x[0])
    dx, dk = jax.vjp(op, x[0], k)[1](op(x[0], k))
    assert dx.dtype == "float32" and dk.dtype == jax.dtypes.float0


def test_gradient_function_replaces_that_of_the_op():
    x = random(4)
    op = sw.jax_op(cube(), grad=lambda inputs, g: [inputs[0] * g[0]])
    assert_close(jax.grad(lambda v: op(v).sum())(x), x)


def test_outputs_have_64_bits_with_x64(x64):
    op = sw.jax_op(lambda x: T.argmax(x, axis=0))
    x = random(4, dtype="float64")
    assert op(x).dtype == "int64"
    assert_close(sw.jax_op(cube())(x), x**3)
    assert_close(jax.grad(lambda v: sw.jax_op(cube())(v).sum())(x), 3 * x**2)


def test_outputs_of_64_bits_raise_without_x64():
    op = sw.jax_op(lambda x: T.argmax(x, axis=0))
    with pytest.raises(sw.DTypeError, match="got int64 for output 0.*jax_enable_x64.*cast"):
        op(random(4))


def test_unsuitable_inputs_and_missing_gradients_raise():
    op, x = sw.jax_op(scale_rows()), random(3, 4)
    for call in (op, jax.jit(op)):
        with pytest.raises(ValueError, match="scale_rows: input by, axis 0: expected extent h = 3"):
            call(x, x[0, :2])
        with pytest.raises(sw.DTypeError, match="scale_rows: input by"):
            call(x, jnp.arange(3))
    product = sw.jax_op(scaled())
    assert_close(product(x, x), x * x)
    with pytest.raises(sw.GraphError, match="no derivative of scaled"):
        jax.grad(lambda v: product(v, x).sum())(x)
    partly = sw.jax_op(
        scaled(),
        grad=lambda inputs, g: [
            g[0] * inputs[1],
            sw.gradient.grad_undefined("scaled", 1, inputs[1]),
        ],
    )
    assert_close(jax.grad(lambda v: partly(v, x).sum())(x), x)
    with pytest.raises(sw.GraphError, match="jax_op: scaled: input by has no derivative"):
        jax.grad(lambda v: partly(x, v).sum())(x)
    with pytest.raises(TypeError, match="jax_op: expected an op.*got 3"):
        sw.jax_op(3)
    with pytest.raises(
        sw.ArgumentError, match="jax_op: .*expected parameters that name the inputs"
    ):
        sw.jax_op(sw.ops.exp)


def test_derivative_that_would_draw_other_random_numbers_raises():
    streams, x = T.RandomStreams(1), random(3)

    def noise(x):
        return streams.normal(x.shape, dtype="float32")

    added = sw.jax_op(lambda x: x + noise(x))
    assert_close(jax.grad(lambda v: added(v).sum())(x), jnp.ones(3))
    dropout = sw.jax_op(lambda x: x * noise(x))
    with pytest.raises(sw.GraphError, match="jax_op: .*derivative depends on a random draw"):
        jax.grad(lambda v: dropout(v).sum())(x)


def test_many_pending_calls_give_their_own_results():
    op = sw.jax_op(cube())
    step = jax.jit(lambda x: op(op(x) * 0.5) + 1)
    pending = [step(jnp.full((200_000,), float(i % 3))) for i in range(40)]
    for i, result in enumerate(pending):
        assert (result == ((i % 3) ** 3 * 0.5) ** 3 + 1).all()
