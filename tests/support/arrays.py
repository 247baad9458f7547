# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays for tests: all dtypes, equal random layouts in NumPy and Spanwise, comparisons."""

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
# All dtypes that both NumPy and Spanwise compute on.
COMPUTABLE = ("bool", *INTEGERS, *FLOATS, *COMPLEX, *(("bfloat16",) if ml_dtypes else ()))


def same_kind(source, target):
    """NumPy's casting rule "same_kind", with bfloat16 treated like float16, since NumPy has no
    bfloat16."""
    kinds = [np.dtype("float16") if dtype == "bfloat16" else dtype for dtype in (source, target)]
    return np.can_cast(*kinds, "same_kind")


def poisoned(shape, dtype, device):
    """An array whose bytes are all 0xA5, which no test expects as a result."""
    dtype = np.dtype(sw.dtype(dtype).dtype)
    count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    values = np.full(count, 0xA5, np.uint8).view(dtype).reshape(shape)
    if dtype.kind == "b":
        values = np.ones(shape, bool)  # 0xA5 is not a valid bool
    return sw.array(values, device=device)


def eighths(shape, dtype="float32", seed=0):
    """Random multiples of 1/8 from -5 to 5, or integers from -40 to 39 where the dtype has no fractions."""
    values = np.random.default_rng(seed).integers(-40, 40, shape)
    return (values / 8).astype(dtype) if np.dtype(dtype).kind in "fc" else values.astype(dtype)


def numbers(shape, dtype, seed):
    """Random integers from 0 to 100, which all computable dtypes but bool represent exactly."""
    dtype = np.dtype(sw.dtype(dtype).dtype)
    values = np.asarray(np.random.default_rng(seed).integers(0, 101, size=shape))
    if dtype.kind == "c":
        values = values + 7j
    elif dtype.kind == "b":
        values = values % 2
    return np.asarray(values).astype(dtype)


@dataclass(frozen=True)
class Window:
    """A view as data: the shape of an array and the steps that select a strided view of it.

    of() applies the steps to arrays of NumPy and of Spanwise.
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


def with_ellipsis(key):
    """The key with an Ellipsis, with which NumPy returns a view even where the result has rank 0."""
    key = key if isinstance(key, tuple) else (key,)
    return key if any(part is Ellipsis for part in key) else (*key, Ellipsis)


@st.composite
def windows(draw, broadcast=True, min_rank=0):
    """Windows of rank `min_rank` to 5 with any steps: negative ones, stride 0, empty axes."""
    base_shape = draw(hnp.array_shapes(min_dims=min_rank, max_dims=4, min_side=0, max_side=5))
    view = np.empty(base_shape, np.uint8)
    steps = []
    for _ in range(draw(st.integers(0, 3))):
        kinds = ["index", "transpose", *(["broadcast"] if broadcast and view.ndim < 5 else [])]
        kind = draw(st.sampled_from(kinds))
        if kind == "index":
            argument = with_ellipsis(
                draw(hnp.basic_indices(view.shape, allow_newaxis=True, max_dims=5))
            )
        elif kind == "transpose":
            argument = tuple(draw(st.permutations(range(view.ndim))))
        else:
            extents = [draw(st.integers(0, 3)) if n == 1 else n for n in view.shape]
            argument = (*draw(hnp.array_shapes(min_dims=0, max_dims=1, max_side=3)), *extents)
        after = Window(view.shape, ((kind, argument),)).of(view)
        if after.ndim < min_rank:
            continue
        steps.append((kind, argument))
        view = after
    return Window(base_shape, tuple(steps))


def pair(window, dtype, device, seed):
    """The view of random numbers as (Spanwise array, NumPy array), in separate memory."""
    values = numbers(window.base_shape, dtype, seed)
    return window.of(sw.array(values, device=device)), window.of(values)


def writable_broadcast(array, shape):
    """A writable array.broadcast_to(shape), as some libraries create."""
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
    if ours.dtype == "bfloat16":  # for which NumPy's equal_nan fails
        values, oracle = values.astype("float32"), oracle.astype("float32")
    np.testing.assert_array_equal(values, oracle)


def assert_same_layout(ours, oracle):
    """Same shape and, for axes of extent > 1 of non-empty arrays, the same strides."""
    assert ours.shape == oracle.shape
    if ours.size > 0:
        pairs = zip(ours.shape, ours.strides, oracle.strides, strict=True)
        assert [(n, a) for n, a, _ in pairs if n > 1] == [
            (n, b) for n, b in zip(ours.shape, oracle.strides, strict=True) if n > 1
        ]
