# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""ElementwiseKernel: arrays of any layout."""

import numpy as np
from hypothesis import given, strategies as st
from python.kernels.elementwise_kernels import AXPY, PICK, SUM_INDEX
from support.arrays import COMPUTABLE, assert_same, numbers, pair, poisoned, windows

import spanwise as sw

DIFFERENCE = sw.ElementwiseKernel(
    "int *z, const int *x", "z[i] = x[i] - (i > 0 ? x[i - 1] : 0) + (i == n - 1)", "difference"
)

ARITHMETIC = ("uint8", "int32", "float64")


class TestLayouts:
    @given(data=st.data(), dtype=st.sampled_from(ARITHMETIC), seed=st.integers(0, 99))
    def test_values_broadcast_as_numpy_does(self, device, data, dtype, seed):
        window = data.draw(windows())
        x, a = pair(window, dtype, device, seed)
        shape = tuple(n if data.draw(st.booleans()) else 1 for n in a.shape)
        shape = shape[data.draw(st.integers(0, len(shape))) :]
        b = numbers(shape, dtype, seed + 1)
        sums, indices = SUM_INDEX(x, sw.array(b, device=device))
        with np.errstate(over="ignore"):
            assert_same(sums, np.add(a, b, dtype=dtype))
        assert_same(indices, np.arange(a.size).reshape(a.shape))

    @given(data=st.data(), dtype=st.sampled_from(COMPUTABLE), seed=st.integers(0, 99))
    def test_all_dtypes_with_strided_outputs(self, device, data, dtype, seed):
        window = data.draw(windows(broadcast=False))
        x, a = pair(window, dtype, device, seed)
        y, b = pair(window, dtype, device, seed + 1)
        condition, mask = pair(window, "bool", device, seed + 2)
        base = poisoned(window.base_shape, dtype, device)
        z = window.of(base)
        expected_base = base.numpy().copy()
        window.of(expected_base)[...] = np.where(mask, a, b)
        assert PICK(x, condition, y, z) is z
        assert base.numpy().tobytes() == expected_base.tobytes()

    @given(data=st.data(), seed=st.integers(0, 99))
    def test_pointer_parameters_accept_any_strides(self, device, data, seed):
        window = data.draw(windows())
        x, a = pair(window, "float32", device, seed)
        y, b = pair(window, "float32", device, seed + 1)
        z = poisoned(a.shape, "float32", device)
        assert AXPY(z, 3, x, y) is None
        assert_same(z, 3 * a + b)

    @given(data=st.data(), seed=st.integers(0, 99))
    def test_indexed_access_to_other_elements_is_in_c_order(self, device, data, seed):
        x, a = pair(data.draw(windows()), "int32", device, seed)
        z = poisoned(a.shape, "int32", device)
        DIFFERENCE(z, x)
        flat = a.reshape(-1)
        expected = np.diff(flat, prepend=np.int32(0)).astype("int32")
        expected[-1:] += 1
        assert_same(z, expected.reshape(a.shape))

    def test_large_arrays_match_numpy(self, device):
        x = np.arange(3_000_001, dtype="int64")
        sums, indices = SUM_INDEX(sw.array(x, device=device)[::-1], 5)
        assert_same(sums, x[::-1] + 5)
        assert_same(indices, x)
        square = sw.array(x[:1_000_000].reshape(1000, 1000), device=device)
        sums, _ = SUM_INDEX(square.T, square[0])
        assert_same(sums, square.numpy().T + square.numpy()[0])

    def test_output_may_equal_or_overlap_an_input(self, device):
        x = sw.arange(10, dtype="float32", device=device)
        AXPY(x, 2.0, x, x)
        assert_same(x, 3 * np.arange(10, dtype="float32"))
        AXPY(x[1:], 1.0, x[:-1], x[1:])
        expected = 3 * np.arange(10, dtype="float32")
        expected[1:] = expected[:-1] + expected[1:]
        assert_same(x, expected)
