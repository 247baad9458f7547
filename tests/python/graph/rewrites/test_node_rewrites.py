# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Rewrites of nodes that users register."""

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
    """register(function, **options) registers a rewrite and returns its new name. The rewrites are removed
    after the test."""
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


def test_a_rewrite_in_python_replaces_nodes(register, device):
    @register
    def double(node):
        if is_op(node, "add") and node.inputs[0] is node.inputs[1]:
            return node.inputs[0] * 2
        return None

    x = T.dvector("x")
    f = sw.function([x], (x + x) + (x + x), mode=NOT_FUSED, device=device)
    assert ops(f) == ["Multiply", "Multiply"] and f([1.0, 2.0]).tolist() == [4, 8]
    (name,) = (n for n, _, _ in sw.graph.rewrites() if n.startswith("test_"))
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
    def record_node(node):
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


def test_a_second_registration_replaces_the_first_and_names_of_built_in_rewrites_are_refused(
    register,
):
    name = register(lambda node: None)
    sw.graph.rewrite(name, 50)(lambda node: None)
    assert [(n, p) for n, p, _ in sw.graph.rewrites() if n == name] == [(name, 50)]
    with pytest.raises(sw.ArgumentError, match="'merge' is taken"):
        sw.graph.rewrite("merge")(lambda node: None)
    with pytest.raises(sw.ArgumentError, match="registered by rewrite"):
        sw.graph.remove_rewrite("merge")


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


def test_replacement_may_contain_the_node_itself(register, device):
    register(lambda node: node.out + 1 if is_op(node, "exp") else None)
    x = T.dvector("x")
    f = sw.function([x], T.exp(x) * 2, device=device)
    assert f([0.0]).tolist() == [4.0]


def test_position_that_is_no_number_is_refused():
    with pytest.raises(TypeError, match="expected position as a number, got 'last'"):
        sw.graph.rewrite("test_position", "last")(lambda node: None)
