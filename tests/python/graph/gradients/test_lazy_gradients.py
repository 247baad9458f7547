# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Gradients through ifelse: only what the branch that is taken needs is computed."""

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor

MODES = ["fast_run", "fast_compile", "debug", "nan_guard"]


class Counted(sw.Op):
    """x, whose gradient counts its computations in `counts`."""

    __props__ = ("name",)

    def __init__(self, name, counts):
        self.name = name
        self.counts = counts

    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        self.counts[self.name] = self.counts.get(self.name, 0) + 1
        output_storage[0][0] = sw.asarray(inputs[0].numpy().copy())

    def grad(self, inputs, output_gradients):
        return [Counted("d" + self.name, self.counts)(output_gradients[0])]


class Fails(sw.Op):
    """x, which cannot be computed, and a gradient that cannot either."""

    __props__ = ()

    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        raise AssertionError("computed")

    def grad(self, inputs, output_gradients):
        return [self(output_gradients[0])]


@pytest.mark.parametrize("mode", MODES)
def test_gradient_takes_no_numbers_from_the_other_branch(mode, device):
    x = T.dscalar("x")
    f = sw.function([x], T.grad(T.ifelse(x > 0, T.log(x), x * 2), x), mode=mode, device=device)
    assert f(0.0).item() == 2
    assert f(4.0).item() == 0.25


@pytest.mark.parametrize("mode", MODES)
def test_gradient_does_not_run_the_other_branch(mode, device):
    v, c = T.dvector("v"), T.lscalar("c")
    f = sw.function([v, c], T.grad(T.ifelse(c, v[5], v[0] * v[1]), v), mode=mode, device=device)
    assert f(np.arange(3.0), 0).tolist() == [1, 0, 0]
    assert f(np.arange(6.0), 1).tolist() == [0, 0, 0, 0, 0, 1]
    with pytest.raises(sw.BoundsError):
        f(np.arange(3.0), 1)


@pytest.mark.parametrize("mode", MODES)
def test_each_branch_is_differentiated_only_where_it_is_taken(mode, device):
    counts = {}
    x, c = T.dvector("x"), T.lscalar("c")
    first, second = Counted("a", counts), Counted("b", counts)
    cost = T.ifelse(c, first(x * 3), second(x * x)).sum()
    f = sw.function([x, c], [cost, T.grad(cost, x)], mode=mode, device=device)
    assert f([1.0, 2.0], 1)[1].tolist() == [3, 3]
    assert set(counts) == {"a", "da"}
    counts.clear()
    assert f([1.0, 2.0], 0)[1].tolist() == [2, 4]
    assert set(counts) == {"b", "db"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("outer", [0, 1])
@pytest.mark.parametrize("inner", [0, 1])
def test_gradient_of_nested_branches(outer, inner, mode, device):
    x, a, b = T.dscalar("x"), T.lscalar("a"), T.lscalar("b")
    taken = {(1, 1): x * 2, (1, 0): x * x, (0, 1): x * 5, (0, 0): T.exp(x)}
    values = {(1, 1): 2, (1, 0): 6, (0, 1): 5, (0, 0): np.exp(3)}
    leaves = {key: y if key == (outer, inner) else Fails()(y) for key, y in taken.items()}
    cost = T.ifelse(
        a, T.ifelse(b, leaves[1, 1], leaves[1, 0]), T.ifelse(b, leaves[0, 1], leaves[0, 0])
    )
    f = sw.function([x, a, b], T.grad(cost, x), mode=mode, device=device)
    np.testing.assert_allclose(f(3.0, outer, inner).item(), values[outer, inner], rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("taken", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_value_that_two_branches_share_is_differentiated_if_one_is_taken(taken, mode, device):
    counts = {}
    x, a, b = T.dscalar("x"), T.lscalar("a"), T.lscalar("b")
    shared = Counted("s", counts)(T.log(x))
    cost = T.ifelse(a, shared * 2, x * 3) + T.ifelse(b, shared * shared, x * 5)
    f = sw.function([x, a, b], T.grad(cost, x), mode=mode, device=device)
    value = 0.0 if taken == (0, 0) else 4.0
    expected = (2 / 4 if taken[0] else 3) + (2 * np.log(4.0) / 4 if taken[1] else 5)
    np.testing.assert_allclose(f(value, *taken).item(), expected, rtol=1e-12)
    assert ("ds" in counts) == (taken != (0, 0))


@pytest.mark.parametrize("mode", MODES)
def test_second_derivatives_and_directional_derivatives_are_lazy(mode, device):
    x, c = T.dscalar("x"), T.lscalar("c")
    cost = T.ifelse(c, T.log(x), x**3)
    second = T.grad(T.grad(cost, x), x)
    along = T.Rop(cost, x, T.constant(2.0))
    f = sw.function([x, c], [second, along], mode=mode, device=device)
    assert [r.item() for r in f(0.0, 0)] == [0, 0]
    assert [r.item() for r in f(2.0, 0)] == [12, 24]
    assert [r.item() for r in f(2.0, 1)] == [-0.25, 1]


@pytest.mark.parametrize("mode", MODES)
def test_branches_with_several_outputs_and_derivatives_of_inner_variables(mode, device):
    x, y, c = T.dvector("x"), T.dvector("y"), T.lscalar("c")
    inner = x * 2
    first, second = T.ifelse(c, [inner, inner * y], [y, Fails()(y)])
    cost = (first * 3).sum() + (second * 5).sum()
    f = sw.function([x, y, c], T.grad(cost, [x, y, inner]), mode=mode, device=device)
    assert [r.tolist() for r in f([1.0, 2.0], [3.0, 4.0], 1)] == [[36, 46], [10, 20], [18, 23]]


def test_gradient_of_ifelse_in_a_scan_is_lazy(device):
    x = T.dvector("x")
    steps = sw.graph.scan(lambda e: T.ifelse(e > 0, T.log(e), e * 2), sequences=x)
    f = sw.function([x], T.grad(steps.sum(), x), device=device)
    assert f([0.0, 2.0, -1.0]).tolist() == [2, 0.5, 2]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("explicit", [True, False])
def test_branches_in_a_scan_that_depend_on_no_step_are_computed_where_taken(mode, explicit, device):
    """log(w - 3) is not in the loop by its inputs, but only the branch needs it."""
    x, w, limit = T.dvector("x"), T.dscalar("w"), T.dscalar("limit")

    def step(state, w):
        outside = T.exp(w * 0)  # of both branches: computed once
        branch = T.ifelse(w > 0, T.log(w - 3) * outside, Fails()(w))
        return T.ifelse(state.sum() > limit, branch * state, state * w * outside)

    fn = step if explicit else (lambda state: step(state, w))
    states = sw.graph.scan(fn, (), x, [w] if explicit else (), n_steps=2)
    cost = states[-1].sum()
    f = sw.function([x, w, limit], [cost, *T.grad(cost, [x, w])], mode=mode, device=device)
    cost, by_x, by_w = f([1.0, 2.0], 3.0, 100.0)
    assert (cost.item(), by_x.tolist(), by_w.item()) == (27, [9, 9], 18)
    log = np.log(4.0)
    cost, by_x, by_w = f([1.0, 2.0], 7.0, 20.0)  # the second step takes the branch
    np.testing.assert_allclose(cost.item(), 3 * 7 * log)
    np.testing.assert_allclose(by_x.numpy(), [7 * log] * 2)
    np.testing.assert_allclose(by_w.item(), 3 * (log + 7 / 4))


def test_gradient_of_a_branch_with_a_scan_is_lazy(device):
    x, c = T.dvector("x"), T.lscalar("c")
    steps = sw.graph.scan(lambda e: Fails()(e), sequences=x)
    f = sw.function([x, c], T.grad(T.ifelse(c, steps, x * x).sum(), x), device=device)
    assert f([1.0, 2.0], 0).tolist() == [2, 4]


def test_gradient_of_a_graph_with_ifelse_inside_is_lazy(device):
    x, c = T.dscalar("x"), T.lscalar("c")
    op = sw.graph.OpFromGraph([x, c], [T.ifelse(c, T.log(x), x * 2)])
    f = sw.function([x, c], T.grad(op(x, c) * 3, x), device=device)
    assert f(0.0, 0).item() == 6
    assert f(2.0, 1).item() == 1.5


class Choose(sw.Op):
    """The second input where the first is not 0, else the third: a lazy op in Python."""

    __props__ = ()
    needed_if = {1: (0, True), 2: (0, False)}

    def make_node(self, condition, a, b):
        return sw.Apply(self, [condition, a, b], [a.type()])

    def make_thunk(self, node, storage_map, compute_map, no_recycling, impl=None):
        inputs, (output,) = node.inputs, node.outputs

        def thunk():
            if not compute_map[inputs[0]][0]:
                return [0]
            chosen = 1 if storage_map[inputs[0]][0].item() else 2
            if not compute_map[inputs[chosen]][0]:
                return [chosen]
            storage_map[output][0] = sw.array(storage_map[inputs[chosen]][0])
            compute_map[output][0] = True
            return []

        thunk.lazy = True
        return thunk

    def connection_pattern(self, node):
        return [[False], [True], [True]]

    def grad(self, inputs, output_gradients):
        return [None, *output_gradients * 2]


def test_lazy_op_in_python_says_when_its_inputs_are_needed(device):
    x, c = T.dvector("x"), T.lscalar("c")
    cost = Choose()(c, T.exp(x) * Fails()(x), x * x).sum()
    f = sw.function([x, c], [cost, T.grad(cost, x)], device=device)
    assert [r.tolist() for r in f([1.0, 2.0], 0)] == [5, [2, 4]]


def test_switch_computes_both_branches_as_in_theano(device):
    x = T.dscalar("x")
    f = sw.function([x], T.grad(T.switch(x > 0, T.log(x), x * 2), x), device=device)
    assert np.isnan(f(0.0).item())


@pytest.mark.parametrize("mode", MODES)
def test_elementwise_operations_of_two_branches_are_not_fused(mode, device):
    c, x, y = T.iscalar("c"), T.dvector("x"), T.dvector("y")
    product = T.exp(x)
    outputs = [T.ifelse(c, product * Fails()(y), x + 1), product + 2]
    f = sw.function([c, x, y], outputs, device=device, mode=mode)
    assert [r.tolist() for r in f(0, [0.0, 0.0], [5.0, 5.0])] == [[1, 1], [3, 3]]
    with pytest.raises(AssertionError, match="computed"):
        f(1, [0.0, 0.0], [5.0, 5.0])


def test_operations_of_one_branch_are_fused(device):
    c, x = T.iscalar("c"), T.dvector("x")
    f = sw.function([c, x], T.ifelse(c, T.exp(x) * 2 + 1, x), device=device)
    names = [str(node.op) for node in f.maker.fgraph.toposort()]
    assert len(names) == 2 and names[0].startswith("Composite{"), names
    assert f(1, [0.0]).tolist() == [3]
