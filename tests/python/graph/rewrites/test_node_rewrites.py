# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Rewrites of nodes: those for numerical stability, and those that users register."""

import uuid

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor
#: Without fusion, so that programs show the single operations.
NOT_FUSED = sw.Mode("fast_run").excluding("fuse")


def ops(f):
    return [str(node.op).partition("[")[0] for node in f.maker.fgraph.toposort()]


@pytest.fixture
def register():
    """As sw.graph.rewrite, with a new name; removed after the test."""
    names = []

    def decorate(function, **options):
        names.append(f"test_{uuid.uuid4()}")
        sw.graph.rewrite(names[-1], **options)(function)
        return names[-1]

    yield decorate
    for name in names:
        sw.graph.remove_rewrite(name)


def is_op(node, name):
    return isinstance(node.op, sw.graph.NativeOp) and (node.op.recipe or ("",))[0] == name


LARGE = np.array([-800.0, -40.0, -1.0, 0.0, 1.0, 40.0, 800.0])

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
    written, expected, wanted = STABLE[name]
    x = T.dvector("x")
    f = sw.function([x], written(x), mode=NOT_FUSED, device=device)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(f(LARGE).numpy(), expected(LARGE), rtol=1e-13)
    if wanted is not None:
        assert ops(f) == wanted


@pytest.mark.parametrize("name", STABLE)
def test_its_derivative_is_finite(name, device):
    x = T.dvector("x")
    f = sw.function([x], T.grad(STABLE[name][0](x).sum(), x), device=device, mode="fast_compile")
    finite = LARGE[LARGE != 0] if name == "root" else LARGE
    assert np.isfinite(f(finite).numpy()).all()


def test_float32_keeps_its_dtype_with_float64_constants():
    x = T.fvector("x")
    f = sw.function([x], 1 / (np.float64(1) + T.exp(-x)))
    assert f(np.float32([0.0])).dtype == "float64" and f([0.0]).tolist() == [0.5]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_log_of_a_sum_of_exp_along_axes(axis, keepdims, device):
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


def test_log_of_a_sum_of_exp_of_only_infinities(device):
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


def test_a_rewrite_in_python_replaces_nodes(register, device):
    @register
    def double(node):
        if is_op(node, "add") and node.inputs[0] is node.inputs[1]:
            return node.inputs[0] * 2
        return None

    x = T.dvector("x")
    f = sw.function([x], (x + x) + (x + x), mode=NOT_FUSED, device=device)
    assert ops(f) == ["Multiply", "Multiply"] and f([1.0, 2.0]).tolist() == [4, 8]
    name = next(n for n, _, _ in sw.graph.rewrites() if n.startswith("test_"))
    assert (name, 2) in [(n, count) for n, count, _ in f.maker.rewrites]
    assert "Add" in ops(sw.function([x], x + x, mode=sw.Mode("fast_run").excluding(name)))
    assert "Add" in ops(sw.function([x], x + x, mode="fast_compile"))


def test_kernel_replaces_a_pattern(register, device):
    kernel = sw.kernel_op(
        "axpy",
        "__global__ void axpy(const T *x, const T *y, T *z, int n) {"
        " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) z[i] = 2 * x[i] + y[i]; }",
        inputs=["x: contiguous T[n]", "y: contiguous T[n]"],
        outputs="z: contiguous T[n]",
    )

    @register
    def use_kernel(node):
        if not is_op(node, "add"):
            return None
        product = node.inputs[0].owner
        if product is None or not is_op(product, "multiply"):
            return None
        return kernel(product.inputs[1], node.inputs[1])

    x, y = T.dvectors("x", "y")
    f = sw.function([x, y], 2 * x + y, device=device)
    assert ops(f) == ["axpy"] and f([1.0, 2.0], [10.0, 20.0]).tolist() == [12, 24]


def test_several_outputs_are_replaced_by_a_list(register):
    class Both(sw.Op):
        __props__ = ()

        def make_node(self, x):
            return sw.Apply(self, [x], [x.type(), x.type()])

    @register
    def split(node):
        if isinstance(node.op, Both):
            return [node.inputs[0] + 1, node.inputs[0] - 1]
        return None

    x = T.dvector("x")
    more, less = Both()(x)
    assert [r.tolist() for r in sw.function([x], [more, less])([3.0])] == [[4], [2]]


def test_a_rewrite_does_not_look_past_an_input_of_the_function(register):
    seen = []

    @register
    def look(node):
        seen.append((str(node.op), node.inputs[0].owner))

    x = T.dvector("x")
    inner = T.exp(x)
    f = sw.function([inner], T.log(inner))
    assert seen == [("Log", None)] and f([1.0]).tolist() == [0]


def test_a_tag_applies_a_rewrite_before_differentiation(register):
    class Cube(sw.Op):
        __props__ = ()

        def make_node(self, x):
            return sw.Apply(self, [x], [x.type()])

    x = T.dvector("x")
    with pytest.raises(sw.GraphError, match="Cube"):
        T.grad(Cube()(x).sum(), x)
    register(
        lambda node: node.inputs[0] ** 3 if isinstance(node.op, Cube) else None,
        tags=("fast_run", "stabilize"),
    )
    assert sw.function([x], T.grad(Cube()(x).sum(), x))([2.0]).tolist() == [12]


@pytest.mark.parametrize(
    ("replace", "text"),
    [
        (lambda node: 3, "expected None, a variable or a list"),
        (lambda node: [], "expected None, a variable or a list"),
        (
            lambda node: [node.inputs[0]] * 2,
            "expected 1 replacements for the outputs of Exp.*got 2",
        ),
        (
            lambda node: node.inputs[0].astype("float32"),
            "float32.*expected a variable of the same type",
        ),
        (lambda node: node.inputs[0].sum(), "expected a variable of the same type"),
        (lambda node: T.exp(node.inputs[0] + 1), "replaces its own results without end"),
    ],
)
def test_a_wrong_replacement_is_an_error_that_names_the_rewrite(register, replace, text):
    name = register(lambda node: replace(node) if is_op(node, "exp") else None)
    x = T.dvector("x")
    with pytest.raises(sw.GraphError, match=text) as caught:
        sw.function([x], T.exp(x))
    assert name in str(caught.value)


def test_an_exception_of_a_rewrite_reaches_the_caller(register):
    @register
    def fails(node):
        raise ZeroDivisionError("in the rewrite")

    x = T.dvector("x")
    with pytest.raises(ZeroDivisionError, match="in the rewrite"):
        sw.function([x], T.exp(x))


def test_a_second_registration_replaces_the_first_and_own_names_are_refused(register):
    name = register(lambda node: None)
    sw.graph.rewrite(name, 50)(lambda node: None)
    assert [(n, p) for n, p, _ in sw.graph.rewrites() if n == name] == [(name, 50)]
    with pytest.raises(sw.ArgumentError, match="'merge' is taken"):
        sw.graph.rewrite("merge")(lambda node: None)
    with pytest.raises(sw.ArgumentError, match="registered by rewrite"):
        sw.graph.remove_rewrite("merge")


#: Expressions of x (3, 1, 4) with unknown extents, and the shape that is requested.
SHAPES = {
    "unary": lambda x: T.exp(T.exp(x)),
    "number": lambda x: 2 * T.exp(x) + 1,
    "same operand twice": lambda x: x * x,
    "transposed": lambda x: T.exp(x).dimshuffle(2, "x", 0, 1),
    "sum": lambda x: T.exp(x).sum(axis=1),
    "sum keepdims": lambda x: T.exp(x).sum(axis=(0, 2), keepdims=True),
    "scan": lambda x: T.cumsum(T.exp(x), axis=1),
    "cast": lambda x: T.exp(x).astype("float32"),
    "reshaped": lambda x: T.exp(x).reshape(x.shape[2], x.shape[0] * 1),
    "broadcast": lambda x: T.broadcast_to(T.exp(x), (x.shape[0], 5, x.shape[2])),
    "two operands": lambda x: T.exp(x) * x,
    "product": lambda x: T.matmul(T.exp(x), T.exp(x).mT),
    "product by a matrix": lambda x: T.matmul(T.exp(x), T.exp(x[0].T)),
    "product by a vector": lambda x: T.matmul(T.exp(x), T.exp(x[0, 0])),
    "vector by product": lambda x: T.matmul(T.exp(x[:, 0, 0]), T.exp(x.dimshuffle(1, 0, 2))),
    "set": lambda x: T.set_subtensor(T.exp(x)[0], 1),
    "constant": lambda x: T.consider_constant(T.exp(x)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_read_without_computing_the_value(name, device):
    x = T.tensor("float64", (None, None, None), "x")
    y = SHAPES[name](x)
    extents = [y.shape[i] for i in range(y.ndim)]
    f = sw.function([x], [*extents, y.shape[-1]], device=device)
    value = np.ones((3, 1, 4))
    expected = sw.function([x], y, device=device)(value).shape
    assert tuple(int(e) for e in f(value)) == (*expected, expected[-1])
    assert not {"Exp", "Matmul", "Sum", "Cumsum"} & {op.partition("{")[0] for op in ops(f)}


def test_a_shape_is_that_of_operands_that_broadcast(device):
    x, y = T.dmatrices("x", "y")
    f = sw.function([x, y], [(x * y).shape[0], (x * y).shape[1]], device=device)
    assert [int(e) for e in f(np.ones((1, 3)), np.ones((2, 1)))] == [2, 3]


SIMPLE = {
    "sum of a negative": (lambda x, y: x + (-y), ["Subtract"]),
    "negative plus": (lambda x, y: -x + y, ["Subtract"]),
    "difference of a negative": (lambda x, y: x - (-y), ["Add"]),
    "difference of a negative product": (lambda x, y: x - (-y) * x, ["Multiply", "Add"]),
    "negative of a difference": (lambda x, y: -(x - y), ["Subtract"]),
    "negative of a quotient": (lambda x, y: -(x / -y), ["Divide"]),
    "product of negatives": (lambda x, y: -x * -y, ["Multiply"]),
    "number times a negative": (lambda x, y: 2 * -x + y * 0.5, ["Multiply", "Multiply", "Add"]),
    "times one": (lambda x, y: (x * 1 + 0) / 1 - 0 + y, ["Add"]),
    "broadcast to the other operand": (lambda x, y: T.zeros_like(x) + 3 + x, ["Add"]),
}


@pytest.mark.parametrize("name", SIMPLE)
def test_negations_and_neutral_elements_are_removed(name, device):
    written, wanted = SIMPLE[name]
    x, y = T.dvectors("x", "y")
    f = sw.function([x, y], written(x, y), mode=NOT_FUSED, device=device, on_unused_input="ignore")
    plain = sw.function([x, y], written(x, y), mode="fast_compile", on_unused_input="ignore")
    values = np.array([1.5, -2.0, 0.25]), np.array([-3.0, 0.5, 4.0])
    np.testing.assert_array_equal(f(*values).numpy(), plain(*values).numpy())
    assert ops(f) == wanted


def test_integers_keep_their_wrap_around(device):
    x, y = T.vector("x", dtype="uint8"), T.vector("y", dtype="uint8")
    f = sw.function(
        [x, y], [x + sw.negative(y), x * np.uint8(1), sw.negative(x - y)], device=device
    )
    values = np.uint8([1, 200]), np.uint8([2, 100])
    got = [r.numpy() for r in f(*values)]
    np.testing.assert_array_equal(got[0], values[0] + -values[1])
    np.testing.assert_array_equal(got[1], values[0])
    np.testing.assert_array_equal(got[2], -(values[0] - values[1]))


class Same(sw.Op):
    """Fails where it is computed; infer_shape says that it has the shape of its transposed input."""

    __props__ = ()

    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        raise AssertionError("computed")

    def infer_shape(self, node, shapes):
        (shape,) = shapes
        return [tuple(reversed(shape))]


def test_infer_shape_of_a_python_op_is_used_instead_of_computing_it():
    x = T.dmatrix("x")
    y = Same()(T.exp(x))
    f = sw.function([x], [y.shape[0], y.shape[1]])
    assert [int(e) for e in f(np.ones((2, 3)))] == [3, 2]


@pytest.mark.parametrize("result", [[], [(1,)], 3])
def test_a_wrong_result_of_infer_shape_is_named(result):
    wrong = type("Wrong", (Same,), {"infer_shape": lambda self, node, shapes: result})
    x = T.dmatrix("x")
    with pytest.raises(sw.GraphError, match="Wrong.*infer_shape"):
        sw.function([x], wrong()(x).shape[0])


def test_debug_mode_finds_a_rewrite_that_changes_values(register, device):
    @register
    def wrong(node):
        return node.inputs[0] * 3 if is_op(node, "add") and len(node.inputs) == 2 else None

    x = T.dvector("x")
    total = sw.shared(np.zeros(2), "total", target=device)
    f = sw.function([x], x + x, mode="debug", device=device)
    with pytest.raises(sw.GraphError, match=r"output 0 differs .* without rewrites\. .*test_"):
        f([1.0, 2.0])
    step = sw.function([x], [], updates={total: total + x + x}, mode="debug", device=device)
    with pytest.raises(sw.GraphError, match="update 0 differs"):
        step([1.0, 2.0])
    assert total.get_value().tolist() == [0, 0]


def test_debug_mode_takes_results_that_rewrites_make_finite(device):
    x = T.fvector("x")
    f = sw.function([x], T.log(1 - 1 / (1 + T.exp(-x))), mode="debug", device=device)
    np.testing.assert_allclose(f([-200.0, 0.0, 200.0]), [0, -np.log(2), -200], atol=1e-30)
