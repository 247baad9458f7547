# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of Triton take arrays by data_ptr() and dtype; Triton queues them on PyTorch's stream."""

import numpy as np
import pytest

import spanwise as sw

torch = pytest.importorskip("torch", reason="torch is not installed")
triton = pytest.importorskip("triton", reason="triton is not installed")
tl = pytest.importorskip("triton.language")


@pytest.fixture(autouse=True)
def on_a_gpu(device):
    if device.kind != "cuda" or not torch.cuda.is_available():
        pytest.skip("Triton compiles for GPUs only")
    torch.cuda.set_device(device.ordinal)


@triton.jit
def _scale_rows(x, y, stride, columns, factor, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row * stride + at, mask=at < columns)
    tl.store(y + row * columns + at, value * factor, mask=at < columns)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int32", "uint8", "int64"])
def test_kernel_reads_and_writes_arrays_of_each_dtype(device, dtype):
    values = np.random.default_rng().integers(0, 60, (5, 37)).astype("float64")
    x = sw.array(values, device=device).astype(dtype)
    y = sw.zeros((5, 37), dtype, device=device)
    _scale_rows[(5,)](x, y, 37, 37, 2, BLOCK=64)
    np.testing.assert_array_equal(y.astype("float64").numpy(), 2 * values)


def test_window_is_passed_by_its_own_address_and_stride(device):
    values = np.random.default_rng().standard_normal((8, 50)).astype("float32")
    window = sw.array(values, device=device)[2:7, 9:40]
    y = sw.zeros((5, 31), "float32", device=device)
    _scale_rows[(5,)](window, y, window.strides[0] // 4, 31, 3, BLOCK=32)
    np.testing.assert_array_equal(y.numpy(), 3 * values[2:7, 9:40])


def test_kernel_waits_for_work_of_another_stream(device):
    """y is written on a stream of ours, then by Triton on PyTorch's, then read on ours."""
    ours, theirs = sw.Stream(device), torch.cuda.Stream()
    for _ in range(20):
        with ours:
            x = sw.zeros((1 << 12, 1 << 12), "float32", device=device)
            for _ in range(10):
                x += 1
        y = sw.empty((1 << 12, 1 << 12), "float32", device=device)
        with torch.cuda.stream(theirs), sw.Stream.foreign(theirs):
            _scale_rows[(1 << 12,)](x, y, 1 << 12, 1 << 12, 2, BLOCK=1 << 12)
        with ours:
            assert float((y - 20).sum()) == 0
