# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Import of PyCUDA's arrays: those that cannot be shared, and invalid attributes."""

import numpy as np
import pytest

import spanwise as sw


def test_the_other_byte_order_is_copied(pycuda):
    theirs = pycuda.module.to_gpu(np.arange(4, dtype=">f4"))
    with pytest.raises(sw.CopyNeededError, match="byte order"):
        sw.from_pycuda(theirs)
    assert sw.asarray(theirs).numpy().tolist() == [0, 1, 2, 3]


def test_structs_and_bfloat16_are_refused(pycuda):
    theirs = pycuda.module.GPUArray((3,), np.dtype([("x", "f4"), ("y", "f4")]))
    with pytest.raises(sw.DTypeError):
        sw.from_pycuda(theirs)
    with pytest.raises(sw.DTypeError, match="astype"):
        sw.to_pycuda(sw.ones(3, dtype="bfloat16", device=pycuda.device), copyif=True)


def test_invalid_strides_are_refused(pycuda):
    theirs = pycuda.module.to_gpu(np.zeros((3, 4), np.float32))
    theirs.strides = (4,)
    with pytest.raises(TypeError, match="strides for 1 axes in an array of 2"):
        sw.from_pycuda(theirs)
    theirs.strides = ("a", 4)
    with pytest.raises(TypeError, match="holds .a.; expected an integer of 64 bits"):
        sw.from_pycuda(theirs)
    theirs.strides = (2**62, 4)
    with pytest.raises(sw.Error):
        sw.from_pycuda(theirs)


def test_invalid_gpudata_is_refused(pycuda):
    theirs = pycuda.module.GPUArray((3,), np.float32)
    theirs.gpudata = "nowhere"
    with pytest.raises(TypeError, match="gpudata is 'nowhere'"):
        sw.from_pycuda(theirs)


def test_a_shape_of_more_elements_than_64_bits_count_is_refused(monkeypatch, pycuda):
    foreign = pycuda.module.to_gpu(np.arange(6, dtype="float32").reshape(2, 3))
    monkeypatch.setattr(type(foreign), "shape", property(lambda self: (2**32,) * 2), raising=False)
    with pytest.raises(sw.Error, match="4294967296"):
        sw.asarray(foreign)


def test_changed_class_is_examined_again(monkeypatch, pycuda):
    foreign = pycuda.module.to_gpu(np.arange(6, dtype="float32").reshape(2, 3))
    cls = type(foreign)
    # Getters in C: the first returns no shape, the second accepts ndarrays only.
    no_shape, of_ndarray = cls.__dict__["__dict__"], np.ndarray.__dict__["shape"]
    for _ in range(2):
        assert sw.asarray(foreign).tolist() == [[0, 1, 2], [3, 4, 5]]
        for getter in (no_shape, of_ndarray):
            with monkeypatch.context() as patched:
                patched.setattr(cls, "shape", getter, raising=False)
                for _ in range(2):
                    with pytest.raises((sw.Error, TypeError)):
                        sw.asarray(foreign)
        with monkeypatch.context() as patched:
            patched.setattr(cls, "shape", property(lambda self: (3, 2)), raising=False)
            patched.setattr(cls, "strides", property(lambda self: (8, 4)), raising=False)
            assert sw.asarray(foreign).tolist() == [[0, 1], [2, 3], [4, 5]]
