# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Ops of all kinds for random graphs, each with its function of NumPy arrays."""

import numpy as np
from support.step_ops import (
    AddAndReverse,
    Flipped,
    FourParameterThunk,
    IfElse,
    Increased,
    Negated,
    SumAndDifference,
    SumAndDifferenceInPlace,
    Twice,
)

import spanwise as sw

T = sw.tensor


def _pair_of_graphs(inline):
    """x * 0.5 + y, and y transposed twice, as a graph."""
    x, y = T.dmatrices("x", "y")
    return sw.graph.OpFromGraph([x, y], [x * 0.5 + y, y.T.T], inline)


in_a_graph, expanded = _pair_of_graphs(False), _pair_of_graphs(True)

half_and_complement = sw.kernel_op(
    "half_and_complement",
    """
    __global__ void half_and_complement(const double *x, double *half, double *complement, int n) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) half[i] = 0.5 * x[i], complement[i] = 1 - x[i];
    }
    """,
    inputs=["x: contiguous float64[h, w]"],
    outputs=["half: contiguous float64[h, w]", "complement: contiguous float64[h, w]"],
    arguments=["x", "half", "complement", "h * w"],
)

mixed = sw.kernel_op(
    "mixed",
    """
    #include <spanwise/view.cuh>
    __global__ void mixed(spanwise::View<const double, 2> x, spanwise::View<const double, 2> y,
                          spanwise::View<double, 2> z, int h, int w) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < h * w) z(i / w, i % w) = 0.5 * x(i / w, i % w) - y(h - 1 - i / w, i % w);
    }
    """,
    inputs=["x: strided float64[h, w]", "y: strided float64[h, w]"],
    outputs=["z: strided float64[h, w]"],
    arguments=["x", "y", "z", "h", "w"],
)

added_to = sw.kernel_op(
    "added_to",
    """
    __global__ void added_to(double *total, const double *y, int n) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) total[i] += y[i];
    }
    """,
    inputs=["x: contiguous float64[h, w]", "y: contiguous float64[h, w]"],
    outputs=["total: contiguous float64[h, w]"],
    arguments=["total", "y", "h * w"],
    overwrites={"total": "x"},
)


def _set(x, key, value):
    result = x.copy()
    result[key] = value
    return result


def _added(x, key, value):
    result = x.copy()
    np.add.at(result, key, value)
    return result


def _softmax(x):
    powers = np.exp(x - x.max(0))
    return powers / powers.sum(0)


def _on_other_device(graph, op, x):
    return [op(x.transfer(graph.other)).transfer(graph.device)]


_sum_and_difference = SumAndDifference()

_sum_and_difference_in_place = SumAndDifferenceInPlace()

_add_and_reverse = AddAndReverse()

#: Row indices that are valid for all matrices, one of them repeated.
ROWS = [-1, 0, -1]

#: The number of operands, the op applied to the graph's variables, and the same function of NumPy arrays,
#: after the graph's condition; both return lists. Products are bounded, so that values and errors stay small;
#: all steps are continuous near their operands.
STEPS = [
    (2, lambda g, x, y: [x + y], lambda c, x, y: [x + y]),
    (2, lambda g, x, y: [sw.tanh(x * y)], lambda c, x, y: [np.tanh(x * y)]),
    (2, lambda g, x, y: [sw.maximum(x, y)], lambda c, x, y: [np.maximum(x, y)]),
    (1, lambda g, x: [sw.tanh(x)], lambda c, x: [np.tanh(x)]),
    (1, lambda g, x: [x + 1], lambda c, x: [x + 1]),
    (1, lambda g, x: [sw.contiguous(x)], lambda c, x: [x]),
    (2, lambda g, x, y: [sw.tanh(x @ y)], lambda c, x, y: [np.tanh(x @ y)]),
    # Reductions that compute the elements that they read.
    (
        2,
        lambda g, x, y: [sw.tanh(((x - y) ** 2).sum(axis=0)) + y],
        lambda c, x, y: [np.tanh(((x - y) ** 2).sum(axis=0)) + y],
    ),
    (
        2,
        lambda g, x, y: [(sw.tanh(x) * y + 1).max(axis=1, keepdims=True) - x],
        lambda c, x, y: [(np.tanh(x) * y + 1).max(axis=1, keepdims=True) - x],
    ),
    (
        1,
        lambda g, x: [x * sw.tanh((x[::-1].T * 0.5 + x).mean())],
        lambda c, x: [x * np.tanh((x[::-1].T * 0.5 + x).mean())],
    ),
    # Sums of products, read by an op that is not elementwise.
    (
        2,
        lambda g, x, y: [sw.tanh((0.5 * (x @ y) - 2 * x)[::-1])],
        lambda c, x, y: [np.tanh((0.5 * (x @ y) - 2 * x)[::-1])],
    ),
    (
        2,
        lambda g, x, y: [sw.tanh((y[0] - 0.1 * (x.T @ y[0] + 0.2 * y[0]))[::-1]) + x],
        lambda c, x, y: [np.tanh((y[0] - 0.1 * (x.T @ y[0] + 0.2 * y[0]))[::-1]) + x],
    ),
    (
        2,
        lambda g, x, y: [sw.tanh((x @ y / 3 + x.T @ x.T - y).T)],
        lambda c, x, y: [np.tanh((x @ y / 3 + x.T @ x.T - y).T)],
    ),
    # Ops in Python: reused buffers, overwriting, views, and combinations.
    (1, lambda g, x: [Twice()(x)], lambda c, x: [x * 2]),
    (1, lambda g, x: [FourParameterThunk()(x)], lambda c, x: [x - 0.5]),
    (1, lambda g, x: [Negated()(x)], lambda c, x: [-x]),
    (1, lambda g, x: [Increased()(x)], lambda c, x: [x + 1]),
    (2, lambda g, x, y: _sum_and_difference_in_place(x, y), lambda c, x, y: [x + y, x - y]),
    (2, lambda g, x, y: _add_and_reverse(x, y), lambda c, x, y: [x + y, y[::-1]]),
    (1, lambda g, x: [Flipped(0)(x)], lambda c, x: [np.flip(x, 0)]),
    (1, lambda g, x: [Flipped(1)(x)], lambda c, x: [np.flip(x, 1)]),
    (2, lambda g, x, y: _sum_and_difference(x, y), lambda c, x, y: [x + y, x - y]),
    (2, lambda g, x, y: [IfElse()(g.condition, x, y)], lambda c, x, y: [x if c else y]),
    # Graphs as ops.
    (2, lambda g, x, y: in_a_graph(x, y), lambda c, x, y: [x * 0.5 + y, y]),
    (2, lambda g, x, y: expanded(x, y), lambda c, x, y: [x * 0.5 + y, y]),
    # Ops from kernels.
    (1, lambda g, x: half_and_complement(x), lambda c, x: [0.5 * x, 1 - x]),
    (2, lambda g, x, y: [mixed(x, y)], lambda c, x, y: [0.5 * x - y[::-1]]),
    (2, lambda g, x, y: [added_to(x, y)], lambda c, x, y: [x + y]),
    # On another device.
    (1, lambda g, x: _on_other_device(g, lambda v: v * 0.5, x), lambda c, x: [x * 0.5]),
    (1, lambda g, x: _on_other_device(g, Negated(), x), lambda c, x: [-x]),
    (1, lambda g, x: _on_other_device(g, lambda v: v, x), lambda c, x: [x]),
    # Views and assignments to them.
    (1, lambda g, x: [x.T], lambda c, x: [x.T]),
    (1, lambda g, x: [x[::-1, ::-1]], lambda c, x: [x[::-1, ::-1]]),
    (1, lambda g, x: [x.T.reshape(x.shape)], lambda c, x: [x.T.reshape(x.shape)]),
    (2, lambda g, x, y: [x[-1] * 0.5 + y], lambda c, x, y: [x[-1] * 0.5 + y]),
    (2, lambda g, x, y: [T.set_subtensor(x[:1], y[0])], lambda c, x, y: [_set(x, 0, y[0])]),
    (
        2,
        lambda g, x, y: [T.inc_subtensor(x[::2], y[-1])],
        lambda c, x, y: [_added(x, np.s_[::2], y[-1])],
    ),
    (2, lambda g, x, y: [T.set_subtensor(x[ROWS], y[0])], lambda c, x, y: [_set(x, ROWS, y[0])]),
    (2, lambda g, x, y: [T.inc_subtensor(x[ROWS], y[0])], lambda c, x, y: [_added(x, ROWS, y[0])]),
    (
        1,
        lambda g, x: [T.inc_subtensor(x[x > 0], x[x > 0] * 0.5)],
        lambda c, x: [np.where(x > 0, x * 1.5, x)],
    ),
    (1, lambda g, x: [x[[-1] * 2][:1] + x * 0.5], lambda c, x: [x[[-1] * 2][:1] + x * 0.5]),
    (
        1,
        lambda g, x: [x.max(0).broadcast_to(x.shape)],
        lambda c, x: [np.broadcast_to(x.max(0), x.shape)],
    ),
    (
        2,
        lambda g, x, y: [T.concatenate([x, y], 1)[:, ::2]],
        lambda c, x, y: [np.concatenate([x, y], 1)[:, ::2]],
    ),
    # Reductions, selections, casts.
    (
        1,
        lambda g, x: [x - x.mean(axis=1, keepdims=True)],
        lambda c, x: [x - x.mean(1, keepdims=True)],
    ),
    (1, lambda g, x: [sw.tanh(x.cumsum(0))], lambda c, x: [np.tanh(x.cumsum(0))]),
    (1, lambda g, x: [sw.where(x > 0, x, x * 0.5)], lambda c, x: [np.where(x > 0, x, x * 0.5)]),
    (1, lambda g, x: [x.astype("complex128").astype("float64")], lambda c, x: [x]),
    (1, lambda g, x: [T.softmax(x, 0)], lambda c, x: [_softmax(x)]),
]
