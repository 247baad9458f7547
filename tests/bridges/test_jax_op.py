# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""sw.jax_op: ops of Spanwise as functions of JAX."""

import os

import numpy as np
import pytest
from bridges.framework_ops import TEN_OPS, SumAndDifference, cube, power_of_sum, scale_rows, scaled

import spanwise as sw

T = sw.tensor

jax = pytest.importorskip("jax", reason="jax is not installed")
jnp = jax.numpy
pytest.importorskip("jax.test_util")
pytest.importorskip("jax.export")


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


# ---- Derivatives of any order, forward and reverse ----


@pytest.mark.parametrize("name", TEN_OPS)
def test_derivatives_of_order_two_agree_with_differences(x64, name):
    function, shapes = TEN_OPS[name]
    inputs = [random(*shape, dtype="float64") for shape in shapes]
    jax.test_util.check_grads(sw.jax_op(function), inputs, order=2)
    jax.test_util.check_grads(jax.jit(sw.jax_op(function)), inputs, order=2)


def test_hessian_is_that_of_jax_by_all_four_ways():
    def mine(x):
        return T.sum(T.exp(x) * x)

    def theirs(x):
        return (jnp.exp(x) * x).sum()

    op, x = sw.jax_op(mine), random(4)
    expected = jax.hessian(theirs)(x)
    for outer in (jax.jacfwd, jax.jacrev):
        for inner in (jax.jacfwd, jax.jacrev):
            assert_close(outer(inner(op))(x), expected)
            assert_close(jax.jit(outer(inner(op)))(x), expected)
    assert_close(jax.grad(lambda x: jax.grad(op)(x).sum())(x), expected.sum(0))


def test_given_gradient_decides_in_forward_mode_too():
    op = sw.jax_op(lambda x: x**2, grad=lambda inputs, g: [10 * inputs[0] * g[0]])
    x, v = random(4), random(4) + 1
    assert_close(jax.jvp(op, (x,), (v,))[1], 10 * x * v)
    assert_close(jax.grad(lambda x: jax.grad(lambda x: op(x).sum())(x).sum())(x), 10 + 0 * x)


def test_forward_mode_of_a_kernel_whose_gradient_has_none_raises():
    with pytest.raises(sw.GraphError, match="no derivative of cube_gradient"):
        jax.jvp(sw.jax_op(cube()), (random(3),), (random(3),))


# ---- The calls ----


def test_vmap_makes_one_call_of_an_elementwise_op():
    op = sw.jax_op(lambda x, y: T.exp(x) * y)
    x, y = random(5, 4), random(4)
    batched = jax.vmap(op, in_axes=(0, None))
    assert_close(batched(x, y), jnp.exp(x) * y)
    assert_close(jax.vmap(op, in_axes=(1, None), out_axes=1)(x, x[:, 0]), jnp.exp(x) * x[:, :1])
    assert "scan" not in str(jax.make_jaxpr(batched)(x, y))
    gradient = jax.vmap(jax.grad(lambda x, y: op(x, y).sum(), argnums=(0, 1)), in_axes=(0, None))
    assert "scan" not in str(jax.make_jaxpr(gradient)(x, y))
    dx, dy = gradient(x, y)
    assert_close(dx, jnp.exp(x) * y)
    assert_close(dy, jnp.exp(x))
    # Ranks that differ, and axes of length 1, of a declared elementwise op.
    total, _ = jax.vmap(sw.jax_op(power_of_sum()), in_axes=(0, None))(x, jnp.ones((3, 1)))
    assert_close(total, jnp.broadcast_to((x[:, None, :] + 1) ** 2, (5, 3, 4)))
    assert "scan" in str(jax.make_jaxpr(jax.vmap(sw.jax_op(scale_rows())))(x[None], x[None, :, 0]))


def test_shard_map_computes_values_and_gradients():
    mesh = jax.make_mesh((1,), ("rows",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec
    op, x, by = sw.jax_op(scale_rows()), random(4, 3), random(4)
    for options in ({}, {"check_vma": False}):
        sharded = jax.shard_map(
            op, mesh=mesh, in_specs=(spec("rows"), spec()), out_specs=spec("rows"), **options
        )
        assert_close(jax.jit(sharded)(x, by), x * by[:, None])
        dx, dby = jax.grad(lambda x, by: sharded(x, by).sum(), argnums=(0, 1))(x, by)  # noqa: B023
        assert_close(dx, jnp.broadcast_to(by[:, None], x.shape))
        assert_close(dby, x.sum(1))


def test_dtypes_of_16_and_8_bits_pass_through():
    x = jnp.arange(6, dtype="bfloat16")
    assert_close(jax.jit(sw.jax_op(cube()))(x), x**3)
    half = jnp.arange(6, dtype="float16")
    assert_close(jax.jit(sw.jax_op(lambda x: x + x))(half), half + half)
    raw = sw.kernel_op(
        "bits",
        "__global__ void bits(const unsigned char *x, unsigned char *y, int n)"
        "{ for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] ^ 0x80; }",
        inputs="x: contiguous uint8[n]",
        outputs="y: contiguous uint8[n]",
    )
    assert jax.jit(sw.jax_op(raw))(jnp.arange(3, dtype="uint8")).tolist() == [128, 129, 130]
    for name in ("float8_e4m3fn", "float8_e5m2"):
        values = jnp.array([0.5, -2.0, 1.5], name)
        same = jax.jit(sw.jax_op(lambda x: x[::-1]))(values)
        assert same.dtype == name and same.astype("float32").tolist() == [1.5, -2.0, 0.5]


def test_scalars_empty_arrays_and_no_inputs_are_supported():
    op = sw.jax_op(lambda x: x * 2)
    assert op(3.0) == 6 and op(jnp.float32(3)).shape == ()
    assert op(jnp.ones((0, 3))).shape == (0, 3)
    assert_close(op(random(2, 3).T), random(2, 3).T * 2)


class Failing(sw.Op):
    __props__ = ()

    def make_node(self, x):
        x = sw.graph.as_variable(x)
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        raise RuntimeError("a message of the op")


def test_errors_while_the_op_runs_are_errors_of_jax():
    failing = sw.jax_op(Failing())
    for call in (failing, jax.jit(failing)):
        for _ in range(2):
            with pytest.raises(Exception, match="a message of the op"):
                jax.block_until_ready(call(random(3)))
    assert_close(sw.jax_op(cube())(random(3)), random(3) ** 3)  # JAX continues
    wrong = sw.jax_op(lambda x: x, grad=lambda inputs, g: [T.sum(g[0])])
    with pytest.raises(Exception, match="expected a result of float32 .*as the op declares"):
        jax.block_until_ready(jax.grad(lambda x: wrong(x).sum())(random(3)))


class Keeping(sw.Op):
    """Keeps its inputs and outputs, which live longer than XLA's buffers."""

    def __init__(self):
        self.kept = []

    def make_node(self, x):
        x = sw.graph.as_variable(x)
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] * 2
        self.kept += [inputs[0], output_storage[0][0]]


def test_arrays_that_a_python_op_keeps_stay_valid():
    op = Keeping()
    call = jax.jit(sw.jax_op(op))
    for i in range(4):
        assert (call(jnp.full(100_000, float(i))) == 2 * i).all()
    for i in range(4):
        assert (op.kept[2 * i].numpy() == i).all() and (op.kept[2 * i + 1].numpy() == 2 * i).all()


def test_memory_stays_flat_over_eager_calls():
    op, x = sw.jax_op(cube()), random(250_000)
    gradient = jax.grad(lambda v: op(v).sum())

    def resident():
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    for _ in range(20):
        op(x), gradient(x)
    before = resident()
    for _ in range(1000):
        result = op(x)
    for _ in range(100):
        result = gradient(x)
    result.block_until_ready()
    assert resident() - before < 20e6  # one array has 1 MB


def test_op_is_freed_with_the_programs_that_call_it():
    import gc
    import weakref

    op = lambda x: x * 2  # noqa: E731
    call = jax.jit(sw.jax_op(op))
    call(random(3))
    reference = weakref.ref(op)
    del op, call
    jax.clear_caches()
    gc.collect()
    assert reference() is None


def test_programs_cannot_be_stored_and_other_numbers_are_refused():
    checks = [jax.export.DisabledSafetyCheck.custom_call("spanwise_call")]
    with pytest.raises(NotImplementedError, match="host_callbacks"):
        jax.export.export(jax.jit(sw.jax_op(cube())), disabled_checks=checks)(random(3))
    call = jax.ffi.ffi_call("spanwise_call", jax.ShapeDtypeStruct((3,), "float32"))
    for attributes in ({"call": np.int64(1), "process": np.int64(0)}, {"call": np.int64(1)}, {}):
        with pytest.raises(Exception, match="jax_op: .*(another process|the integer attribute)"):
            jax.block_until_ready(call(random(3), **attributes))


def test_gradients_of_ops_of_one_rank_are_mapped_over_a_batch():
    """The gradient is elementwise, and the op takes no further axis."""
    square = sw.jax_op(
        sw.kernel_op(
            "square_of_one_axis",
            "__global__ void k(const T *x, T *y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i] * x[i]; }",
            inputs="x: contiguous T[n]",
            outputs="y: contiguous T[n]",
            grad=lambda inputs, g: [2 * inputs[0] * g[0]],
        )
    )
    x = jax.numpy.arange(6.0).reshape(3, 2)
    gradient = jax.jit(jax.vmap(jax.grad(lambda v: square(v).sum())))
    assert gradient(x).tolist() == (2 * x).tolist()
