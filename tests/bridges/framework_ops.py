# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Ops for the tests of sw.torch_op and sw.jax_op."""

import spanwise as sw

T = sw.tensor

CUBE = """
__global__ void cube(const T *x, T *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * x[i] * x[i];
}"""

CUBE_GRADIENT = """
__global__ void cube_gradient(const T *x, const T *dy, T *dx, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) dx[i] = 3 * x[i] * x[i] * dy[i];
}"""

SCALE_ROWS = """
#include <spanwise/view.cuh>
__global__ void scale_rows(spanwise::View<const T, 2> x, const T *by, T *y, int h, int w) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < h * w) y[i] = by[i / w] * x(i / w, i % w);
}"""


def cube(has_gradient=True):
    """The cubes of a vector; the derivative is another kernel."""
    gradient = sw.kernel_op(
        "cube_gradient",
        CUBE_GRADIENT,
        inputs=["x: contiguous T[n]", "dy: contiguous T[n]"],
        outputs="dx: contiguous T[n]",
    )
    return sw.kernel_op(
        "cube",
        CUBE,
        inputs="x: contiguous T[n]",
        outputs="y: contiguous T[n]",
        grad={"x": gradient} if has_gradient else None,
    )


def power_of_sum(**options):
    """(x + y) ** 2 and x - y, broadcast: an op of an element body."""
    operation = "s = (x + y) * (x + y); d = x - y"
    return sw.kernel_op("power_of_sum", operation, "T x, T y", "T s, T d", **options)


def scale_rows():
    """Each row of a matrix times a number; the derivative is a function."""
    return sw.kernel_op(
        "scale_rows",
        SCALE_ROWS,
        inputs=["x: strided T[h, w]", "by: contiguous T[h]"],
        outputs="y: contiguous T[h, w]",
        grad=lambda inputs, g: [g[0] * inputs[1][:, None], T.sum(g[0] * inputs[0], axis=1)],
    )


def scaled():
    """x * by, broadcast; without a derivative."""
    return sw.ElementwiseKernel("T x, T by", "T z", "z = x * by", "scaled")


class SumAndDifference(sw.Op):
    """The sum and the difference of two arrays of equal shapes."""

    __props__ = ()

    def make_node(self, x, y):
        x, y = sw.graph.as_variable(x), sw.graph.as_variable(y)
        return sw.Apply(self, [x, y], [x.type(), x.type()])

    def perform(self, node, inputs, output_storage):
        x, y = inputs
        output_storage[0][0], output_storage[1][0] = x + y, x - y

    def grad(self, inputs, output_gradients):
        total, difference = output_gradients
        return [total + difference, total - difference]


#: Name -> (op, the shapes of its inputs).
TEN_OPS = {
    "cube_by_graph": (lambda x: x**3, [(5,)]),
    "exp_product": (lambda x, y: T.exp(x) * y, [(5,), (5,)]),
    "broadcast": (lambda x, y: T.sin(x) * y, [(3, 1), (4,)]),
    "sum_of_rows": (lambda x: T.sum(x * x, axis=1), [(3, 4)]),
    "softmax": (lambda x: T.softmax(x), [(3, 4)]),
    "product": (lambda x, y: T.dot(x, y), [(3, 4), (4, 2)]),
    "transposed": (lambda x: T.tanh(x.T) * 2, [(3, 4)]),
    "part": (lambda x: x[1:, ::2] ** 2, [(3, 4)]),
    "mean": (lambda x: T.mean(T.exp(x)), [(3, 4)]),
    "scale_rows": (scale_rows(), [(3, 4), (3,)]),
}
