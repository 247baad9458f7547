# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What scripts derive from and register: scalar ops, optimizers, ops with C code; and classes of errors."""

import numpy as np
import pytest
from addons.theano.in_process import T, nnet, old_names as gof, ops, scalar
from addons.theano.runner import run_script

import spanwise as sw

HOST = np.array([[0.5, 2.0, 3.0], [1.5, -1.0, 4.0]])


class XLogX(scalar.UnaryScalarOp):
    def impl(self, x):
        return x * np.log(x)

    def grad(self, inputs, slopes):
        return [slopes[0] * (1 + scalar.log(inputs[0]))]


def test_scalar_op_of_a_script_is_an_elementwise_op_with_a_derivative(device):
    x = T.dmatrix("x")
    op = ops.Elemwise(XLogX(scalar.upgrade_to_float, name="xlogx"))
    y = op(x)
    f = sw.function([x], [y, T.grad(y.sum(), x)], device=device)
    value, slope = (r.numpy() for r in f(np.abs(HOST)))
    np.testing.assert_allclose(value, np.abs(HOST) * np.log(np.abs(HOST)), rtol=1e-12)
    np.testing.assert_allclose(slope, 1 + np.log(np.abs(HOST)), rtol=1e-12)
    assert op(T.ivector()).dtype == "float64" and op(T.bmatrix()).dtype == "float32"

    class OnlyC(scalar.BinaryScalarOp):
        def c_code(self, *args):
            return ""

    g = sw.function([x], OnlyC(scalar.upcast_out)(x, x))
    with pytest.raises(sw.NotSupportedError, match="expected a method impl"):
        g(HOST)


def test_ops_that_scripts_make_by_their_classes(device):
    x, i = T.dmatrix("x"), T.lvector("i")
    outputs = {
        "add": (ops.Elemwise(scalar.add)(x, x, x), 3 * HOST),
        "dimshuffle": (ops.DimShuffle((False, False), (1, "x", 0))(x), HOST.T[:, None]),
        "careduce": (ops.CAReduce(scalar.maximum, axis=0)(x), HOST.max(0)),
        "all": (ops.CAReduce(scalar.mul)(x), HOST.prod()),
        "sum": (ops.Sum(axis=[1])(x), HOST.sum(1)),
        "dot": (ops.Dot()(x, x.T), HOST @ HOST.T),
        "inc": (ops.AdvancedIncSubtensor1()(x, x, i), HOST + HOST[::-1]),
        "taken": (ops.AdvancedSubtensor1()(x, i), HOST[::-1]),
        "reshape": (ops.Reshape(1)(x, [6]), HOST.ravel()),
        "join": (ops.Join()(0, x, x), np.concatenate([HOST, HOST])),
    }
    f = sw.function([x, i], [y for y, _ in outputs.values()], device=device)
    for got, (name, (_, expected)) in zip(f(HOST, [1, 0]), outputs.items(), strict=True):
        np.testing.assert_allclose(got.numpy(), expected, rtol=1e-12, err_msg=name)
    with pytest.raises(sw.NotSupportedError, match="expected a scalar op of add"):
        ops.CAReduce(scalar.sub)
    with pytest.raises(sw.NotSupportedError, match="scripts cannot make this op"):
        ops.CGemv()


def test_registered_local_optimizers_replace_nodes():
    class Double(ops.Op):
        __props__ = ()

        def make_node(self, x):
            return sw.Apply(self, [x], [x.type()])

        def perform(self, node, inputs, output_storage):
            raise AssertionError("not replaced")

    calls = []

    @gof.register_specialize
    @gof.local_optimizer([Double])
    def replace_double(node):
        """By an addition."""
        calls.append(node.op)
        return [node.inputs[0] + node.inputs[0]]

    x = T.dmatrix("x")
    try:
        f = sw.function([x], Double()(x) * 3, device="cpu")
        np.testing.assert_allclose(f(HOST).numpy(), 6 * HOST)
        assert calls and all(isinstance(op, Double) for op in calls)
        assert replace_double.__doc__ == "By an addition."
    finally:
        sw.graph.remove_rewrite("replace_double")

    class Whole(gof.Optimizer):
        pass

    with pytest.raises(sw.NotSupportedError, match="optimizers of whole graphs"):
        gof.optdb.register("whole", Whole(), 20, "fast_run")


def test_ops_with_c_code_only_are_refused_when_a_function_is_compiled():
    class OnlyC(ops.Op):
        def make_node(self, x):
            return sw.Apply(self, [x], [x.type()])

        def c_code(self, *args):
            return ""

    class WithPerform(OnlyC):
        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0] * 2

    class Filed(gof.COp):
        def __init__(self):
            super().__init__(["op.c"], "apply")

        def make_node(self, x):
            return sw.Apply(self, [x], [x.type()])

    x = T.dmatrix("x")
    for op in (OnlyC(), Filed()):
        with pytest.raises(sw.NotSupportedError, match=r"has C code only.*a method perform\(\)"):
            sw.function([x], op(x))
    np.testing.assert_array_equal(sw.function([x], WithPerform()(x))(HOST).numpy(), 2 * HOST)
    assert isinstance(x.type, gof.Type)
    with pytest.raises(
        sw.NotSupportedError, match=r"Double\(gof.Type\): variables of a graph are arrays"
    ):

        class Double(gof.Type):
            pass


def test_errors_have_the_classes_of_theano(tmp_path):
    printed, _ = run_script(
        tmp_path / "script.py",
        """
        import numpy, theano, theano.tensor as T
        from theano.gof.fg import MissingInputError
        from theano.compile import UnusedInputError
        from theano.gradient import DisconnectedInputError
        x, y = T.dvectors("x", "y")
        s = theano.shared(numpy.ones(3), "s")
        cases = [
            (MissingInputError, lambda: theano.function([x], x + y)),
            (MissingInputError, lambda: theano.scan(lambda e: e * s, x, strict=True)),
            (UnusedInputError, lambda: theano.function([x, y], x)),
            (UnusedInputError, lambda: theano.function([x, x], x)),
            (DisconnectedInputError, lambda: T.grad(x.sum(), y)),
            (ValueError, lambda: theano.grad(x.sum(), y)),
            (TypeError, lambda: theano.gradient.grad(x, x)),
            (TypeError, lambda: theano.function([T.constant(1.0)], x)),
            (TypeError, lambda: theano.function([s], x)),
            (TypeError, lambda: theano.function([x], x, updates=[(s, x.sum())])),
            (RuntimeError, lambda: theano.function([x], x, givens={x: y})),
            (TypeError, lambda: theano.function([x], x)([[1.0]])),
            (ValueError, lambda: theano.function([x, y], x + y)([1.0, 2.0], [1.0, 2.0, 3.0])),
        ]
        for kind, call in cases:
            try:
                call()
            except kind as error:
                text = str(error)
            else:
                raise AssertionError(kind)
            if kind is MissingInputError and "Backtrace" in text:
                print("Backtrace when that variable is created:" in text, "script.py" in text)
        print(len(cases))
        try:
            theano.sparse
        except AttributeError as error:
            print("scipy.sparse" in str(error))
        """,
    )
    assert printed.splitlines() == ["True True", "13", "True"]


def computed(build, *values, device="cpu"):
    inputs = [T.as_tensor_variable(v).type() for v in map(np.asarray, values)]
    results = build(*inputs)
    single = not isinstance(results, (list, tuple))
    outputs = [results] if single else list(results)
    f = sw.function(inputs, outputs, device=device, on_unused_input="ignore")
    arrays = [r.numpy() for r in f(*values)]
    return arrays[0] if single else arrays


ROWS = np.array([[2, 0, 1], [0, 2, 1]])
FUNCTIONS = {
    "reshape": (lambda x: T.reshape(x, (3, -1)), lambda x: x.reshape(3, -1)),
    "flatten": (lambda x: T.flatten(x, outdim=1), np.ravel),
    "sum of a list": (lambda x: T.sum(x, axis=[0, 1], acc_dtype="float64"), np.sum),
    "mean": (lambda x: T.mean([x, x], axis=[1]), lambda x: np.mean([x, x], 1)),
    "argmax": (lambda x: T.argmax(x, 1), lambda x: x.argmax(1)),
    "inc_subtensor": (
        lambda x: T.inc_subtensor(x[0], 1, inplace=True, tolerate_inplace_aliasing=True),
        lambda x: x + np.array([[1], [0]]),
    ),
    "inverse_permutation": (
        lambda x: T.inverse_permutation(T.constant(ROWS)), lambda x: np.argsort(ROWS, -1)
    ),
    "permute_row_elements": (
        lambda x: T.permute_row_elements(x, T.constant(ROWS)),
        lambda x: np.take_along_axis(x, ROWS, -1),
    ),
    "permute_row_elements inverse": (
        lambda x: T.permute_row_elements(x, T.constant(ROWS), inverse=1),
        lambda x: np.take_along_axis(x, np.argsort(ROWS, -1), -1),
    ),
    "makeKeepDims": (lambda x: T.makeKeepDims(x, x.sum(1), 1), lambda x: x.sum(1, keepdims=True)),
    "specify_shape": (lambda x: T.specify_shape(x, (2, 3)), lambda x: x),
    "round": (
        lambda x: T.round(x, mode="half_away_from_zero"),
        lambda x: np.sign(x) * np.floor(np.abs(x) + 0.5),
    ),
    "iround": (lambda x: T.iround(x), lambda x: np.rint(x).astype("int64")),
    "ceil_intdiv": (
        lambda x: T.ceil_intdiv(x.astype("int64") * 3, 2),
        lambda x: -(-(x.astype("int64") * 3) // 2),
    ),
    "angle": (lambda x: T.angle(T.complex(x, x)), lambda x: np.angle(x + 1j * x)),
    "complex_from_polar": (
        lambda x: T.complex_from_polar(x, x), lambda x: x * np.exp(1j * x)
    ),
    "topk": (
        lambda x: T.sort(T.topk(x, 2, axis=1), axis=1), lambda x: np.sort(x, 1)[:, -2:]
    ),
    "topk smallest": (
        lambda x: T.sort(T.topk(x, -2, axis=0), axis=0), lambda x: np.sort(x, 0)[:2]
    ),
    "argtopk": (lambda x: T.argtopk(x, 1, axis=1), lambda x: x.argmax(1)[:, None]),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_with_theanos_arguments(device, name):
    ours, numpys = FUNCTIONS[name]
    expected = np.asarray(numpys(HOST))
    got = computed(ours, HOST, device=device)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_derivatives_of_largest_elements_and_permuted_rows():
    rng = np.random.RandomState(1)
    sw.tensor.verify_grad(lambda x: T.topk(x, 2, axis=1), [HOST], rng=rng)
    sw.tensor.verify_grad(lambda x: T.permute_row_elements(x, T.constant(ROWS)), [HOST], rng=rng)


def test_specify_shape_refuses_another_shape():
    with pytest.raises(AssertionError, match="SpecifyShape: expected the shape"):
        computed(lambda x: T.specify_shape(x, (3, 2)), HOST)


@pytest.mark.parametrize("axes", ["per-activation", "spatial", (0, 2)])
@pytest.mark.parametrize("keeps_axes", [False, True])
def test_batch_normalization_with_running_averages(axes, keeps_axes):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(4, 3, 5))
    over = (0,) if axes == "per-activation" else (0, 2)
    shape = x.mean(over, keepdims=keeps_axes).shape
    gamma, beta, mean, var = (rng.uniform(0.5, 1, shape) for _ in range(4))

    def wide(v):
        return v if keeps_axes else np.expand_dims(v, over)

    train = nnet.batch_normalization_train
    got = computed(
        lambda x, g, b, m, v: train(x, g, b, axes, 1e-3, 0.2, m, v), x, gamma, beta, mean, var
    )
    mu, sigma2 = x.mean(over, keepdims=True), x.var(over, keepdims=True)
    count = x.size // mu.size
    expected = [
        (x - mu) / np.sqrt(sigma2 + 1e-3) * wide(gamma) + wide(beta), mu, 1 / np.sqrt(sigma2 + 1e-3),
        wide(mean) * 0.8 + mu * 0.2, wide(var) * 0.8 + sigma2 * count / (count - 1) * 0.2,
    ]  # fmt: skip
    for result, value in zip(got, expected, strict=True):
        want = value if value.shape == x.shape else value.reshape(shape)
        np.testing.assert_allclose(result, want, rtol=1e-10)
    test = nnet.batch_normalization_test
    got = computed(lambda *v: test(*v, axes, 1e-3), x, gamma, beta, mean, var)
    plain = (x - wide(mean)) / np.sqrt(wide(var) + 1e-3) * wide(gamma) + wide(beta)
    np.testing.assert_allclose(got, plain, rtol=1e-10)
