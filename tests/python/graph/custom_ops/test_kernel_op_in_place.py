# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""sw.kernel_op: outputs in the memory of inputs."""

import pickle

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor

IN_PLACE = """
#include <spanwise/view.cuh>
__global__ void add_to(double *total, const double *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) total[i] += y[i];
}
__global__ void negate(spanwise::View<double, 2> z, int h, int w) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < h * w) z(i / w, i % w) = -z(i / w, i % w);
}
"""


def add_to(**kwargs):
    defaults = {
        "inputs": ["x: contiguous float64[n]", "y: contiguous float64[n]"],
        "outputs": ["total: contiguous float64[n]"],
        "arguments": ["total", "y", "n"],
        "overwrites": {"total": "x"},
    }
    return sw.kernel_op("add_to", IN_PLACE, **{**defaults, **kwargs})


@pytest.mark.parametrize("mode", ["fast_run", "fast_compile", "debug"])
def test_output_in_the_memory_of_an_input_leaves_arguments_unchanged(device, mode):
    x, y = T.dvectors("x", "y")
    op = add_to()
    assert op.destroy_map == {0: [0]} and op == add_to() and op != add_to(block=64)
    assert pickle.loads(pickle.dumps(op)) == op
    f = sw.function([x, y], op(op(x * 2, y), y[::-1]), device=device, mode=mode)
    argument = sw.array([1.0, 2.0, 3.0], device=device)
    for _ in range(2):
        assert f(argument, [10, 20, 30]).tolist() == [42, 44, 46]
    assert argument.tolist() == [1, 2, 3], "an argument is not overwritten"
    g = sw.function([x], [op(x, x), op(x + 0, (x + 0)[::-1]), x], device=device, mode=mode)
    assert [r.tolist() for r in g([1, 2])] == [[2, 4], [3, 3], [1, 2]]
    h = sw.function([x, y], op((x * 2)[::-2], y), device=device, mode=mode)
    assert h([1, 2, 3], [1, 1]).tolist() == [7, 3], "an input in another order than C is copied"


def test_mutable_argument_is_overwritten(device):
    x, y = T.dvectors("x", "y")
    f = sw.function([sw.In(x, mutable=True), y], sw.Out(add_to()(x, y), borrow=True), device=device)
    argument = sw.array([1.0, 2.0], device=device)
    result = f(argument, sw.array([3.0, 4.0], device=device))
    assert result.tolist() == [4, 6] and result.ptr == argument.ptr


def test_strided_view_is_overwritten_in_place(device):
    negate = sw.kernel_op(
        "negate",
        IN_PLACE,
        inputs="x: strided float64[h, w]",
        outputs="z: strided float64[h, w]",
        arguments=["z", "h", "w"],
        overwrites={"z": "x"},
    )
    x = T.dmatrix("x")
    values = np.arange(12.0).reshape(3, 4)
    f = sw.function([x], negate((x + 1).T[::-1]), device=device)
    assert np.array_equal(f(values).numpy(), -(values + 1).T[::-1])
    constant = T.constant(values).broadcast_to((3, 4))
    assert np.array_equal(sw.function([], negate(constant), device=device)().numpy(), -values)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"overwrites": {"sum": "x"}}, "expected the name of an output, got sum"),
        ({"overwrites": {"total": "z"}}, "expected the name of an input, got z"),
        (
            {"inputs": ["x: strided float64[n]", "y: contiguous float64[n]"]},
            "total and x are not declared alike",
        ),
        (
            {"outputs": ["total: contiguous float64[n + 1]"]},
            "total and x are not declared alike",
        ),
    ],
)
def test_invalid_overwrites_raise(kwargs, message):
    with pytest.raises(sw.ArgumentError, match=f"kernel_op add_to, overwrites: .*{message}"):
        add_to(**kwargs)
