# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""frexp and ldexp compared with NumPy's: all float16 values, random float32 and float64 bit patterns."""

import numpy as np
import pytest
from support.arrays import assert_same

import spanwise as sw
from spanwise._numpy import elementwise

INTEGERS = {"float16": "uint16", "float32": "uint32", "float64": "uint64"}


def numbers(dtype):
    if dtype == "float16":
        return np.arange(1 << 16, dtype="uint16").view(dtype)
    words = np.random.default_rng(1).integers(0, 2**64, 5000, "uint64").astype(INTEGERS[dtype])
    least = np.finfo(dtype).smallest_subnormal
    ends = np.asarray([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -0.5, least, 77 * least], dtype)
    return np.concatenate([words.view(dtype), ends])


def kernel_or_function(name, implementation, dtype):
    """sw.frexp or sw.ldexp, or the kernel by which it computes on GPUs, which runs on any device."""
    wide = "double" if dtype == "float64" else "float"
    if implementation == "function":
        return getattr(sw, name)
    return {"frexp": elementwise._frexp_kernel, "ldexp": elementwise._ldexp_kernel}[name](wide)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("implementation", ["function", "kernel"])
def test_frexp_matches_numpy(device, dtype, implementation):
    x = numbers(dtype)
    mantissa, exponent = kernel_or_function("frexp", implementation, dtype)(
        sw.asarray(x, device=device)
    )
    with np.errstate(all="ignore"):
        expected = np.frexp(x)
    assert_same(mantissa, expected[0])
    np.testing.assert_array_equal(np.signbit(mantissa.numpy()), np.signbit(expected[0]))
    assert_same(exponent, np.where(np.isfinite(x), expected[1], 0).astype("int32"))


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("implementation", ["function", "kernel"])
def test_ldexp_matches_numpy(device, dtype, implementation):
    x = numbers(dtype)
    ldexp, ours = kernel_or_function("ldexp", implementation, dtype), sw.asarray(x, device=device)
    for e in (0, 3, -3, 30, -30, 200, -1100, 2000, 2**40, -(2**40)):
        exponents = sw.asarray(np.full(x.shape, e), device=device)
        with np.errstate(all="ignore"):
            expected = np.ldexp(x, np.clip(e, -5000, 5000))
        assert_same(ldexp(ours, exponents), expected)
    columns = np.asarray([[1], [-2]], "int8")
    result = sw.ldexp(sw.asarray(x[:8], device=device), sw.asarray(columns, device=device))
    with np.errstate(all="ignore"):
        assert_same(result, np.ldexp(x[:8], columns))


def test_frexp_and_ldexp_accept_integers_and_numbers(device):
    mantissa, exponent = sw.frexp(sw.asarray([6, 4], "int8", device=device))
    assert (str(mantissa.dtype), mantissa.tolist(), exponent.tolist()) == (
        "float16",
        [0.75, 0.5],
        [3, 3],
    )
    assert sw.ldexp(sw.asarray([0.75, 0.5], device=device), 3).tolist() == [6.0, 4.0]
    halves = sw.asarray([3.0, -0.25], device=device).astype("bfloat16")
    mantissa, exponent = sw.frexp(halves)
    assert str(mantissa.dtype) == "bfloat16"
    assert (sw.ldexp(mantissa, exponent) == halves).all()
    with pytest.raises(TypeError, match="not defined for complex"):
        sw.frexp(sw.asarray([1j], device=device))
    with pytest.raises(TypeError, match="expected exponents of integers"):
        sw.ldexp(sw.asarray([1.0], device=device), 0.5)


def test_numpy_frexp_and_ldexp_return_spanwise_arrays(device):
    ours = sw.asarray([6.0, 4.0], device=device)
    mantissa, exponent = np.frexp(ours)
    assert isinstance(mantissa, sw.Array)
    assert mantissa.device == ours.device
    assert np.ldexp(mantissa, exponent).tolist() == [6.0, 4.0]
