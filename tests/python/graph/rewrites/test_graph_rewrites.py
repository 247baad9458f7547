# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Rewrites change a graph before it runs, and not its results."""

import numpy as np
import pytest
from support.graphs import op_names
from support.step_ops import AddOne

import spanwise as sw

T = sw.tensor
#: Without fusion, so that programs show the single operations.
NOT_FUSED = sw.Mode("fast_run").excluding("fuse")


@pytest.fixture
def x():
    return T.fmatrix("x")


def changes(f):
    return {name: count for name, count, _ in f.maker.rewrites}


def ones(*shape):
    return np.ones(shape, "float32")


class Double(sw.Op):
    """Equal to every other Double; counts how often one computes."""

    __props__ = ()
    calls = 0

    def make_node(self, x):
        x = sw.graph.as_variable(x)
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        Double.calls += 1
        output_storage[0][0] = inputs[0] * 2


def test_registry_lists_rewrites_by_position():
    listed = sw.graph.rewrites()
    names = [name for name, _, _ in listed]
    assert names.index("merge") < names.index("fold_constants") < names.index("inplace")
    assert [position for _, position, _ in listed] == sorted(position for _, position, _ in listed)
    assert all(isinstance(tags, list) for *_, tags in listed)


def test_equal_nodes_are_computed_once(x, device):
    Double.calls = 0
    results = [Double()(x) + 1, Double()(x) + 1, sw.exp(x) - sw.exp(x)]
    f = sw.function([x], results, mode=NOT_FUSED, device=device)
    first, second, zero = f(ones(2, 2))
    assert Double.calls == 1 and op_names(f).count("Double") == 1 and op_names(f).count("Exp") == 1
    assert changes(f)["merge"] == 3
    first[...] = 0
    assert second.tolist() == [[3, 3], [3, 3]] and not np.any(zero.numpy())


def test_ops_that_differ_are_not_merged(x):
    class Times(sw.Op):
        __props__ = ("factor",)

        def __init__(self, factor):
            self.factor = factor

        make_node = Double.make_node

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0] * self.factor

    f = sw.function([x], [Times(2)(x), Times(3)(x), Times(2)(x)])
    assert [r.item() for r in f(ones(1, 1))] == [2, 3, 2] and len(op_names(f)) == 2


def test_node_of_constants_is_computed_once_when_compiled(x, device):
    Double.calls = 0
    c = Double()(T.constant(ones(2, 2))) * 3
    f = sw.function([x], x + c, device=device)
    assert Double.calls == 1 and op_names(f) == ["Add"] and changes(f)["fold_constants"] == 2
    assert np.array_equal(f(ones(2, 2)), ones(2, 2) * 7)
    assert np.array_equal(f(ones(2, 2)), ones(2, 2) * 7) and Double.calls == 1


def test_an_op_may_refuse_to_be_folded(x):
    class Now(Double):
        def do_constant_folding(self, node):
            return False

    f = sw.function([], Now()(T.constant(ones(1, 1))))
    assert op_names(f) == ["Now"] and f().item() == 2


def test_failing_constant_folding_is_left_to_the_call(x):
    class Fails(Double):
        def perform(self, node, inputs, output_storage):
            raise RuntimeError("now")

    f = sw.function([], Fails()(T.constant(ones(1, 1))))
    with pytest.raises(RuntimeError, match="now"):
        f()


def test_large_results_are_not_folded():
    row, column = T.constant(ones(1, 2000)), T.constant(ones(2000, 1))
    f = sw.function([], row + column)
    assert op_names(f) == ["Add"] and f().shape == (2000, 2000)


def test_elementwise_ops_overwrite_unused_inputs(x, device):
    f = sw.function([x], sw.exp(x + 1) * 2, mode=NOT_FUSED, device=device)
    assert op_names(f) == ["Add", "Exp[(0, 0)]", "Multiply[(0, 0)]"] and changes(f)["inplace"] == 2
    value = ones(3, 2)
    for _ in range(2):
        assert np.allclose(f(value), np.exp(value + 1) * 2)
    assert np.array_equal(value, ones(3, 2))


def test_needed_values_are_not_overwritten(x, device):
    y = x + 1
    w = sw.shared(ones(2, 2), target=device)
    f = sw.function([x], [y, sw.exp(y), y * 2, w * 2], updates={w: w + 1}, device=device)
    assert not any("[(0" in op for op in op_names(f))
    for i in (1, 2):
        a, b, c, d = f(ones(2, 2))
        assert a.tolist() == [[2, 2], [2, 2]] and c.tolist() == [[4, 4], [4, 4]]
        assert np.allclose(b, np.exp(2)) and d.tolist() == [[2 * i] * 2] * 2


def test_a_broadcast_operand_is_not_overwritten(device):
    row, m = T.fmatrix("row"), T.fmatrix("m")
    f = sw.function([row, m], (row + 1) * m, device=device)
    assert np.array_equal(f(ones(1, 3), ones(2, 3)), ones(2, 3) * 2)
    assert np.array_equal(f(ones(2, 3), ones(1, 3)), ones(2, 3) * 2)
    assert np.array_equal(f(ones(2, 1), ones(1, 3)), ones(2, 3) * 2)


def test_array_that_a_python_op_returns_is_not_overwritten(x):
    table = ones(2, 2)

    class Table(sw.Op):
        def make_node(self, x):
            return sw.Apply(self, [x], [x.type()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = table

    f = sw.function([x], sw.exp(Table()(x)))
    for _ in range(2):
        assert np.allclose(f(ones(1, 1)), np.exp(1))
    assert np.array_equal(table, ones(2, 2))


def test_merge_excludes_overwriting_ops(device):
    x = T.fvector("x")
    f = sw.function([x], AddOne()(x * 2) + x * 2, device=device)
    assert f(np.float32([1, 2])).tolist() == [5, 9]


def test_modes_select_rewrites_and_unknown_names_raise(x):
    y = sw.exp(x + 1) + sw.exp(x + 1)
    assert len(op_names(sw.function([x], y))) == 1
    assert len(op_names(sw.function([x], y, mode=NOT_FUSED))) == 3
    assert len(op_names(sw.function([x], y, mode="fast_compile"))) == 3
    assert "inplace" not in changes(sw.function([x], y, mode="FAST_COMPILE"))
    bare = sw.Mode("fast_run").excluding("merge", "inplace", "fold_constants", "fuse")
    f = sw.function([x], y, mode=bare)
    assert len(op_names(f)) == 5 and "merge_again" not in changes(f)
    g = sw.function([x], y, mode=sw.Mode("fast_compile").including("inplace"))
    assert "inplace" in changes(g) and g.mode == "fast_compile"
    with sw.config.change(mode="debug"):
        assert sw.function([x], y).mode == "debug"
    value = ones(2, 2)
    assert np.array_equal(f(value), g(value))
    for wrong in ("slow", sw.Mode("fast_run").excluding("merging")):
        with pytest.raises(ValueError, match=r"mode"):
            sw.function([x], y, mode=wrong)
    with pytest.raises(TypeError, match="mode must be"):
        sw.function([x], y, mode=3)


def test_printout_lists_applied_rewrites(x, capsys):
    f = sw.function([x], sw.exp(x + 1), mode=NOT_FUSED, name="f")
    sw.printing.rewrites(f)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Rewrites of function f, mode fast_run")
    assert any(line.split()[:2] == ["inplace", "1"] for line in lines)


def test_the_time_limit_stops_with_a_warning(x):
    with (
        sw.config.change(rewrite_seconds="0"),
        pytest.warns(UserWarning, match="rewrite_seconds"),
    ):
        f = sw.function([x], sw.exp(x) + sw.exp(x))
    assert np.allclose(f(ones(1, 1)), 2 * np.exp(1))


def test_chained_products_are_right_after_a_change_of_the_extents(device):
    x = T.fmatrix("x")
    y = x
    for _ in range(6):
        y = (y @ x) * 0.5
    f = sw.function([x], y, device=device)
    value = np.random.default_rng(0).random((128, 128), "float32")
    for size in (128, 64, 128, 128):
        part = value[:size, :size]
        expected = part
        for _ in range(6):
            expected = (expected @ part) * np.float32(0.5)
        assert np.allclose(f(part), expected, rtol=1e-4)


# Mode "debug".


class Broken(sw.Op):
    """Breaks the contract of perform in the way that `fault` names."""

    def __init__(self, fault):
        self.fault = fault
        self.count = 0

    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        self.count += 1
        if self.fault == "changes its input":
            inputs[0][...] += 1
            output_storage[0][0] = inputs[0].copy()
        elif self.fault == "shares memory":
            output_storage[0][0] = inputs[0]
        else:
            output_storage[0][0] = inputs[0] + self.count


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("changes its input", "changed its input 0.*destroy_map"),
        ("shares memory", "output 0 shares memory with input 0.*view_map"),
        ("differs", "differs when the node runs again"),
    ],
)
def test_debug_finds_a_broken_contract(x, fault, message, device):
    f = sw.function([x], Broken(fault)(x + 1), mode="debug", device=device)
    with pytest.raises(sw.GraphError, match=message) as caught:
        f(ones(2, 2))
    assert "Apply node that caused the error: Broken" in str(caught.value)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_debug_tolerates_rounding(dtype, device):
    z = T.tensor(dtype, (None, None))
    f = sw.function([z], z.T.mean(axis=1), mode="debug", device=device)
    for seed in range(50):
        value = np.random.default_rng(seed).standard_normal((9, 5)).astype(dtype)
        # The column sums are about 0: rounding, which depends on the order, is all of the result.
        f(value - value.mean(0))


def test_debug_matches_fast_run(x, device):
    y = sw.exp(x.transfer("cpu") + 1).transfer(device) * 2 + Double()(x)
    value = np.random.default_rng(0).standard_normal((4, 5)).astype("float32")
    results = [sw.function([x], y, mode=m, device=device)(value) for m in ("fast_run", "debug")]
    assert np.array_equal(*results)


def test_debug_restores_constants_after_an_exception(device):
    class ChangesItsInput(Broken):
        def perform(self, node, inputs, output_storage):
            self.count += 1
            if self.count == 2:
                inputs[0][...] += 1  # debug passes a copy to the second evaluation
                raise RuntimeError("midway")
            output_storage[0][0] = inputs[0] + 0

        def do_constant_folding(self, node):
            return False

    f = sw.function([], ChangesItsInput("")(T.constant(ones(1, 1))), mode="debug", device=device)
    with pytest.raises(RuntimeError, match="midway"):
        f()
    assert f().item() == 1
