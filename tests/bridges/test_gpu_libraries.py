# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""CuPy and Numba, the real libraries, on a GPU."""

import gc

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import COMPLEX, FLOATS, INTEGERS, assert_same, pair, windows

import spanwise as sw

DTYPES = ("bool", *INTEGERS, *FLOATS, *COMPLEX)


@pytest.fixture(scope="module")
def cupy(gpu):
    return pytest.importorskip("cupy", reason="cupy is not installed")


@pytest.fixture(scope="module")
def cuda(gpu):
    return pytest.importorskip("numba.cuda", reason="numba-cuda is not installed")


@given(window=windows(), dtype=st.sampled_from(DTYPES), seed=st.integers(0, 2**32))
def test_array_of_any_layout_is_exported_to_cupy(gpu, cupy, window, dtype, seed):
    ours, oracle = pair(window, dtype, gpu, seed)
    readonly = not ours.flags.writeable  # as broadcast views are
    if readonly:
        with pytest.raises(sw.CopyNeededError, match="read-only"):
            sw.to_cupy(ours)
    foreign = sw.to_cupy(ours, copyif=readonly)
    assert isinstance(foreign, cupy.ndarray)
    if ours.size:
        assert (foreign.data.ptr == ours.ptr) == (not readonly)
    np.testing.assert_array_equal(cupy.asnumpy(foreign), oracle)


@given(window=windows(), dtype=st.sampled_from(DTYPES), seed=st.integers(0, 2**32))
def test_cupy_array_of_any_shape_is_imported(gpu, cupy, window, dtype, seed):
    _, oracle = pair(window, dtype, "cpu", seed)
    assert_same(sw.from_cupy(cupy.asarray(oracle)), oracle)


@pytest.mark.parametrize("dtype", DTYPES)
def test_negative_strides_of_cupy_are_imported(gpu, cupy, dtype):
    base = cupy.arange(12).astype(dtype).reshape(3, 4)
    foreign = base[::-1, ::-2]
    ours = sw.asarray(foreign, copy=False)
    assert ours.ptr == foreign.data.ptr
    np.testing.assert_array_equal(ours.numpy(), cupy.asnumpy(foreign))


@pytest.mark.parametrize(("part", "whole"), [("float64", "complex128"), ("float32", "complex64")])
def test_misaligned_complex_numbers_are_copied(gpu, cupy, part, whole):
    halves = cupy.arange(9).astype(part)
    foreign = halves[1:].view(whole)
    with pytest.raises(sw.CopyNeededError, match="address"):
        sw.asarray(foreign, copy=False)
    ours, expected = sw.asarray(foreign), cupy.asnumpy(foreign)
    assert ours.tolist() == expected.tolist()
    other_complex = "complex64" if whole == "complex128" else "complex128"
    assert ours.astype(other_complex).tolist() == expected.tolist()
    with pytest.raises(sw.LayoutError, match="no multiple"):
        sw.asarray(halves[1:]).view(whole)


def test_cupy_has_the_c_function_for_its_current_stream(gpu, cupy):
    functions = pytest.importorskip("cupy_backends.cuda.stream").__pyx_capi__
    assert '"intptr_t (int)"' in repr(functions["get_stream_ptr"])


@pytest.mark.parametrize(
    "window",
    [lambda x: x, lambda x: x.T, lambda x: x[:, ::2], lambda x: x[:1], lambda x: x[:, :1]],
    ids=["packed", "transposed", "steps", "one row", "one column"],
)
def test_repeated_imports_read_the_current_layout_of_cupy(gpu, cupy, window):
    foreign = window(cupy.arange(12, dtype="float32").reshape(3, 4))
    for _ in range(3):
        ours = sw.asarray(foreign, copy=False)
        assert ours.ptr == foreign.data.ptr
        assert (ours.shape, ours.dtype) == (foreign.shape, "float32")
        np.testing.assert_array_equal(ours.numpy(), cupy.asnumpy(foreign))
    empty = sw.asarray(cupy.zeros((0, 3), "float32"))
    assert empty.shape == (0, 3)


def test_cupys_streams_are_followed(gpu, cupy):
    for value in range(20):
        with cupy.cuda.Stream(non_blocking=True):
            foreign = cupy.full(1 << 22, float(value))
            foreign += 1
            ours = sw.asarray(foreign).copy()
        assert ours[-1].item() == value + 1


def test_cupy_stream_may_be_destroyed_before_its_array(gpu, cupy):
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        ours = sw.asarray(cupy.arange(1000))
    del stream
    gc.collect()
    assert ours.copy().tolist()[-1] == 999


def test_host_arrays_go_to_cupy_by_a_copy_that_was_allowed(gpu, cupy):
    values = np.arange(6.0)
    with pytest.raises(sw.CopyNeededError, match="GPU"):
        sw.to_cupy(values)
    np.testing.assert_array_equal(cupy.asnumpy(sw.to_cupy(values, copyif=True)), values)


def test_read_only_arrays_are_not_given_to_cupy(gpu, cupy):
    values = cupy.arange(3)
    interface = dict(values.__cuda_array_interface__)
    interface["data"] = (interface["data"][0], True)
    exporter = type("Exporter", (), {"__cuda_array_interface__": interface, "keep": values})()
    with pytest.raises(sw.CopyNeededError, match="read-only"):
        sw.to_cupy(exporter)


@given(window=windows(), dtype=st.sampled_from(DTYPES), seed=st.integers(0, 2**32))
def test_array_of_any_layout_is_exported_to_numba(gpu, cuda, window, dtype, seed):
    ours, _ = pair(window, dtype, gpu, seed)
    broadcast = any(e > 1 and s == 0 for e, s in zip(ours.shape, ours.strides, strict=True))
    unshared = broadcast or not ours.flags.writeable
    if unshared:  # Numba would read the elements behind the one that is repeated
        with pytest.raises(sw.CopyNeededError, match="broadcast|read-only"):
            sw.to_numba(ours)
    foreign = sw.to_numba(ours, copyif=unshared)
    assert foreign.shape == ours.shape
    if ours.size:
        again = sw.from_numba(foreign)
        assert again.ptr == foreign.device_ctypes_pointer.value
        assert (again.ptr == ours.ptr) == (not unshared)
        assert again.tolist() == ours.tolist()


def test_numba_kernels_work_on_our_memory(gpu, cuda):
    @cuda.jit
    def double(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= 2

    try:
        double[128, 2](cuda.to_device(np.arange(256.0)))
    except AttributeError as error:  # releases of Numba that this NumPy is too new for
        pytest.skip(f"Numba fails on its own arrays: {error}")
    ours = sw.asarray(np.arange(256.0), device=gpu)
    double[128, 2](sw.to_numba(ours))
    assert_same(sw.asarray(sw.to_numba(ours)), np.arange(256.0) * 2)


def test_numba_array_is_shared(gpu, cuda):
    foreign = cuda.to_device(np.arange(12.0).reshape(3, 4))
    ours = sw.from_numba(foreign)
    assert ours.ptr == foreign.device_ctypes_pointer.value
    assert_same(ours, np.arange(12.0).reshape(3, 4))
