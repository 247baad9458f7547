# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The buffer protocol and NumPy's __array__: memory of the CPU is shared, a GPU's is copied or refused."""

import ctypes
import gc
import weakref

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import COMPLEX, FLOATS, INTEGERS, assert_same, numbers, pair, windows

import spanwise as sw

# dtypes that have a format character of the struct module
WITH_FORMAT = ("bool", *INTEGERS, *FLOATS, *COMPLEX)
# object.h / buffer.h of CPython
SIMPLE, WRITABLE, FORMAT, ND = 0, 0x1, 0x4, 0x8
STRIDES = 0x10 | ND
C_CONTIGUOUS, F_CONTIGUOUS, ANY_CONTIGUOUS = 0x20 | STRIDES, 0x40 | STRIDES, 0x80 | STRIDES


class PyBuffer(ctypes.Structure):
    _fields_ = (
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.py_object),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)),
        ("internal", ctypes.c_void_p),
    )


def request(array, flags):
    """(readonly, format, shape, strides) of the buffer that PyObject_GetBuffer returns."""
    view = PyBuffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(array), ctypes.byref(view), flags)
    try:
        shape = tuple(view.shape[: view.ndim]) if view.shape else None
        strides = tuple(view.strides[: view.ndim]) if view.strides else None
        return bool(view.readonly), view.format, shape, strides
    finally:
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(view))


@given(window=windows(), dtype=st.sampled_from(WITH_FORMAT), seed=st.integers(0, 2**32))
def test_numpy_reads_the_same_memory(window, dtype, seed):
    ours, oracle = pair(window, dtype, "cpu", seed)
    for theirs in (np.asarray(ours), np.asarray(memoryview(ours)), np.array(ours, copy=False)):
        np.testing.assert_array_equal(theirs, oracle)
        assert theirs.dtype == oracle.dtype
        if oracle.size > 0:
            assert theirs.ctypes.data == ours.ptr
            assert theirs.flags.writeable == ours.flags.writeable


def test_write_through_numpy_changes_the_array():
    ours = sw.zeros((3, 4), device="cpu")
    np.asarray(ours.T)[1] = 5
    assert ours.tolist() == [[0, 5, 0, 0]] * 3


def test_buffer_keeps_the_array_alive():
    ours = sw.zeros(4, device="cpu")
    reference = weakref.ref(ours)
    theirs = np.asarray(ours)
    del ours
    gc.collect()
    assert reference() is not None
    del theirs
    gc.collect()
    assert reference() is None


def test_buffer_has_the_requested_format():
    array = sw.zeros((2, 3), "int16", device="cpu")
    assert request(array, SIMPLE) == (False, None, None, None)
    assert request(array, ND) == (False, None, (2, 3), None)
    assert request(array, STRIDES | FORMAT) == (False, b"h", (2, 3), (6, 2))
    assert request(array.T, F_CONTIGUOUS)[3] == (2, 6)
    assert request(array.T, ANY_CONTIGUOUS | WRITABLE)[2] == (3, 2)


@pytest.mark.parametrize(
    ("view", "flags", "message"),
    [
        (lambda a: a.T, SIMPLE, "C-contiguous"),
        (lambda a: a.T, ND, "C-contiguous"),
        (lambda a: a.T, C_CONTIGUOUS, "C-contiguous"),
        (lambda a: a, F_CONTIGUOUS, "Fortran"),
        (lambda a: a[:, ::2], ANY_CONTIGUOUS, "not contiguous"),
        (lambda a: a.view("uint16").view("bfloat16"), STRIDES | FORMAT, "view"),
    ],
)
def test_unsupported_buffer_requests_raise_buffer_error(view, flags, message):
    with pytest.raises(BufferError, match=message):
        request(view(sw.zeros((2, 3), "int16", device="cpu")), flags)


def test_read_only_memory_has_no_writable_buffer():
    values = numbers((3,), "float32", 1)
    values.flags.writeable = False
    array = sw.asarray(values)
    assert memoryview(array).readonly
    assert not np.asarray(array).flags.writeable
    assert request(array, STRIDES)[0]
    with pytest.raises(BufferError, match=r"a\.copy\(\)"):
        request(array, STRIDES | WRITABLE)
    with pytest.raises(TypeError):
        ctypes.c_char.from_buffer(array)


def test_gpu_array_has_no_buffer_and_numpy_copies_it(device):
    array = sw.array(numbers((3, 4), "float32", 2), device=device)[:, ::2]
    if device == "cpu":
        assert np.asarray(array).ctypes.data == array.ptr
        return
    with pytest.raises(BufferError, match=r"a\.numpy\(\)"):
        memoryview(array)
    assert_same(array, np.asarray(array))
    with pytest.raises(sw.CopyNeededError):
        np.array(array, copy=False)


def test_array_method_converts_dtype_and_copies_on_request(device):
    array = sw.array([1.5, 2.5], device=device)
    assert array.__array__().tolist() == [1.5, 2.5]
    assert array.__array__("int32").tolist() == [1, 2]
    assert array.__array__(dtype=np.float32).dtype == np.float32
    copied = array.__array__(copy=True)
    copied[0] = 9
    assert array[0].item() == 1.5
    with pytest.raises(ValueError, match=r"without a copy|allow the copy"):
        array.__array__("int32", copy=False)
    assert np.asarray(array, dtype="float32").dtype == np.float32


def test_numpy_method_shares_memory_on_the_cpu_only(device):
    array = sw.zeros((2, 3), device=device)
    host = array.numpy()
    assert isinstance(host, np.ndarray)
    host[...] = 1
    assert (array.numpy() == (1 if device == "cpu" else 0)).all()


def test_empty_arrays_have_buffers_too():
    for shape in ((0,), (3, 0), (0, 2, 2)):
        assert memoryview(sw.zeros(shape, device="cpu")).shape == shape
        assert np.asarray(sw.zeros(shape, device="cpu")).shape == shape
    assert bytes(sw.zeros(0, device="cpu")) == b""


def test_memoryview_reads_elements():
    view = memoryview(sw.array([[1, 2], [3, 4]], "int32", device="cpu"))
    assert view.tolist() == [[1, 2], [3, 4]]
    assert view[1, 0] == 3
    assert bytes(sw.array([1, 2], "uint8", device="cpu")) == b"\x01\x02"
