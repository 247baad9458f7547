# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""sw.graph.equal and sw.clone."""

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor


def test_equal_graphs_have_equal_ops_inputs_and_constants():
    x, y = T.fmatrices("x", "y")
    w = sw.shared(np.ones((2, 2), "float32"))

    def equal(a, b, *inputs):
        result = sw.graph.equal(a, b, *inputs)
        assert sw.graph.equal(b, a, *inputs[::-1]) == result
        return result

    assert equal(x + 1, y + 1) and equal([x + y, x], [y + x, y])
    assert not equal([x + y, x], [y + x, x]) and not equal(x + y, x + x)
    assert not equal(x + 1, x + 2) and not equal(x + 1, x - 1) and not equal(x.sum(0), x.sum(1))
    assert not equal(x + 1, T.dmatrix() + 1) and not equal([x], [x, x])
    assert not equal(x + w, x + y) and equal(x + w, y + w)
    assert equal(x * np.nan, x * np.nan)
    assert equal(x + y, y + x, [x, y], [y, x]) and not equal(x + y, y + x, [x], [x])
    assert equal(x, x) and not equal(x, x + 0)
    with pytest.raises(sw.GraphError, match="expected variables"):
        sw.graph.equal(1, x)


def test_clone_copies_the_graph_and_replaces_variables(device):
    x, y = T.fmatrices("x", "y")
    z = sw.exp(x * 2)
    z.name, z.tag.note = "z", "a note"
    out = z + x
    copied = sw.clone(out)
    assert copied is not out and sw.graph.equal(copied, out, [x], [x])
    assert copied.owner.inputs[0].name == "z" and copied.owner.inputs[0].tag.note == "a note"
    values = np.full((2, 2), 0.5, "float32")
    replaced, doubled = sw.clone((out, 1 * z), replace={x * 1: y, x: y + 1})
    f = sw.function([y], [replaced, doubled], device=device)
    for ours, theirs in zip(f(values), (np.exp(3.0) + 1.5, np.exp(3.0)), strict=True):
        np.testing.assert_allclose(ours.numpy(), np.full((2, 2), theirs), rtol=1e-6)
    inner = sw.clone({"out": out}, replace=[(z, y)])["out"]
    assert sw.graph.equal(inner, y + x, [x, y], [x, y])
    wider = sw.clone(out, replace={x: T.tensor("float32", (3, None))})
    assert wider.type.shape == (3, None)
    with pytest.raises(sw.GraphError, match="cast it"):
        sw.clone(out, replace={x: T.dmatrix()})
    with pytest.raises(sw.GraphError, match="no variable"):
        sw.clone(out, replace={1: x})
