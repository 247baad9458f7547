# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""spanwise.pycuda.tools: types, pools, memoization, contexts."""

import gc

import numpy as np
import pytest

from spanwise.pycuda import driver as drv, gpuarray, tools


@pytest.fixture(autouse=True)
def on_device(device):
    with device:
        yield


@pytest.mark.parametrize(
    ("text", "kind", "name", "dtype"),
    [
        ("float *x", tools.VectorArg, "x", "float32"),
        ("const unsigned long long *__restrict__ n", tools.VectorArg, "n", "uint64"),
        ("unsigned char c", tools.ScalarArg, "c", "uint8"),
        ("pycuda::complex<float>*z", tools.VectorArg, "z", "complex64"),
        ("  double  y[] ", tools.VectorArg, "y", "float64"),
        ("float3 v", tools.ScalarArg, "v", gpuarray.vec.float3),
    ],
)
def test_c_declaration_gives_argument_kind_name_and_dtype(text, kind, name, dtype):
    argument = tools.parse_c_arg(text)
    assert type(argument) is kind and argument.name == name and argument.dtype == np.dtype(dtype)
    assert tools.parse_c_arg(argument.declarator()).dtype == argument.dtype
    assert tools.get_arg_type(text) == argument.struct_char


def test_invalid_declaration_raises():
    with pytest.raises(TypeError, match="'abacus' is not registered"):
        tools.parse_c_arg("abacus *x")
    with pytest.raises(ValueError, match="at most one"):
        tools.parse_c_arg("float **x")
    with pytest.raises(ValueError, match="expected a declaration"):
        tools.parse_c_arg("float")
    with pytest.raises(ValueError, match="register_dtype"):
        tools.dtype_to_ctype(np.dtype("S3"))


def test_registered_dtype_has_one_c_name():
    pair = np.dtype([("first", "f4"), ("second", "i4")])
    tools.register_dtype(pair, "test_pair")
    assert tools.dtype_to_ctype(pair) == "test_pair"
    assert tools.get_or_register_dtype("test_pair") == pair
    with pytest.raises(TypeError, match="is registered for"):
        tools.register_dtype(np.float32, "test_pair")
    assert tools.dtype_to_ctype(np.uint16) == "unsigned short"


def test_device_pool_rounds_sizes_and_counts_blocks():
    pool = tools.DeviceMemoryPool()
    for size in (1, 2, 3, 5, 1000, 1 << 20, (1 << 20) + 1, 12345678901):
        rounded = pool.alloc_size(pool.bin_number(size))
        assert size <= rounded <= 1.25 * size + 1, size
        assert pool.bin_number(rounded) == pool.bin_number(size)
    block = pool.allocate(1000)
    assert block.nbytes >= 1000 and pool.active_blocks == 1 and pool.active_bytes == block.nbytes
    drv.memcpy_htod(block, np.arange(250, dtype="int32"))
    np.testing.assert_array_equal(drv.from_device(block + 400, 150, "int32"), np.arange(100, 250))
    assert drv.mem_get_address_range(block + 400) == (int(block) + 400, block.nbytes - 400)
    del block
    gc.collect()
    assert pool.active_blocks == 0 and pool.held_blocks == 0
    pool.stop_holding()


def test_page_locked_pool_holds_memory_while_a_view_exists():
    pool = tools.PageLockedMemoryPool()
    x = pool.allocate((3, 4), np.float32)
    x[:] = 1
    assert x.shape == (3, 4) and pool.active_blocks == 1
    view = x[1:]
    del x
    gc.collect()
    assert pool.active_blocks == 1 and view.sum() == 8
    del view
    gc.collect()
    assert pool.active_blocks == 0


def test_memoized_results_are_kept_for_each_context():
    calls = []

    @tools.context_dependent_memoize
    def square(x, by=1):
        calls.append(x)
        return x * x * by

    assert [square(3), square(3), square(3, by=2), square(4)] == [9, 9, 18, 16]
    assert calls == [3, 3, 4]
    tools.clear_context_caches()
    assert square(3) == 9 and calls == [3, 3, 4, 3]


def test_default_context_is_chosen_by_argument_or_environment(device, monkeypatch):
    context = tools.make_default_context()
    assert context is drv.Context.get_current() and context.get_device().spanwise_device == device
    context.pop()
    devices, contexts = [], []
    context = tools.make_default_context(lambda dev: devices.append(dev) or dev.make_context())
    context.pop()
    monkeypatch.setenv("CUDA_DEVICE", "0")
    context = tools.make_default_context()
    assert context.spanwise_device == drv.Device(0).spanwise_device
    context.pop()

    @tools.mark_cuda_test
    def test_in_context():
        contexts.append(drv.Context.get_current())

    test_in_context()
    assert len(contexts) == 1 and devices[0].spanwise_device == device


def test_device_data_aligns_to_the_devices_granularity():
    data = tools.DeviceData()
    assert data.max_threads >= 512 and data.warp_size == 32
    assert (data.align(65), data.align_words(8), data.align_dtype(17, 8), data.coalesce(17)) == (
        128, 16, 32, 32,
    )  # fmt: skip
    assert tools.bitlog2(17) == 4
