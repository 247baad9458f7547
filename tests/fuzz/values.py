# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Values of every dtype, generated once and sliced at random offsets."""

import ml_dtypes
import numpy as np
from support.elementwise import SPECIAL

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
BOOL = np.dtype(bool)
SIGNED = tuple(np.dtype(n) for n in ("int8", "int16", "int32", "int64"))
UNSIGNED = tuple(np.dtype(n) for n in ("uint8", "uint16", "uint32", "uint64"))
INTEGERS = SIGNED + UNSIGNED
FLOATS = tuple(np.dtype(n) for n in ("float16", "float32", "float64"))
COMPLEX = tuple(np.dtype(n) for n in ("complex64", "complex128"))
NUMPYS = (BOOL, *INTEGERS, *FLOATS, *COMPLEX)
ALL = (*NUMPYS, BFLOAT16)

# For GPUs, which compile a kernel for each dtype of an operation.
FEW = tuple(
    np.dtype(n) for n in ("float32", "int32", "bool", "float16", "complex64", "uint8", "float64")
)

_COUNT = (1 << 18) + (1 << 12)  # values of a pool: more than most arrays have


def is_inexact(dtype):
    return dtype.kind in "fc" or dtype == BFLOAT16


def is_complex(dtype):
    return dtype.kind == "c"


def _extremes(dtype):
    info = ml_dtypes.finfo(dtype) if dtype == BFLOAT16 else np.finfo(dtype)
    edge = [info.max, info.tiny, info.smallest_subnormal, info.eps]
    edge = [float(x) for x in edge]
    return edge + [-x for x in edge]


def _any_real(random, dtype):
    values = random.standard_normal(_COUNT) * 4
    wide = random.random(_COUNT) < 0.15
    values[wide] *= 10.0 ** random.uniform(-5, 5, int(wide.sum()))
    special = random.random(_COUNT) < 0.2
    values[special] = random.choice(SPECIAL + _extremes(dtype), int(special.sum()))
    return values.astype(dtype)


def _any_integer(random, dtype):
    info = np.iinfo(dtype)
    values = random.integers(info.min, info.max, _COUNT, dtype=dtype, endpoint=True)
    small = random.random(_COUNT) < 0.4
    values[small] = random.integers(0, 9, int(small.sum()))
    edge = random.random(_COUNT) < 0.1
    values[edge] = random.choice(np.array([info.min, info.max, 0], dtype), int(edge.sum()))
    return values


def _any(random, dtype):
    if dtype.kind == "b":
        return random.random(_COUNT) < 0.5
    if dtype.kind in "iu":
        return _any_integer(random, dtype)
    if is_complex(dtype):
        part = np.dtype("f4" if dtype.itemsize == 8 else "f8")
        values = np.empty(_COUNT, dtype)
        values.real, values.imag = _any_real(random, part), _any_real(random, part)
        return values
    return _any_real(random, dtype)


def _mild(random, dtype):
    """Finite values of moderate size: sums of many stay in range."""
    if not is_inexact(dtype):
        return _whole(random, dtype)
    values = random.standard_normal(_COUNT)
    if is_complex(dtype):
        values = values + 1j * random.standard_normal(_COUNT)
    return values.astype(dtype)


def _whole(random, dtype):
    """Whole numbers from 0 to 100, which every dtype but bool holds exactly."""
    values = random.integers(0, 101, _COUNT)
    if dtype.kind == "b":
        return values % 2 == 1
    if is_complex(dtype):
        return (values + 1j * random.integers(0, 101, _COUNT)).astype(dtype)
    return values.astype(dtype)


def _unit(random, dtype):
    """Values of modulus close to 1, so that products of many stay in range."""
    if not is_inexact(dtype):
        return _whole(random, dtype)
    values = np.exp(random.uniform(-0.1, 0.1, _COUNT)) * random.choice([-1, 1], _COUNT)
    if is_complex(dtype):
        values = values * np.exp(1j * random.uniform(-3, 3, _COUNT))
    return values.astype(dtype)


_MAKERS = {"any": _any, "mild": _mild, "unit": _unit, "whole": _whole}
_pools = {}


def pool(kind, dtype):
    """Many values of a kind: "any", with all special ones, "mild", "unit" or "whole"; always the same."""
    values = _pools.get((kind, dtype))
    if values is None:
        random = np.random.default_rng([ord(c) for c in kind + dtype.name])
        with np.errstate(all="ignore"):
            values = _pools[kind, dtype] = _MAKERS[kind](random, dtype)
    return values


def take(r, kind, dtype, count):
    """A read-only piece of a pool."""
    values = pool(kind, dtype)
    if count > values.size:
        return np.resize(values, count)
    start = int(r.random() * (values.size - count))
    return values[start : start + count]


def poison(dtype):
    """The value of elements that no operation may read: it shows in the result."""
    value = _pools.get(("poison", dtype))
    if value is None:
        array = np.full(dtype.itemsize, 0xA5, np.uint8).view(dtype)
        if dtype.kind == "b":
            array = np.ones(1, bool)
        elif is_inexact(dtype):
            array = np.full(1, np.nan).astype(dtype)
        value = _pools["poison", dtype] = array[0]
    return value


def cast(values, dtype):
    """values.astype(dtype), but float64 to bfloat16 rounded once: ml_dtypes rounds to float32 first."""
    if dtype != BFLOAT16 or values.dtype == BFLOAT16:
        return values.astype(dtype)
    if is_complex(values.dtype):
        values = values.real
    if values.dtype != np.float64:
        return values.astype(dtype)
    # Rounded to odd: an inexact float32 gets an odd last bit, so that the second rounding is right.
    nearest = values.astype(np.float32)
    exact = nearest.astype(np.float64)
    is_even = (exact != values) & (nearest.view(np.uint32) & 1 == 0) & ~np.isnan(values)
    towards = np.where(values > exact, np.float32(np.inf), np.float32(-np.inf))
    return np.where(is_even, np.nextafter(nearest, towards), nearest).astype(dtype)
