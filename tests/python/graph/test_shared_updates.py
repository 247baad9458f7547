# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Updates of shared variables."""

import threading

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor


def ones(*shape, dtype="float32"):
    return np.ones(shape, dtype)


def test_updates_are_computed_from_the_values_before_the_call(device):
    a, b = sw.shared(1.0, target=device), sw.shared(2.0, target=device)
    swap = sw.function([], [a, b], updates={a: b, b: a}, device=device)
    first, second = swap()
    assert (first.item(), second.item()) == (1, 2)
    assert (a.get_value().item(), b.get_value().item()) == (2, 1)
    swap()
    assert (a.get_value().item(), b.get_value().item()) == (1, 2)


def test_an_update_may_be_a_number_or_a_list(device):
    w = sw.shared(ones(2), target=device)
    n = sw.shared(3)
    sw.function([], updates={w: [5, 6], n: 7}, device=device)()
    assert w.get_value().tolist() == [5, 6] and n.get_value().item() == 7


class Fails(sw.Op):
    """Copies its input until `fails` is set."""

    def __init__(self):
        self.fails = False

    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        if self.fails:
            raise RuntimeError("on request")
        output_storage[0][0] = inputs[0].copy()


@pytest.mark.parametrize("mode", ["fast_run", "fast_compile", "debug"])
def test_failed_call_changes_no_shared_variable(mode, device):
    a, b, op = sw.shared(ones(2), target=device), sw.shared(ones(2), target=device), Fails()
    f = sw.function([], a + b, updates=[(a, a * 2), (b, op(b + 1))], mode=mode, device=device)
    op.fails = True
    with pytest.raises(RuntimeError, match="on request"):
        f()
    assert a.get_value().tolist() == [1, 1] and b.get_value().tolist() == [1, 1]
    op.fails = False
    assert f().tolist() == [2, 2]
    assert a.get_value().tolist() == [2, 2] and b.get_value().tolist() == [2, 2]


@pytest.mark.parametrize(
    ("updates", "message"),
    [
        (lambda w, x: {x: w}, "x, which is no shared variable"),
        (lambda w, x: {w: w.type.__class__("float64", (None,))()}, "float64"),
        (lambda w, x: {w: T.fmatrix("m")}, "expected the same dtype and axes"),
        (lambda w, x: [(w, w), (w, x)], "changes w twice"),
        (lambda w, x: [(w, w), 3], "list of pairs"),
        (lambda w, x: {"w": w}, "no variable"),
    ],
)
def test_invalid_updates_raise(updates, message):
    w, x = sw.shared(ones(2), "w"), T.fvector("x")
    with pytest.raises((sw.GraphError, TypeError), match=message):
        sw.function([x], x, updates=updates(w, x))


def test_update_of_the_wrong_shape_raises_at_run_time(device):
    w = sw.shared(ones(2), target=device)
    x = T.fvector("x")
    f = sw.function([x], updates={w: x + w}, device=device)
    with pytest.raises(ValueError, match="broadcast"):
        f(ones(3))
    assert w.get_value().tolist() == [1, 1]
    f(ones(1))
    assert w.get_value().tolist() == [2, 2]


def test_copies_have_their_own_updates(device):
    w, v = sw.shared(ones(1), "w", target=device), sw.shared(ones(1) * 10, "v", target=device)
    f = sw.function([], w, updates={w: w + 1}, name="f", device=device)
    g, h = f.copy(swap={w: v}, name="g"), f.copy(delete_updates=True)
    assert g.name == "g" and g().tolist() == [10] and g().tolist() == [11]
    assert h().tolist() == [1] and h().tolist() == [1] and f().tolist() == [1]
    assert h().tolist() == [2] and f.name == "f"
    with pytest.raises(sw.GraphError, match="swap"):
        f.copy(swap={w: T.fvector()})


def test_threads_lose_no_update(device):
    n = sw.shared(0)
    increment = sw.function([], updates={n: n + 1}, device=device)
    increment_by_2 = sw.function([], n, updates={n: n + 2}, device=device)

    def call_often(f):
        for _ in range(100):
            f()

    threads = [
        threading.Thread(target=call_often, args=(f,)) for f in (increment, increment_by_2) * 2
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert n.get_value().item() == 600


def test_threads_see_whole_updates(device):
    a, b = sw.shared(ones(4), target=device), sw.shared(ones(4), target=device)
    step = sw.function([], updates={a: a + 1, b: b + 1}, device=device)
    difference = sw.function([], a - b, device=device)
    differences = []

    def read_often():
        for _ in range(200):
            differences.append(difference().numpy())

    thread = threading.Thread(target=read_often)
    thread.start()
    for _ in range(200):
        step()
    thread.join()
    assert not np.any(differences) and a.get_value().tolist() == [201] * 4


class Calls(sw.Op):
    """A copy of its input; calls `callback` while it runs."""

    def __init__(self, callback):
        self.callback = callback

    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        self.callback()
        output_storage[0][0] = inputs[0].copy()


def test_op_that_changes_a_variable_with_an_update_raises(device):
    w, v = sw.shared(ones(1), target=device), sw.shared(ones(1), target=device)
    inner = sw.function([], updates={w: w + 5}, device=device)
    for call, message in (
        (inner, "updates a shared variable"),
        (lambda: w.set_value([1]), "set_value"),
    ):
        f = sw.function([], Calls(call)(w), updates={w: w * 2}, device=device)
        with pytest.raises(sw.GraphError, match=message):
            f()
        assert w.get_value().tolist() == [1]
    update_v = sw.function([], updates={v: v + 5}, device=device)
    sw.function([], Calls(update_v)(w), updates={w: w * 2}, device=device)()
    assert v.get_value().tolist() == [6] and w.get_value().tolist() == [2]


def test_recursion_is_refused(device):
    w = sw.shared(ones(1), target=device)
    callbacks = []
    f = sw.function([], Calls(lambda: callbacks[0]())(w), device=device, name="f")
    callbacks.append(f)
    with pytest.raises(sw.GraphError, match="no recursion"):
        f()
    callbacks[0] = lambda: None
    assert f().tolist() == [1]
