# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""allow_gc and preallocate: when memory of intermediate results is held."""

import weakref

import numpy as np
import pytest
from support.step_ops import IfElse

import spanwise as sw

T = sw.tensor


class NewMemory(sw.Op):
    """Its input plus 1 in new memory, to which `references` gets a weak reference."""

    __props__ = ("number",)

    def __init__(self, number, references):
        self.number = number
        self.references = references

    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        values = inputs[0].numpy() + 1
        output_storage[0][0] = sw.asarray(values)
        self.references.append(weakref.ref(values))


class RecordingOp(sw.Op):
    """Its input as a view; calls `note` with it."""

    view_map = {0: [0]}

    def __init__(self, note):
        self.note = note

    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        self.note(inputs[0])
        output_storage[0][0] = inputs[0]


def chain(length, **options):
    """(A function of `length` NewMemory nodes and a last node, for each call the number of living results
    while the last node runs, weak references to all results)."""
    x = T.dvector("x")
    references, alive_counts = [], []
    y = x
    for i in range(length):
        y = NewMemory(i, references)(y)
    recorder = RecordingOp(lambda _: alive_counts.append(count_alive(references)))
    f = sw.function([x], recorder(y)[::-1] * 2, device="cpu", **options)
    return f, alive_counts, references


def count_alive(references):
    return sum(reference() is not None for reference in references)


def test_intermediate_results_are_freed_after_their_last_use():
    f, alive_counts, references = chain(6, allow_gc=True)
    for call in range(1, 3):
        np.testing.assert_array_equal(f([1, 2]).numpy(), [16, 14])
        assert alive_counts == [1] * call, "only the input of the last node"
        assert count_alive(references) == 0


def test_results_are_kept_for_the_next_call_without_allow_gc():
    f, alive_counts, references = chain(6, allow_gc=False)
    f([1, 2])
    assert alive_counts == [6] and count_alive(references) == 6
    f.free()
    assert count_alive(references) == 0
    np.testing.assert_array_equal(f([1, 2]).numpy(), [16, 14])


def test_setting_is_the_default_of_the_function_option_and_copies_keep_the_option():
    with sw.config.change(allow_gc=True):
        f, _, references = chain(3)
        keeping, _, keeping_references = chain(3, allow_gc=False)
    f([1])
    keeping([1])
    assert count_alive(references) == 0 and count_alive(keeping_references) == 3
    f.copy()([1])  # a copy has the option of f, not the present setting
    assert len(references) == 6 and count_alive(references) == 0


@pytest.mark.parametrize("mode", ["fast_run", "fast_compile", "debug"])
def test_views_keep_their_base_alive(device, mode):
    x = np.random.default_rng(1).standard_normal((30, 30))
    a = T.dmatrix("a")
    b = sw.exp(a)
    view = b[::2].T
    c = (b + 1).sum(0)
    d = sw.tanh(c)[:15] + view.reshape(-1)[:15]
    f = sw.function([a], [d, view, d.sum()], allow_gc=True, mode=mode, device=device)
    for _ in range(2):
        e = np.exp(x)
        total = np.tanh((e + 1).sum(0))[:15] + e[::2].T.reshape(-1)[:15]
        for ours, theirs in zip(f(x), (total, e[::2].T, total.sum()), strict=True):
            np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-9)
            ours[...] = np.nan


def test_outputs_of_equal_nodes_reuse_two_buffers(device):
    addresses = []
    a = T.dmatrix("a")
    y = a
    for _ in range(4):
        # A view between the nodes, so that none overwrites its input.
        y = RecordingOp(lambda array: addresses.append(array.ptr))(sw.exp(y.T * 0))
    f = sw.function([a], y + 1, device=device)
    x = np.ones((64, 64))
    calls = []
    for _ in range(3):
        addresses.clear()
        f(x)
        calls.append(list(addresses))
    assert calls[0] == calls[1] == calls[2] and len(set(calls[0])) == 2


class BufferRecordingOp(sw.Op):
    """A copy that records the previous content of its output buffer."""

    def __init__(self):
        self.buffers = []

    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        self.buffers.append(output_storage[0][0])
        output_storage[0][0] = inputs[0].copy()


def test_buffers_of_known_shape_are_allocated_before_the_first_call(device):
    x = np.ones((3, 4))
    for shape, preallocate in (((3, 4), True), ((3, 4), False), ((None, 4), True)):
        a, op = T.tensor("float64", shape), BufferRecordingOp()
        f = sw.function([a], op(a).sum(0), device=device, preallocate=preallocate)
        f(x)
        first = op.buffers[0]
        if preallocate and None not in shape:
            assert first.shape == (3, 4) and first.dtype == "float64" and first.device == device
        else:
            assert first is None
    with pytest.raises(sw.GraphError, match="expected one of the two"):
        sw.function([a], a + 1, allow_gc=True, preallocate=True)


def test_lazy_graph_with_allow_gc_computes_either_branch(device):
    i, a = T.lscalar("i"), T.dvector("a")
    f = sw.function([i, a], IfElse()(i, sw.exp(a), sw.sqrt(a)), allow_gc=True, device=device)
    assert f(1, [0.0]).tolist() == [1.0] and f(0, [4.0]).tolist() == [2.0]
