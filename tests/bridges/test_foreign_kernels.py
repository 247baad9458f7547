# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of Triton, CuPy and Numba take arrays of Spanwise as they are.

Triton reads data_ptr() and dtype, and queues on PyTorch's current stream; CuPy and Numba read
__cuda_array_interface__.
"""

import numpy as np
import pytest

import spanwise as sw

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None


@pytest.fixture(autouse=True)
def on_a_gpu(device):
    if device.kind != "cuda":
        pytest.skip("these libraries compile for GPUs only")


@pytest.fixture
def torch(device):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if triton is None or not torch.cuda.is_available():
        pytest.skip("needs Triton, and PyTorch with a GPU")
    torch.cuda.set_device(device.ordinal)
    return torch


if triton is not None:

    @triton.jit
    def _scale_rows(x, y, stride, columns, factor, block: tl.constexpr):
        row = tl.program_id(0)
        column = tl.arange(0, block)
        value = tl.load(x + row * stride + column, mask=column < columns)
        tl.store(y + row * columns + column, value * factor, mask=column < columns)


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "bfloat16", "int32", "uint8", "int64"]
)
def test_triton_reads_and_writes_arrays_of_each_dtype(torch, device, dtype):
    values = np.random.default_rng().integers(0, 60, (5, 37)).astype("float64")
    x = sw.array(values, device=device).astype(dtype)
    y = sw.zeros((5, 37), dtype, device=device)
    _scale_rows[(5,)](x, y, 37, 37, 2, block=64)
    np.testing.assert_array_equal(y.astype("float64").numpy(), 2 * values)


def test_triton_gets_the_address_of_a_window(torch, device):
    values = np.random.default_rng().standard_normal((8, 50)).astype("float32")
    window = sw.array(values, device=device)[2:7, 9:40]
    y = sw.zeros((5, 31), "float32", device=device)
    _scale_rows[(5,)](window, y, window.strides[0] // 4, 31, 3, block=32)
    np.testing.assert_array_equal(y.numpy(), 3 * values[2:7, 9:40])


def test_triton_waits_for_work_of_another_stream(torch, device):
    """y is written on a stream of ours, then by Triton on PyTorch's, then read on ours."""
    ours, theirs = sw.Stream(device), torch.cuda.Stream()
    for _ in range(20):
        with ours:
            x = sw.zeros((1 << 12, 1 << 12), "float32", device=device)
            for _ in range(10):
                x += 1
        y = sw.empty((1 << 12, 1 << 12), "float32", device=device)
        with torch.cuda.stream(theirs), sw.Stream.foreign(theirs):
            _scale_rows[(1 << 12,)](x, y, 1 << 12, 1 << 12, 2, block=1 << 12)
        with ours:
            assert float((y - 20).sum()) == 0


SCALE = r"""
extern "C" __global__ void scale(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 3 * x[i];
}
"""


def test_raw_kernel_of_cupy_writes_to_an_array(device):
    cupy = pytest.importorskip("cupy", reason="cupy is not installed")
    values = np.random.default_rng().standard_normal(1000).astype("float32")
    with cupy.cuda.Device(device.ordinal):
        x, y = sw.array(values, device=device), sw.zeros(1000, "float32", device=device)
        cupy.RawKernel(SCALE, "scale")((8,), (128,), (sw.to_cupy(x), sw.to_cupy(y), np.int32(1000)))
        np.testing.assert_array_equal(y.numpy(), 3 * values)
        incremented = cupy.ElementwiseKernel("float32 x", "float32 y", "y = x + 1", "add_one")(x)
        np.testing.assert_array_equal(cupy.asnumpy(incremented), values + np.float32(1))


@pytest.mark.filterwarnings("ignore")  # Numba's, about the occupancy of a small grid
def test_kernel_of_numba_writes_to_a_window(device):
    cuda = pytest.importorskip("numba.cuda", reason="numba-cuda is not installed")

    @cuda.jit
    def scale(x, y):
        i, j = cuda.grid(2)
        if i < x.shape[0] and j < x.shape[1]:
            y[i, j] = 3 * x[i, j]

    values = np.random.default_rng().standard_normal((12, 20)).astype("float32")
    cuda.select_device(device.ordinal)
    try:
        scale[(1, 1), (16, 32)](cuda.to_device(values), cuda.to_device(values))
    except AttributeError as error:  # releases of Numba that this NumPy is too new for
        pytest.skip(f"Numba fails on its own arrays: {error}")
    x, y = sw.array(values, device=device), sw.zeros((24, 20), "float32", device=device)
    scale[(1, 1), (32, 16)](x.T, y[::2].T)
    np.testing.assert_array_equal(y.numpy()[::2], 3 * values)
    assert not y.numpy()[1::2].any()
