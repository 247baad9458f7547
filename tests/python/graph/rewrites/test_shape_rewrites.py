# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Rewrites of shapes and of neutral elements."""

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor

#: Without fusion, so that programs show the single operations.
NOT_FUSED = sw.Mode("fast_run").excluding("fuse")


def ops(f):
    return [str(node.op).partition("[")[0] for node in f.maker.fgraph.toposort()]


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
    "slices": lambda x: T.exp(x)[1:, None, :, ::-2],
    "slice by a variable": lambda x: T.exp(T.exp(x)[x.shape[1] :]),
    "concatenated": lambda x: T.concatenate([T.exp(x), x[:2], T.exp(x)[1:]], 0),
    "concatenated beside": lambda x: T.concatenate([T.exp(x), x], 2),
    "flattened": lambda x: T.exp(x).flatten() * 2,
    "reshaped with -1": lambda x: T.exp(x).reshape((x.shape[2], -1, 3)),
    "tiled": lambda x: T.tile(T.exp(x), (2, 1, 3)),
    "repeated": lambda x: T.repeat(T.exp(x), 2, axis=2),
    "contracted": lambda x: T.einsum("ijk,ljk->il", T.exp(x), T.exp(x)),
    "softmax": lambda x: T.softmax(x),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_read_without_computing_the_value(name, device):
    x = T.tensor("float64", (None, None, None), "x")
    y = SHAPES[name](x)
    extents = [y.shape[i] for i in range(y.ndim)]
    f = sw.function([x], [*extents, y.shape[-1]], device=device)
    whole = sw.function([x], y.shape, device=device)
    value = np.ones((3, 1, 4))
    expected = sw.function([x], y, device=device)(value).shape
    assert tuple(int(e) for e in f(value)) == (*expected, expected[-1])
    assert tuple(whole(value).tolist()) == expected
    for compiled in (f, whole):
        computed = {op.partition("{")[0] for op in ops(compiled)}
        assert not {"Exp", "Matmul", "Sum", "Cumsum", "Concatenate"} & computed


def test_a_shape_is_that_of_operands_that_broadcast(device):
    x, y = T.dmatrices("x", "y")
    f = sw.function([x, y], [(x * y).shape[0], (x * y).shape[1]], device=device)
    assert [int(e) for e in f(np.ones((1, 3)), np.ones((2, 1)))] == [2, 3]


#: Expressions of x and y, and the ops that are left of them.
SIMPLIFIED = {
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


@pytest.mark.parametrize("name", SIMPLIFIED)
def test_negations_and_neutral_elements_are_removed(name, device):
    expression, remaining_ops = SIMPLIFIED[name]
    x, y = T.dvectors("x", "y")
    f = sw.function(
        [x, y], expression(x, y), mode=NOT_FUSED, device=device, on_unused_input="ignore"
    )
    plain = sw.function([x, y], expression(x, y), mode="fast_compile", on_unused_input="ignore")
    values = np.array([1.5, -2.0, 0.25]), np.array([-3.0, 0.5, 4.0])
    np.testing.assert_array_equal(f(*values).numpy(), plain(*values).numpy())
    assert ops(f) == remaining_ops


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


class TransposedShape(sw.Op):
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
    y = TransposedShape()(T.exp(x))
    f = sw.function([x], [y.shape[0], y.shape[1]])
    assert [int(e) for e in f(np.ones((2, 3)))] == [3, 2]


def test_infer_shape_may_compute_extents():
    def longer(node, shapes):
        return [(shapes[0][0] * 2 + 1, 5)]

    @sw.graph.as_op(T.dmatrix, [T.dmatrix], infer_shape=longer)
    def forbidden(x):
        raise AssertionError("computed")

    x = T.dmatrix("x")
    y = forbidden(forbidden(T.exp(x))[1:] * 2)
    f = sw.function([x], [y.shape, y.shape[0], T.zeros_like(y)])
    shape, rows, zeros = f(np.ones((3, 4)))
    assert (shape.tolist(), rows.item(), zeros.shape) == ([13, 5], 13, (13, 5))


def test_shapes_of_operands_that_are_shared_many_times_are_inferred_in_bounded_time():
    x = T.dmatrix("x")
    y = T.exp(x)
    for _ in range(40):
        y = T.concatenate([y, y])[::2]
    f = sw.function([x], y.shape)
    assert f(np.ones((4, 2))).tolist() == [4, 2]


@pytest.mark.parametrize("result", [[], [(1,)], 3])
def test_error_of_a_wrong_infer_shape_names_the_op(result):
    wrong = type("Wrong", (TransposedShape,), {"infer_shape": lambda self, node, shapes: result})
    x = T.dmatrix("x")
    with pytest.raises(sw.GraphError, match="Wrong.*infer_shape"):
        sw.function([x], wrong()(x).shape[0])
