# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of kernel ops on arrays, which are computed immediately."""

import pickle

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor

SOURCE = """
__global__ void axpy(const T *a, const T *x, const T *y, T *z, T *difference, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  z[i] = a[0] * x[i] + y[i];
  difference[i] = a[0] * x[i] - y[i];
}"""
INCREMENT = """
__global__ void increment(float *total, const float *by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) total[i] += by[i];
}"""


@pytest.fixture
def axpy():
    return sw.kernel_op(
        "axpy",
        SOURCE,
        inputs=["a: contiguous T[]", "x: contiguous T[n]", "y: contiguous T[n]"],
        outputs=["z: contiguous T[n]", "difference: contiguous T[n]"],
    )


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_call_on_arrays_numpy_arrays_and_numbers_returns_arrays(axpy, device, dtype):
    x = sw.arange(6, dtype=dtype, device=device)
    y = np.arange(6, dtype=dtype)[::-1]
    z, difference = axpy(3, x, y)
    assert isinstance(z, sw.Array) and z.device == device and z.dtype == dtype
    assert np.array_equal(z, 3 * x.numpy() + y) and np.array_equal(difference, 3 * x.numpy() - y)
    z, _ = axpy(np.asarray(3, dtype), x[::-2], y[:3])
    assert np.array_equal(z, 3 * x.numpy()[::-2] + y[:3])


def test_result_of_one_output_is_an_array_and_inputs_are_not_changed(device):
    increment = sw.kernel_op(
        "increment",
        INCREMENT,
        inputs=["x: contiguous float32[n]", "by: contiguous float32[n]"],
        outputs="total: contiguous float32[n]",
        arguments=["total", "by", "n"],
        overwrites={"total": "x"},
    )
    x, by = sw.ones(3, "float32", device=device), sw.arange(3, dtype="float32", device=device)
    total = increment(x, by)
    assert total.tolist() == [1, 2, 3] and x.tolist() == [1, 1, 1]
    assert total.ptr not in (x.ptr, by.ptr)
    assert [r.tolist() for r in increment(x, by, return_list=True)] == [[1, 2, 3]]
    assert pickle.loads(pickle.dumps(increment))(x, by).tolist() == [1, 2, 3]


def test_any_variable_makes_the_call_part_of_a_graph(axpy, device):
    x = sw.arange(3, dtype="float32", device=device)
    y = T.fvector("y")
    two, ones = np.float32(2), np.ones(3, "float32")
    for inputs in [(T.constant(two), ones, ones), (T.constant(two), x, x), (two, x, y)]:
        z, difference = axpy(*inputs)
        assert isinstance(z, sw.Variable) and z.owner is difference.owner
    f = sw.function([y], z, device=device)
    assert f([1, 1, 1]).tolist() == [1, 3, 5]
    # The op of the node is equal to axpy, and can be called on arrays too.
    assert z.owner.op == axpy and z.owner.op(2, x, x)[0].tolist() == [0, 3, 6]


def test_arrays_of_other_libraries_and_lists_compute_at_once(axpy):
    ones = np.ones(3, "float32")
    z, difference = axpy(np.float32(2), ones, ones)
    assert isinstance(z, sw.Array) and z.tolist() == [3, 3, 3] and difference.tolist() == [1, 1, 1]
    assert axpy(2.0, [1.0, 2.0], np.ones(2))[0].tolist() == [3, 5]


def test_arrays_of_wrong_number_shape_or_dtype_raise(axpy, device):
    x = sw.arange(3, dtype="float32", device=device)
    with pytest.raises(sw.GraphError, match="axpy: expected 3 inputs, got 2"):
        axpy(x, x)
    with pytest.raises(sw.LayoutError, match="axpy: input x: expected 1 axes, got 2"):
        axpy(1.0, x.reshape(3, 1), x)
    with pytest.raises(ValueError, match="axpy: input y, axis 0: expected extent n = 3, got 2"):
        axpy(1.0, x, x[:2])
    with pytest.raises(sw.DTypeError, match="axpy: input x"):
        axpy(2.5, x.astype("int32"), x.astype("int32"))  # no int32 holds 2.5


@pytest.mark.parametrize("dtype", ["complex64", "complex128", "float32", "int32"])
@pytest.mark.parametrize("layout", ["contiguous", "strided"])
def test_complex_types_of_a_letter_have_operators(device, dtype, layout):
    body = "{ int i = threadIdx.x; if (i < n) z[i] = x[i] * x[i] + T(1); }"
    parameters = "const T *x, T *z, int n"
    if layout == "strided":
        body = "{ int i = threadIdx.x; if (i < n) z(i) = x(i) * x(i) + T(1); }"
        parameters = "spanwise::View<const T, 1> x, spanwise::View<T, 1> z, int n"
    square = sw.kernel_op(
        "square",
        f"#include <spanwise/view.cuh>\n__global__ void k({parameters}) {body}",
        inputs=f"x: {layout} T[n]",
        outputs=f"z: {layout} T[n]",
    )
    x = np.array([2, -3, 1], dtype)
    if np.iscomplexobj(x):
        x = x + np.array([0, 1, -2], dtype) * 1j
    on_device = sw.array(x, device=device)
    np.testing.assert_array_equal(square(on_device).numpy(), x * x + 1)
    v = sw.TensorType(dtype, (None,))()
    np.testing.assert_array_equal(sw.function([v], square(v))(on_device).numpy(), x * x + 1)


def test_numbers_take_a_declared_dtype_that_holds_them(device):
    scale = sw.kernel_op(
        "scale",
        "__global__ void scale(float *z, const float *x, const int *by, int n)"
        "{ int i = threadIdx.x; if (i < n) z[i] = x[i] * by[0]; }",
        inputs=["x: contiguous float32[n]", "by: contiguous int32[]"],
        outputs="z: contiguous float32[n]",
    )
    x = sw.arange(3, dtype="float32", device=device)
    assert scale(x, 2).tolist() == [0, 2, 4] and scale(x, True).tolist() == [0, 1, 2]
    for number, dtype in [(2.5, "float64"), (1j, "complex128"), (np.int64(2), "int64")]:
        with pytest.raises(sw.DTypeError, match=f"input by: expected dtype int32, got {dtype}"):
            scale(x, number)
