# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays for tests: every dtype, random layouts made alike in NumPy and in Spanwise, comparison."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import spanwise as sw

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
# Every dtype that NumPy has here and Spanwise computes on.
COMPUTABLE = ("bool", *INTEGERS, *FLOATS, *COMPLEX, *(("bfloat16",) if ml_dtypes else ()))


def same_kind(source, target):
    """NumPy's rule; to casting, bfloat16 is a floating dtype like float16, of which NumPy knows
    nothing."""
    kinds = [np.dtype("float16") if dtype == "bfloat16" else dtype for dtype in (source, target)]
    return np.can_cast(*kinds, "same_kind")


def poisoned(shape, dtype, device):
    """An array whose bytes are all 0xA5: no value that a test expects."""
    dtype = np.dtype(sw.dtype(dtype).dtype)
    count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    values = np.full(count, 0xA5, np.uint8).view(dtype).reshape(shape)
    if dtype.kind == "b":
        values = np.ones(shape, bool)  # 0xA5 is no bool
    return sw.array(values, device=device)


def numbers(shape, dtype, seed):
    """Fresh values that every computable dtype but bool holds exactly: whole, 0 to 100."""
    dtype = np.dtype(sw.dtype(dtype).dtype)
    values = np.asarray(np.random.default_rng(seed).integers(0, 101, size=shape))
    if dtype.kind == "c":
        values = values + 7j
    elif dtype.kind == "b":
        values = values % 2
    return np.asarray(values).astype(dtype)


@dataclass(frozen=True)
class Window:
    """A view in words: a shape, and steps that turn an array of it into a strided window.

    of() takes the steps on NumPy's arrays and on ours alike.
    """

    base_shape: tuple
    steps: tuple

    def of(self, base):
        for kind, argument in self.steps:
            if kind == "index":
                base = base[argument]
            elif kind == "transpose":
                base = base.transpose(argument)
            elif isinstance(base, np.ndarray):
                base = np.broadcast_to(base, argument)
            else:
                base = base.broadcast_to(argument)
        return base

    @property
    def shape(self):
        return self.of(np.empty(self.base_shape, np.uint8)).shape


def whole_key(key):
    """The key with an Ellipsis, with which NumPy gives a view also where it leaves rank 0."""
    key = key if isinstance(key, tuple) else (key,)
    return key if any(part is Ellipsis for part in key) else (*key, Ellipsis)


@st.composite
def windows(draw, broadcast=True, min_rank=0):
    """Windows of rank `min_rank` to 4 or so: any steps, zeros, negative ones, empty axes."""
    base_shape = draw(hnp.array_shapes(min_dims=min_rank, max_dims=4, min_side=0, max_side=5))
    view = np.empty(base_shape, np.uint8)
    steps = []
    for _ in range(draw(st.integers(0, 3))):
        kinds = ["index", "transpose", *(["broadcast"] if broadcast and view.ndim < 5 else [])]
        kind = draw(st.sampled_from(kinds))
        if kind == "index":
            argument = whole_key(
                draw(hnp.basic_indices(view.shape, allow_newaxis=True, max_dims=5))
            )
        elif kind == "transpose":
            argument = tuple(draw(st.permutations(range(view.ndim))))
        else:
            stretched = [draw(st.integers(0, 3)) if n == 1 else n for n in view.shape]
            argument = (*draw(hnp.array_shapes(min_dims=0, max_dims=1, max_side=3)), *stretched)
        after = Window(view.shape, ((kind, argument),)).of(view)
        if after.ndim < min_rank:
            continue
        steps.append((kind, argument))
        view = after
    return Window(base_shape, tuple(steps))


def pair(window, dtype, device, seed):
    """The window onto fresh numbers as (ours, NumPy's), in memory of their own each."""
    values = numbers(window.base_shape, dtype, seed)
    return window.of(sw.array(values, device=device)), window.of(values)


def stretched_for_writing(array, shape):
    """array.broadcast_to(shape) that may be written, as only other libraries hand them out."""
    view = array.broadcast_to(shape)
    if array.device.kind == "cpu":
        strides = view.strides
        return sw.asarray(
            np.lib.stride_tricks.as_strided(array.numpy(), shape, strides), copy=False
        )
    interface = dict(array.__cuda_array_interface__, shape=shape, strides=view.strides)
    owner = type("Owner", (), {"__cuda_array_interface__": interface, "array": array})()
    return sw.asarray(owner, copy=False)


def assert_same(ours, oracle):
    """Same shape, dtype and elements; NaNs are equal."""
    assert isinstance(ours, sw.Array)
    assert ours.shape == oracle.shape
    assert ours.dtype == oracle.dtype
    values = ours.numpy()
    if ours.dtype == "bfloat16":  # whose NaNs NumPy does not take for equal
        values, oracle = values.astype("float32"), oracle.astype("float32")
    np.testing.assert_array_equal(values, oracle)


def assert_same_layout(ours, oracle):
    """Same shape and, where they decide anything, the same strides."""
    assert ours.shape == oracle.shape
    if ours.size > 0:
        pairs = zip(ours.shape, ours.strides, oracle.strides, strict=True)
        assert [(n, a) for n, a, _ in pairs if n > 1] == [
            (n, b) for n, b in zip(ours.shape, oracle.strides, strict=True) if n > 1
        ]
