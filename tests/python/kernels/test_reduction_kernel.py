# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""ReductionKernel and ScanKernel against NumPy: any axes, layouts and device, and errors."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import assert_same, numbers, pair, poisoned, windows

import spanwise as sw

SUM = sw.ReductionKernel("T x", "int64 y", "x", "a + b", "y = a", "0", "total")
NORM = sw.ReductionKernel(
    "T x, T y", "T z, int64 k", "x * y", "a + b", "z = a; k = _in_ind.size() / _out_ind.size()", "0"
)
DOT = sw.ReductionKernel(
    np.float32, neutral="0", reduce_expr="a+b", map_expr="x[i]*y[i]", arguments="float *x, float *y"
)
ARGMAX = sw.ReductionKernel(
    "T x",
    "int64 k",
    "Best{x, i}",
    "b.x > a.x || (b.x == a.x && b.i < a.i) ? b : a",
    "k = a.i",
    None,
    "argmax",
    reduce_type="Best",
    preamble="struct Best { double x; long long i; };",
)
INCLUSIVE_SUM = sw.InclusiveScanKernel(np.int64, "a + b")
EXCLUSIVE_SUM = sw.ExclusiveScanKernel(np.int64, "a + b", 0, name_prefix="exclusive_sum")
# Associative and not commutative: the last value that is not 0.
LAST_NONZERO = sw.ScanKernel("int32", "b != 0 ? b : a", name_prefix="last")


def drawn_axes(data, rank):
    """None or a tuple of axes of an array of `rank` axes."""
    axes = data.draw(st.none() | st.sets(st.integers(0, max(rank - 1, 0)), max_size=rank))
    return None if axes is None or rank == 0 else tuple(axes)


class TestReductions:
    @given(data=st.data(), dtype=st.sampled_from(("uint8", "int32")), seed=st.integers(0, 99))
    def test_any_axes_of_any_layout(self, device, data, dtype, seed):
        x, a = pair(data.draw(windows()), dtype, device, seed)
        axis, keepdims = drawn_axes(data, a.ndim), data.draw(st.booleans())
        result = SUM(x, axis=axis, keepdims=keepdims)
        assert_same(result, np.asarray(a.astype("int64").sum(axis=axis, keepdims=keepdims)))

    @given(data=st.data(), seed=st.integers(0, 99))
    def test_several_outputs_of_broadcast_inputs(self, device, data, seed):
        window = data.draw(windows())
        x, a = pair(window, "int64", device, seed)
        shape = tuple(n if data.draw(st.booleans()) else 1 for n in a.shape)
        b = numbers(shape, "int64", seed + 1)
        axis = drawn_axes(data, a.ndim)
        expected = np.asarray((a * b).sum(axis=axis))
        out = poisoned(expected.shape, "int64", device)
        count = poisoned(expected.shape, "int64", device)
        results = NORM(x, sw.array(b, device=device), out=(out, count), axis=axis)
        assert results[0] is out and results[1] is count
        assert_same(out, expected)
        if expected.size:
            assert (count.numpy() == a.size // expected.size).all()

    @given(data=st.data(), seed=st.integers(0, 99))
    def test_index_of_an_element_is_in_c_order(self, device, data, seed):
        x, a = pair(data.draw(windows()), "float32", device, seed)
        if a.size == 0:
            with pytest.raises(sw.ArgumentError, match="no identity"):
                ARGMAX(x)
            return
        assert int(ARGMAX(x)) == a.argmax()

    @pytest.mark.parametrize(
        ("shape", "axis"),
        [
            ((3_000_001,), None),
            ((2000, 1000), 0),
            ((2000, 1000), 1),
            ((100_000, 3), 0),
            ((3, 400_000), 1),
            ((40, 50, 600), (0, 2)),
            ((40, 50, 600), 1),
            ((300_000, 300), 0),
        ],
    )
    def test_large_arrays_match_numpy(self, device, shape, axis):
        a = np.random.default_rng(0).integers(-100, 100, shape, dtype="int32")
        x = sw.array(a, device=device)
        assert_same(SUM(x, axis=axis), np.asarray(a.sum(axis=axis, dtype="int64")))
        if axis is None:
            assert_same(SUM(x[::-2]), np.asarray(a[::-2].sum(dtype="int64")))
        else:
            total = SUM(x.T)
            assert int(total) == a.sum(dtype="int64")

    def test_pycudas_dot_product_is_accurate_and_repeatable(self, device):
        x, y = (np.random.default_rng(k).random(400_000, "float32") for k in (0, 1))
        result = DOT(sw.array(x, device=device), sw.array(y, device=device))
        assert result.shape == () and result.dtype == np.float32
        np.testing.assert_allclose(float(result), np.dot(x.astype("f8"), y), rtol=1e-6)
        repeated = DOT(sw.array(x, device=device), sw.array(y, device=device))
        assert float(repeated) == float(result)

    def test_reduction_of_a_pointer_needs_no_map(self, device):
        largest = sw.ReductionKernel("int32", "-1", "a > b ? a : b", arguments="const int *x")
        assert int(largest(sw.array([3, 9, 4], dtype="int32", device=device))) == 9
        assert int(largest(sw.empty(0, "int32", device=device))) == -1

    def test_norm_with_post_map_over_rows(self, device):
        l2norm = sw.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
        a = np.arange(10, dtype="float32").reshape(2, 5)
        np.testing.assert_allclose(
            l2norm(sw.array(a, device=device), axis=1).numpy(), np.linalg.norm(a, axis=1), rtol=1e-6
        )

    def test_out_may_share_memory_with_the_input(self, device):
        x = sw.arange(6, dtype="int64", device=device).reshape(2, 3)
        SUM(x, axis=0, out=x[1])
        assert x.tolist() == [[0, 1, 2], [3, 5, 7]]

    def test_invalid_arguments_raise(self, device):
        x = sw.ones((2, 3), "float32", device=device)
        with pytest.raises(IndexError):
            SUM(x, axis=2)
        with pytest.raises(sw.ArgumentError, match="duplicate value in axis"):
            SUM(x, axis=(0, -2))
        with pytest.raises(sw.LayoutError, match=r"output of shape \(3,\), got \(2,\)"):
            SUM(x, axis=0, out=sw.empty(2, "int64", device=device))
        with pytest.raises(sw.DTypeError, match="expected dtype int64"):
            SUM(x, axis=0, out=sw.empty(3, "float32", device=device))
        with pytest.raises(sw.KernelArgumentError, match="unexpected keyword argument 'dtype'"):
            SUM(x, dtype="float32")
        with pytest.raises(sw.ArgumentError, match="pass slices of the arrays"):
            SUM(x, slice=slice(1))
        with pytest.raises(sw.ArgumentError, match="allocator="):
            sw.ReductionKernel("int32", "0", "a+b", arguments="int *x", allocator=print)
        with pytest.raises(sw.ArgumentError, match="raw"):
            sw.ReductionKernel("raw T x", "T y", "x[i]", "a + b", "y = a", "0")(x)
        broken = sw.ReductionKernel("T x", "T y", "x", "a + bb", "y = a", "0", "broken")
        with pytest.raises(sw.CompileError, match="'bb' is neither an argument") as caught:
            broken(x)
        assert "reduce_expr of broken" in str(caught.value)


class TestScans:
    @given(data=st.data(), seed=st.integers(0, 99))
    def test_any_layout_and_axis(self, device, data, seed):
        x, a = pair(data.draw(windows(min_rank=1)), "int64", device, seed)
        axis = data.draw(st.integers(-a.ndim, a.ndim - 1))
        expected = a.cumsum(axis=axis)
        assert_same(INCLUSIVE_SUM(x, "new", axis=axis), expected)
        base = poisoned((*a.shape[:-1], 2 * a.shape[-1]), "int64", device)
        out = base[..., ::-2]
        assert EXCLUSIVE_SUM(x, out, axis=axis) is out
        assert_same(out, expected - a)

    @pytest.mark.parametrize("n", [1, 7, 2048, 2049, 40_000, 300_001, 2_000_003])
    def test_long_lines_in_order(self, device, n):
        rng = np.random.default_rng(n)
        a = np.where(rng.random(n) < 0.001, np.arange(n), 0).astype("int32")
        x = sw.array(a, device=device)
        assert_same(LAST_NONZERO(x, "new"), np.maximum.accumulate(a))
        assert LAST_NONZERO(x) is x  # in place, as PyCUDA does it
        assert_same(x, np.maximum.accumulate(a))

    @pytest.mark.parametrize("shape", [(3, 500_002), (5, 300_001), (1, 9_000_003)])
    def test_sums_before_elements_of_long_lines(self, device, shape):
        a = numbers(shape, "int64", 4)
        x = sw.array(a, device=device)
        assert_same(EXCLUSIVE_SUM(x, "new", axis=1), a.cumsum(axis=1) - a)

    def test_scans_of_overlapping_views_and_numpy_arrays(self, device):
        x = sw.arange(10, dtype="int64", device=device)
        INCLUSIVE_SUM(x[:-1], x[1:])
        assert x.tolist() == [0, *np.arange(9).cumsum()]
        a = np.arange(5)
        INCLUSIVE_SUM(a)
        assert a.tolist() == [0, 1, 3, 6, 10]

    def test_invalid_arguments_raise(self, device):
        x = sw.ones((2, 2), "int64", device=device)
        with pytest.raises(sw.LayoutError, match="axis="):
            INCLUSIVE_SUM(x)
        with pytest.raises(sw.DTypeError, match="expected arrays of int64, got float32"):
            INCLUSIVE_SUM(sw.ones(2, "float32", device=device))
        with pytest.raises(sw.LayoutError, match=r"output of shape \(2, 2\)"):
            INCLUSIVE_SUM(x, x[0], axis=0)
        with pytest.raises(sw.ArgumentError, match="neutral"):
            sw.ScanKernel("int32", "a + b", exclusive=True)
        with pytest.raises(sw.CompileError, match="'c' is neither an argument"):
            sw.ScanKernel("int64", "a + c", name_prefix="broken")(x[0])
        frozen = np.ones(3, "int64")
        frozen.flags.writeable = False
        with pytest.raises(sw.ReadOnlyError):
            INCLUSIVE_SUM(np.ones(3, "int64"), sw.asarray(frozen))
