# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""sw.kernel_op, sw.ops, the example of a custom op, and spanwise.compat.sandbox_cuda."""

import os
import subprocess
import sys

import numpy as np
import pytest
from support.tree import ROOT

import spanwise as sw

T = sw.tensor

SUM_AND_DIFFERENCE = """
__global__ void both(const T *x, const T *y, T *sum, T *difference, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= n) return;
  sum[i] = x[i] + y[i];
  difference[i] = x[i] - y[i];
}"""

TRANSPOSED = """
#include <spanwise/view.cuh>
__global__ void transposed(spanwise::View<const T, 2> x, spanwise::View<T, 2> z) {
  long long column = blockIdx.x * blockDim.x + threadIdx.x;
  long long row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < x.shape[0] && column < x.shape[1]) z(column, row) = x(row, column);
}"""


@pytest.fixture
def both():
    return sw.kernel_op(
        "both",
        SUM_AND_DIFFERENCE,
        inputs=["x: contiguous T[h, w]", "y: contiguous T[h, w]"],
        outputs=["sum: contiguous T[h, w]", "difference: contiguous T[h, w]"],
        arguments=["x", "y", "sum", "difference", "h * w"],
    )


@pytest.fixture
def transposed():
    return sw.kernel_op(
        "transposed",
        TRANSPOSED,
        inputs="x: strided T[h, w]",
        outputs="z: strided T[w, h]",
        block=(8, 8),
        grid=("cdiv(w, 8)", "cdiv(h, 8)"),
    )


def random(*shape, dtype="float32"):
    return np.random.default_rng(0).integers(0, 100, shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "uint64"])
def test_kernel_with_two_outputs_computes_both_and_checks_extents(both, dtype, device):
    x, y = T.tensor(dtype, (None, None)), T.tensor(dtype, (None, None))
    f = sw.function([x, y], both(x, y), device=device)
    a, b = random(20, 10, dtype=dtype) + 100, random(20, 10, dtype=dtype)
    total, difference = f(a, b)
    assert total.dtype == dtype and total.device == device
    assert np.array_equal(total, a + b) and np.array_equal(difference, a - b)
    with pytest.raises(ValueError, match=r"both: input y, axis 1: expected extent w = 10, got 9"):
        f(a, b[:, :9])


def test_strided_parameter_accepts_any_view_without_a_copy(transposed, device):
    x = T.fmatrix("x")
    f = sw.function([x], transposed(x), device=device)
    base = random(12, 9)
    on_device = sw.asarray(base, device=device)
    for index in (np.s_[:, :], np.s_[::-1, ::2], np.s_[3:4, ::-3], np.s_[:0]):
        assert np.array_equal(f(on_device[index]), base[index].T)
    assert np.array_equal(f(on_device.T), base)
    readonly = random(3, 4)
    readonly.flags.writeable = False
    assert np.array_equal(f(readonly), readonly.T)
    broadcast = np.broadcast_to(np.arange(4, dtype="float32"), (3, 4))
    assert np.array_equal(f(broadcast), broadcast.T)


def test_contiguous_parameter_copies_other_layouts_and_counts_the_copies(device):
    name = f"copy_counted_{device}".replace(":", "_")
    op = sw.kernel_op(
        name,
        "__global__ void k(const float *x, float *z, int n) { int i = threadIdx.x; if (i < n) z[i] = x[i]; }",
        inputs="x: contiguous float32[n]",
        outputs="z: contiguous float32[n]",
    )
    x = T.fvector("x")
    f = sw.function([x], op(x), device=device)
    values = sw.asarray(random(10), device=device)
    assert np.array_equal(f(values), values.numpy())
    assert np.array_equal(f(values[::-2]), values.numpy()[::-2])
    counts = sw.graph.kernel_op_counts()[name]
    assert counts == {"shared": 1, "copied": 1, "bytes_copied": 20}


def test_kernel_gets_scalars_template_arguments_and_options(device):
    op = sw.kernel_op(
        "axpy",
        """
        template <typename T, int PER_THREAD>
        __global__ void axpy(T *z, const T *x, float a, int n) {
          int first = (blockIdx.x * blockDim.x + threadIdx.x) * PER_THREAD;
          for (int i = first; i < n && i < first + PER_THREAD; ++i) z[i] = a * x[i] + OFFSET;
        }""",
        inputs=["x: contiguous T[n]"],
        outputs=["z: contiguous T[n]"],
        scalars={"a": 2.5, "PER_THREAD": 4},
        options=["-DOFFSET=1"],
        block="32",
        grid=["cdiv(n, 32 * PER_THREAD)"],
    )
    for dtype in ("float32", "float64"):
        x = T.tensor(dtype, (None,))
        assert np.array_equal(
            sw.function([x], op(x), device=device)(random(300, dtype=dtype)), random(300) * 2.5 + 1
        )


def test_kernel_ops_compose_and_equal_the_op_of_their_nodes(both, device):
    x, y = T.fmatrices("x", "y")
    total, difference = both(x, y)
    f = sw.function([x, y], [*both(total, difference * 2), total], device=device)
    a, b = random(3, 4), random(3, 4)
    results = f(a, b)
    assert np.array_equal(results[0], (a + b) + 2 * (a - b)) and np.array_equal(results[2], a + b)
    assert total.owner.op == both and hash(total.owner.op) == hash(both) and both != sw.Op()
    assert isinstance(both, sw.Op) and str(both) == "both" and both.view_map == {}


def test_type_of_the_output_has_the_known_extents(transposed):
    z = transposed(T.tensor("uint8", (3, None)))
    assert z.type.shape == (None, 3) and z.dtype == "uint8"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inputs": "x strided T[h, w]"}, "expected .name: layout dtype"),
        ({"outputs": "z: strided T[w, k]"}, '"k" in "k" has no value'),
        ({"outputs": "z: strided U[w, h]"}, "no input has the dtype U"),
        ({"grid": "w / 8"}, "does not give an integer"),
        ({"kernel": "transpose"}, "no kernel transpose; its kernels are transposed"),
        ({"arguments": ["x"]}, "arguments has 1 entries"),
        ({"inputs": "x: contiguous T[h, w]"}, "declare the array strided"),
        ({"scalars": {"a": [1, 2]}}, "expected a number"),
        ({"block": ()}, "a block of 1 to 3 extents"),
    ],
)
def test_inconsistent_declaration_raises_at_construction(change, message):
    declaration = {"inputs": "x: strided T[h, w]", "outputs": "z: strided T[w, h]", **change}
    with pytest.raises(sw.Error, match=message) as caught:
        sw.kernel_op("transposed", TRANSPOSED, **declaration)
    assert "transposed" in str(caught.value)


def test_inputs_of_wrong_rank_or_number_raise(transposed):
    with pytest.raises(ValueError, match="transposed: input x: expected 2 axes, got 1"):
        transposed(T.fvector())
    with pytest.raises(sw.GraphError, match="expected 1 input, got 2"):
        transposed(T.fmatrix(), T.fmatrix())


def test_a_kernel_that_does_not_compile_is_an_error_of_the_function(device):
    op = sw.kernel_op(
        "wrong",
        "__global__ void wrong(float *z, int n) {\n  z[0] = undefined_name;\n}",
        inputs="x: contiguous float32[n]",
        outputs="z: contiguous float32[n]",
        arguments=["z", "n"],
    )
    x = T.fvector("x")
    with pytest.raises(sw.CompileError) as caught:
        sw.function([x], op(x), device=device)
    assert "undefined_name" in caught.value.log
    assert "wrong(x), in make_thunk" in str(caught.value)


def test_registered_op_is_called_by_its_name():
    x = T.fmatrix("x")
    assert str(sw.ops.add(x, 1).owner.op) == "Add"
    assert sw.ops.add(sw.array([1, 2]), [3, 4]).tolist() == [4, 6], "on arrays it computes"
    assert str(sw.ops.transfer(x, device="cpu").owner.op) == "Transfer{cpu}"
    assert sw.ops.add(x, x).owner.op == (x + x).owner.op and "multiply" in dir(sw.ops)
    with pytest.raises(AttributeError, match="registered ops are absolute, add"):
        sw.ops.no_such_op  # noqa: B018
    with pytest.raises(ValueError, match="takes no property, got axis"):
        sw.ops.add(x, x, axis=1)
    with pytest.raises(sw.GraphError, match="Add: expected 2 inputs, got 1"):
        sw.ops.add(x)


def test_example_runs(device):
    command = [sys.executable, str(ROOT / "examples/03_custom_op.py"), "--device", str(device)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    completed = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT)
    assert completed.returncode == 0, completed.stderr
    assert (
        f"PyCUDADoubleOp on {device}: [Contiguous(x), PyCUDADoubleOp(Contiguous.0)]"
        in completed.stdout
    )


def test_sandbox_cuda_names_check_their_arguments():
    from spanwise.compat import sandbox_cuda as cuda

    assert cuda.CudaNdarray.zeros((2, 3)).dtype == "float32"
    assert cuda.CudaNdarray(np.ones(3, "float32")).device == sw.default_device()
    with pytest.raises(TypeError, match="can only copy from float arrays"):
        cuda.CudaNdarray(np.ones(3))
    with pytest.raises(TypeError, match="expected float32"):
        cuda.basic_ops.as_cuda_ndarray_variable(T.dmatrix())
