# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Elementwise operations compared with NumPy's: operands with special values, and tolerances."""

import numpy as np

import spanwise as sw

REALS = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
]
ALL = [*REALS, "complex64", "complex128"]
SPECIAL = [
    0.0,
    -0.0,
    1,
    -1,
    0.5,
    2,
    -2.5,
    np.inf,
    -np.inf,
    np.nan,
    1e-3,
    88,
    -88,
    20.5,
    1e30,
    1e-40,
]


def operand(dtype, shape, seed):
    """Random values; of integers and floats, some are special values (extremes, zeros, inf, nan, ...)."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    size = int(np.prod(shape))
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        values = random.integers(info.min, info.max, size, dtype=dtype, endpoint=True)
        small = random.random(size) < 0.4
        values[small] = random.integers(0, 9, int(small.sum()))
        edge = random.random(size) < 0.1
        values[edge] = random.choice(np.array([info.min, info.max, 0], dtype), int(edge.sum()))
        return values.reshape(shape)
    with np.errstate(all="ignore"):
        parts = [_reals(random, size).reshape(shape) for _ in range(2)]
        return (parts[0] + 1j * parts[1] if dtype.kind == "c" else parts[0]).astype(dtype)


def _reals(random, size):
    values = random.standard_normal(size) * 4
    special = random.random(size) < 0.3
    values[special] = random.choice(SPECIAL, int(special.sum()))
    return values


def assert_close(ours, oracle, ulps=8):
    """Same shape and dtype; integers and booleans equal, floats within `ulps` units in the last place.

    The parts of a complex number may also differ by 64 units in the last place of its absolute value. It
    counts as NaN if either part is, since libraries differ in which part.
    """
    assert isinstance(ours, sw.Array)
    assert ours.dtype == oracle.dtype and ours.shape == oracle.shape
    ours = ours.numpy()
    if oracle.dtype.kind in "biu":
        np.testing.assert_array_equal(ours, oracle)
        return
    is_complex = oracle.dtype.kind == "c"
    info = np.finfo(oracle.dtype)
    values, expected = ours.astype("complex128"), oracle.astype("complex128")
    with np.errstate(all="ignore"):
        absolute = info.tiny * 8 + (64 * info.eps * np.abs(expected) if is_complex else 0.0)
        close = _close(values.real, expected.real, ulps * info.eps, absolute) & _close(
            values.imag, expected.imag, ulps * info.eps, absolute
        )
    if is_complex:
        close |= np.isnan(values) & np.isnan(expected)
    assert close.all(), (ours[~close][:5], oracle[~close][:5])


def _close(a, b, relative, absolute):
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    return same | (np.abs(a - b) <= relative * np.abs(b) + absolute)
