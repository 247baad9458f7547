# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs, shared variables and compiled functions are pickled and copied."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from support.graphs import RandomGraph
from support.step_ops import Twice

import spanwise as sw

T = sw.tensor
SOURCE = """
__global__ void scaled(const float *x, float *y, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}
"""


def unpickled(value):
    """`value` after pickling and unpickling."""
    return pickle.loads(pickle.dumps(value))


def scaled(factor):
    return sw.kernel_op(
        "scaled",
        SOURCE,
        inputs=["x: contiguous float32[n]"],
        outputs=["y: contiguous float32[n]"],
        scalars={"factor": factor},
    )


def graph_of_all_kinds():
    """A graph with every kind of op and leaf, and its input."""
    x = T.fvector("x")
    w = sw.shared(np.arange(3, dtype="float32"), "w")
    y = Twice()(sw.exp(x) + w) * T.constant(np.ones(3, "float32"), "ones")
    y = scaled(1.5)(y[::-1]) + x.sum(keepdims=True)
    return x, T.concatenate([y, y.reshape(-1, 1).T[0].astype("float32"), x[[0, 1]]]) @ np.ones(
        8, "f4"
    )


def test_graph_of_all_kinds_of_ops_is_unpickled(device):
    x, y = graph_of_all_kinds()
    y.name = "y"
    y.tag.note = "a note"
    x2, y2 = unpickled([x, y])
    assert (
        sw.graph.equal(y, y2) and y2.name == "y" and y2.tag.note == "a note" and x2.type == x.type
    )
    values = np.array([0.5, 1, 2], "float32")
    ours, theirs = (sw.function([a], b, device=device)(values) for a, b in ((x2, y2), (x, y)))
    np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


def test_variables_used_twice_stay_one_object_after_pickling():
    x = T.fmatrix("x")
    y = sw.exp(x)
    z = y + y
    x2, y2, z2, node = unpickled([x, y, z, z.owner])
    assert z2.owner.inputs == [y2, y2] and y2.owner.inputs[0] is x2 and node is z2.owner
    node2 = unpickled(z2.owner)
    assert node2.op == node.op and node2 is not node


def test_deep_graph_is_unpickled_without_recursion():
    x = T.fvector("x")
    y = x
    for _ in range(20_000):
        y = y + x
    x2, y2 = unpickled([x, y])
    assert sw.graph.equal(y, y2, [x], [x2])
    assert len(sw.graph.ancestors([y2])) == 20_000


def test_types_and_ops_are_unpickled():
    for type_ in (
        T.fmatrix().type,
        T.tensor("int8", (None, 3)).type,
        sw.TensorType("bool", (), device="cpu"),
    ):
        assert unpickled(type_) == type_
    x = T.fmatrix()
    for y in (x.sum(0), x.T, x + 1, x[1:], x @ x, x.transfer("cpu"), x.reshape(2, -1)):
        assert unpickled(y.owner.op) == y.owner.op
    assert unpickled(Twice()) == Twice()
    # The device of a type is replaced where it does not exist.
    on_missing_device = sw.TensorType("float32", (), device="cuda:7")
    assert unpickled(on_missing_device).device == sw.device("cpu")


def test_shared_variables_are_unpickled_with_their_values(device):
    w = sw.shared(np.arange(4.0), "w", target=device)
    w2 = unpickled(w)
    assert w2.name == "w" and w2.device == device and isinstance(w2, sw.SharedVariable)
    assert w2.get_value().tolist() == [0, 1, 2, 3]
    w2.set_value(np.zeros(4))
    assert w.get_value().tolist() == [0, 1, 2, 3]


def test_compiled_functions_are_unpickled(device):
    x = T.dvector("x")
    total = sw.shared(np.zeros(3), "total", target=device)
    f = sw.function(
        [sw.In(x, value=np.ones(3))],
        {"sum": (total + x).sum(), "x2": sw.Out(x * 2, as_="numpy")},
        updates={total: total + x},
        device=device,
        name="adding",
        mode=sw.Mode("fast_run").excluding("inplace"),
    )
    f([1, 2, 3])
    g = unpickled(f)
    assert g.name == "adding" and g.device == device
    out = g()
    assert out["sum"].item() == 9 and out["x2"].tolist() == [2, 2, 2]
    assert isinstance(out["x2"], np.ndarray)
    assert g()["sum"].item() == 12 and total.get_value().tolist() == [1, 2, 3]
    f, shared = unpickled([f, total])
    f([5, 5, 5])
    assert shared.get_value().tolist() == [6, 7, 8]


def test_pickle_is_read_by_another_process(tmp_path):
    x = T.fvector("x")
    file = tmp_path / "f.pickle"
    file.write_bytes(pickle.dumps(sw.function([x], (sw.exp(x) * 0 + 7).sum(), device="cpu")))
    program = f"import pickle; f = pickle.load(open({str(file)!r}, 'rb')); print(f([1, 2]).item())"
    completed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert completed.stdout.strip() == "14.0"


def test_deepcopy_gives_an_equal_graph_and_copy_the_same_variable(device):
    x, y = graph_of_all_kinds()
    deep = copy.deepcopy(y)
    assert deep is not y and sw.graph.equal(deep, y)
    assert copy.copy(y) is y
    f = sw.function([x], y, device=device)
    ones = np.ones(3, "float32")
    assert copy.deepcopy(f)(ones).item() == pytest.approx(f(ones).item())


def test_random_graphs_are_unpickled(device):
    for seed in range(15):
        graph = RandomGraph(seed, device)
        outputs = [graph.variables[i] for i in graph.outputs]
        loaded = unpickled(outputs)
        assert sw.graph.equal(outputs, loaded)
        assert sw.graph.equal(outputs, sw.clone(outputs))


def test_op_of_a_local_class_cannot_be_pickled():
    class Local(sw.Op):
        def make_node(self, x):
            return sw.Apply(self, [x], [x.type()])

    with pytest.raises((pickle.PicklingError, AttributeError), match="Local"):
        pickle.dumps(Local()(T.fvector()))
