# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Types, variables, constants and Apply nodes."""

import gc
import weakref

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor


class Copy(sw.Op):
    __props__ = ()

    def make_node(self, x):
        x = sw.graph.as_variable(x)
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0].copy()


@pytest.mark.parametrize(
    ("variable", "text", "dtype"),
    [
        (T.fmatrix(), "<TensorType(float32, matrix)>", "float32"),
        (T.dscalar(), "<TensorType(float64, scalar)>", "float64"),
        (T.ivector(), "<TensorType(int32, vector)>", "int32"),
        (T.ltensor3(), "<TensorType(int64, tensor3)>", "int64"),
        (T.wrow(), "<TensorType(int16, row)>", "int16"),
        (T.zcol(), "<TensorType(complex128, col)>", "complex128"),
        (T.tensor("uint8", (None, None, 3)), "<TensorType(uint8, (None, None, 3))>", "uint8"),
        (T.tensor("float32", broadcastable=(True, False)), "<TensorType(float32, row)>", "float32"),
        (
            T.tensor("float32", (None,), device="cpu"),
            "<TensorType(float32, vector, cpu)>",
            "float32",
        ),
    ],
    ids=str,
)
def test_constructors_create_their_types(variable, text, dtype):
    assert str(variable) == text
    assert variable.dtype == dtype
    assert variable.ndim == len(variable.type.shape)
    assert variable.owner is None and variable.index is None and variable.name is None


def test_constructors_without_a_letter_follow_floatx():
    assert T.matrix().dtype == sw.config.floatX
    with sw.config.change(floatX="float32"):
        assert T.matrix().dtype == "float32"
    assert T.vector("v", dtype="int8").dtype == "int8"


def test_plural_constructor_creates_one_variable_for_each_name():
    x, y = T.fmatrices("x", "y")
    assert (x.name, y.name) == ("x", "y")
    assert [v.type for v in T.dvectors(3)] == [T.dvector().type] * 3


def test_each_letter_of_a_single_string_names_a_variable():
    assert [v.name for v in T.scalars("xyz")] == ["x", "y", "z"]
    assert [v.name for v in T.scalars("xyz", "w")] == ["xyz", "w"]
    assert len(T.scalars(2)) == 2


def test_equal_types_compare_equal_and_create_variables():
    a, b = sw.TensorType("float32", (None, 3)), sw.TensorType(np.float32, [None, 3])
    assert a == b and hash(a) == hash(b) and a != sw.TensorType("float32", (None, 4))
    assert a != "float32"
    assert a.shape == (None, 3) and a.broadcastable == (False, False) and a.device is None
    assert sw.TensorType("float32", (), device="cpu").device == sw.device("cpu")
    x = a("x")
    assert x.name == "x" and x.type == a and str(x) == "x"
    with pytest.raises(ValueError, match="extent -5"):
        sw.TensorType("float32", (-5,))
    with pytest.raises(TypeError):
        sw.TensorType("no such dtype", ())


def test_variable_has_one_python_object():
    x = T.fmatrix("x")
    y = Copy()(x)
    node = y.owner
    assert node.inputs[0] is x and node.outputs[0] is y and node.out is y
    assert y.owner is node
    assert {x: 1}[node.inputs[0]] == 1
    assert x == x and x != y and not (x == 3) and x in [y, x]  # noqa: SIM201  (both operators are tested)


def test_names_can_be_set_and_cleared():
    x = T.fmatrix()
    x.name = "weights"
    assert str(x) == repr(x) == "weights"
    x.name = None
    assert x.name is None
    y = Copy()(x)
    assert str(y) == "Copy.0"


def test_tag_belongs_to_the_variable():
    x = T.fmatrix("x")
    x.tag.test_value = np.ones(3)
    y = Copy()(x)
    y.owner.tag.note = "n"
    del x
    gc.collect()
    assert y.owner.inputs[0].tag.test_value.sum() == 3
    assert y.owner.tag.note == "n"
    with pytest.raises(AttributeError):
        y.tag.nothing  # noqa: B018


def test_tag_lives_as_long_as_its_variable():
    class Note:
        pass

    note = Note()
    reference = weakref.ref(note)
    x = T.fmatrix("x")
    x.tag.note = note
    y = Copy()(x)
    del note, x
    gc.collect()
    assert reference() is not None
    del y
    gc.collect()
    assert reference() is None


def test_weak_reference_to_a_variable_ends_with_it():
    x = T.fmatrix("x")
    reference = weakref.ref(x)
    assert reference() is x
    del x
    assert reference() is None


def test_a_variable_is_neither_true_nor_a_sequence():
    x = T.fmatrix("x")
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(x)
    with pytest.raises(TypeError):
        iter(x)
    with pytest.raises(TypeError):
        sw.Variable()


def test_clone_is_a_new_variable_of_the_type():
    x = T.fmatrix("x")
    assert x.clone() != x and x.clone().type == x.type and x.clone().name == "x"
    assert x.clone("y").name == "y"


def test_constant_holds_a_copy_of_its_value():
    value = np.arange(3, dtype="float32")
    c = sw.graph.as_variable(value, name="c")
    value[:] = -1
    assert isinstance(c, sw.Constant) and isinstance(c, sw.Variable)
    assert not isinstance(T.fmatrix(), sw.Constant)
    assert c.name == "c" and np.array_equal(c.data, [0, 1, 2]) and c.type.shape == (3,)
    assert T.constant([1, 2], dtype="int8").dtype == "int8"
    x = T.fmatrix()
    assert sw.graph.as_variable(x) is x


@pytest.mark.parametrize(
    ("dtype", "number", "expected"),
    [
        ("float32", 2, "float32"),
        ("float32", 2.5, "float32"),
        ("float32", True, "float32"),
        ("float32", 1j, "complex64"),
        ("float64", 1j, "complex128"),
        ("int8", 2, "int8"),
        ("int8", 2.5, "float64"),
        ("bool", 2, "int64"),
        ("bool", True, "bool"),
        ("complex64", 2.5, "complex64"),
        ("float32", np.float64(2), "float64"),
        ("float32", np.ones(2, "int32"), "float64"),
        ("uint8", np.int8(2), "int16"),
    ],
)
def test_numbers_in_expressions_follow_numpy_2(dtype, number, expected):
    x = T.tensor(dtype, (None,))
    assert (x + number).dtype == (number + x).dtype == expected
    assert (np.ones(2, dtype) + number).dtype == expected


def test_a_number_that_does_not_fit_is_refused():
    with pytest.raises(OverflowError):
        T.tensor("uint8", (None,)) + 300


def test_operator_of_a_foreign_operand_is_called():
    class Greedy:
        def __radd__(self, other):
            return "mine"

    assert T.fmatrix() + Greedy() == "mine"
    with pytest.raises(TypeError, match="unsupported operand"):
        T.fmatrix() + object()


def test_arrays_on_the_left_leave_the_operation_to_the_variable():
    y = np.ones((2, 2), "float32") + T.fmatrix("x")
    assert isinstance(y, sw.Variable) and y.ndim == 2


def test_apply_rejects_objects_that_are_not_variables():
    x = T.fmatrix()
    with pytest.raises(TypeError, match=r"inputs\[1\] must be a Variable, got int"):
        sw.Apply(Copy(), [x, 3], [x.type()])
    with pytest.raises(TypeError, match=r"outputs\[0\] must be a Variable, got str"):
        sw.Apply(Copy(), [x], ["y"])
    with pytest.raises(TypeError, match="op must be a spanwise.Op"):
        sw.Apply("no op", [x], [x.type()])
    with pytest.raises(sw.GraphError, match="result of another Apply"):
        sw.Apply(Copy(), [x], [Copy()(x)])


def test_apply_has_a_text_and_clones_with_new_inputs():
    x, y = T.fmatrix("x"), T.fmatrix("y")
    node = Copy()(x).owner
    assert repr(node) == "Copy(x)" and (node.nin, node.nout) == (1, 1) and node.op == Copy()
    copied = node.clone_with_new_inputs([y])
    assert repr(copied) == "Copy(y)" and copied.out.type == y.type
    on_vector = node.clone_with_new_inputs([T.dvector("v")])
    assert on_vector.out.type == T.dvector().type
    assert node.clone() is not node and node.clone().inputs == [x]


def test_trace_of_a_node_names_lines_of_the_program():
    y = Copy()(T.fmatrix("x"))
    assert __file__ in y.owner.trace
    assert "test_trace_of_a_node_names_lines_of_the_program" in y.owner.trace
    assert "_op.py" not in y.owner.trace


def test_deep_graphs_are_freed_without_recursion():
    x = T.fvector("x")
    for _ in range(100_000):
        x = x + x
    del x
    gc.collect()


def test_variable_is_broadcastable_for_extent_one():
    assert T.row("x").broadcastable == (True, False) and T.scalar("y").broadcastable == ()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: sw.graph.ancestors("x"), "expected variables of a graph, got 'x'"),
        (lambda x: sw.graph.ancestors(None), "expected variables of a graph, got None"),
        (lambda x: sw.graph.OpFromGraph([x], None), "expected variables of a graph, got None"),
        (lambda x: sw.graph.OpFromGraph([x], np.ones(2)), "expected variables of a graph, got"),
        (lambda x: sw.graph.OpFromGraph(x, [x]), "OpFromGraph: inputs must be a list .* got x"),
        (lambda x: sw.graph.OpFromGraph(None, [x]), "inputs must be a list .* got None"),
        (lambda x: sw.tensor.Rop(np.ones(2), x, x), "expected variables of a graph, got array"),
        (lambda x: sw.graph.clone(x * 2, 5), "clone: replace must be a dict or a list of pairs, got 5"),
        (lambda x: sw.graph.clone(x, {"x": 1}), "clone: replace names 'x', which is no variable"),
        (lambda x: sw.function([x], x, updates=3), "updates must be a dict .* got 3"),
        (lambda x: sw.function([x], x, givens=3), "givens must be a dict .* got 3"),
        (lambda x: sw.function([x], x, name=3), "name: expected a str, got 3"),
        (lambda x: sw.function(None, x), "a list or a tuple of variables, got None$"),
        (lambda x: sw.function(x, x), r"got x; write \[x\]$"),
        (lambda x: sw.printing.rewrites(x), "rewrites: expected a CompiledFunction, got x"),
    ],
)  # fmt: skip
def test_what_is_no_variable_is_named(call, text):
    with pytest.raises((TypeError, sw.GraphError), match=text):
        call(sw.tensor.dvector("x"))


def test_uses_of_a_value_that_a_variable_does_not_have_name_the_remedy():
    v, n = T.fvector("v"), T.lscalar("n")
    for use in (lambda: float(v), lambda: int(n)):
        with pytest.raises(TypeError, match="[vn] is a graph variable.*no Python number.*eval"):
            use()
    with pytest.raises(TypeError, match="v is a graph variable.*T.set_subtensor"):
        v[0] = 1
    with pytest.raises(TypeError, match="v is a graph variable.*T.set_subtensor"):
        del v[0]
    for name in ("tolist", "item", "numpy"):
        with pytest.raises(
            AttributeError, match=f"v is a graph variable.*attribute '{name}'.*eval"
        ):
            getattr(v, name)
        assert not hasattr(v, name)
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        v.other  # noqa: B018
