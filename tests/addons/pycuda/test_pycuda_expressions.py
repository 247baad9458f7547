# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""spanwise.pycuda's kernels from expressions, against NumPy."""

import numpy as np
import pytest

import spanwise as sw
from spanwise.pycuda import driver as drv, gpuarray, reduction
from spanwise.pycuda.characterize import sizeof
from spanwise.pycuda.elementwise import (
    ElementwiseKernel,
    get_elwise_kernel,
    get_linear_combination_kernel,
)
from spanwise.pycuda.gpuarray import to_gpu
from spanwise.pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel
from spanwise.pycuda.tools import VectorArg


@pytest.fixture(autouse=True)
def on_device(device):
    with device:
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def test_elementwise_kernel_computes_slices_and_ranges(rng):
    x, y = rng.standard_normal(60), rng.standard_normal(60)
    g, h, z = to_gpu(x), to_gpu(y), gpuarray.zeros(60, np.float64)
    kernel = ElementwiseKernel(
        "double a, double *x, double *y, double *z", "z[i] = a*x[i] + y[i]", "f"
    )
    kernel(2.0, g, h, z)
    np.testing.assert_allclose(z.get(), 2 * x + y)
    kernel(3.0, g, h, z, slice=np.s_[50:5:-3])
    expected = 2 * x + y
    expected[50:5:-3] = (3 * x + y)[50:5:-3]
    np.testing.assert_allclose(z.get(), expected)
    kernel(4.0, g, h, z, range=range(3, 7), stream=drv.Stream())
    expected[3:7] = (4 * x + y)[3:7]
    np.testing.assert_allclose(z.get(), expected)
    half = gpuarray.zeros(30, np.float64)
    kernel(1.0, g[::2], h[::2], half)
    np.testing.assert_allclose(half.get(), (x + y)[::2])
    indices = gpuarray.zeros((3, 4), np.int32, order="F")
    ElementwiseKernel([VectorArg(np.int32, "z")], "z[i] = i", "indices")(indices)
    np.testing.assert_array_equal(indices.get(), np.arange(12).reshape(3, 4, order="F"))


def test_kernels_take_structs_addresses_and_texture_references(rng):
    points = np.zeros(5, gpuarray.vec.float2)
    points["x"], points["y"] = rng.standard_normal((2, 5))
    out = gpuarray.zeros(5, np.float32)
    ElementwiseKernel("float2 *p, float *r", "r[i] = p[i].x * p[i].y")(to_gpu(points), out)
    np.testing.assert_allclose(out.get(), points["x"] * points["y"], rtol=1e-6)
    kernel = get_elwise_kernel("float *z, int by", "z[i] = i * by", "times")
    kernel.prepared_call(out._grid, out._block, out.gpudata, 3, out.size)
    np.testing.assert_array_equal(out.get(), 3 * np.arange(5))
    kernel, references = get_linear_combination_kernel(
        ((True, np.float32, np.float32), (False, np.float32, np.float32)), np.float32
    )
    with pytest.raises(ValueError, match="not bound"):
        kernel.prepared_call(out._grid, out._block, out, 2, out, out, out.size)
    to_gpu(np.array([4], "float32")).bind_to_texref_ext(references[0])
    kernel.prepared_call(out._grid, out._block, out, 2, out, out, out.size)
    np.testing.assert_array_equal(out.get(), 18 * np.arange(5))


def test_reduction_kernel_matches_numpy(rng):
    x, y = rng.standard_normal((2, 300, 7))
    kernel = reduction.ReductionKernel(
        np.float64, "0", "a+b", map_expr="x[i]*y[i]", arguments="double *x, double *y"
    )
    np.testing.assert_allclose(kernel(to_gpu(x), to_gpu(y)).get(), (x * y).sum(), rtol=1e-12)
    out = gpuarray.zeros(3, np.float64)
    assert kernel(to_gpu(x)[:, ::2], to_gpu(y)[:, ::2], out=out[1], stream=drv.Stream()).shape == ()
    np.testing.assert_allclose(out.get(), [0, (x * y)[:, ::2].sum(), 0], rtol=1e-12)
    np.testing.assert_allclose(
        kernel(to_gpu(x), to_gpu(y), slice=np.s_[5:90:4]).get(),
        (x * y).ravel()[5:90:4].sum(), rtol=1e-12,
    )  # fmt: skip


def test_elementwise_range_of_a_strided_array_raises():
    x = gpuarray.zeros(20, np.float32)
    with pytest.raises(
        sw.CopyNeededError, match=r"ElementwiseKernel: expected contiguous .* \(8,\)"
    ):
        ElementwiseKernel("float *x", "x[i] = 1")(x[::2], slice=np.s_[:5])
    assert not x.get().any()


@pytest.mark.parametrize("indices", [range(5, 90, 4), range(90, 5, -7), range(3, 3)])
def test_reduction_over_a_range_passes_these_indices_and_whole_arrays(rng, indices):
    lookup, x = rng.integers(0, 100, 100).astype("int32"), rng.standard_normal(100)
    chosen = x[lookup[list(indices)]]
    subset_sum = reduction.get_subset_sum_kernel(np.float64, np.int32, np.float64)
    result = subset_sum(to_gpu(lookup), to_gpu(x), range=indices)
    np.testing.assert_allclose(result.get(), chosen.sum(), rtol=1e-12)
    index_sum = reduction.ReductionKernel(np.int64, "0", "a+b", "i + 0*x[i]", "long *x")
    zeros = gpuarray.zeros(200, np.int64)
    part = np.s_[indices.start : indices.stop : indices.step]
    assert index_sum(zeros[:100], slice=part).get() == sum(indices)
    with pytest.raises(sw.CopyNeededError, match="ReductionKernel: expected contiguous"):
        index_sum(zeros[::2], slice=part)


def test_reductions_to_records(rng):
    x = rng.standard_normal(100_000).astype("float32")
    kernel = reduction.ReductionKernel(
        gpuarray.vec.float2, "make_float2(1e9f, -1e9f)",
        "make_float2(fminf(a.x, b.x), fmaxf(a.y, b.y))", "make_float2(x[i], x[i])", "float *x",
    )  # fmt: skip
    assert kernel(to_gpu(x)).get()[()].tolist() == (x.min(), x.max())


@pytest.mark.parametrize("n", [0, 1, 1000, 70_001])
def test_scans_match_numpy(rng, n):
    x = rng.integers(0, 10, n).astype("int32")
    total = np.cumsum(x, dtype="int32")
    g = to_gpu(x)
    result = InclusiveScanKernel(np.int32, "a+b")(g, "new")
    np.testing.assert_array_equal(result.get(), total)
    assert ExclusiveScanKernel(np.int32, "a+b", "0")(g, stream=drv.Stream()) is g
    np.testing.assert_array_equal(g.get(), total - x)
    with pytest.raises(ValueError, match="neutral="):
        ExclusiveScanKernel(np.int32, "a+b")


def test_sizeof_is_that_of_the_compiler():
    assert sizeof("float3") == 12
    assert sizeof("pair", "struct pair { char a; double b; };") == 16


@pytest.mark.parametrize(
    "run",
    [
        lambda g: ElementwiseKernel("float *x", "x[i] = missing")(g),
        lambda g: ElementwiseKernel("float *x", "x[i] = missing")(g, slice=np.s_[:2]),
        lambda g: reduction.ReductionKernel(np.float32, "0", "a+missing", arguments="float *x")(g),
        lambda g: InclusiveScanKernel(np.float32, "a+missing")(g),
        lambda g: sizeof("undeclared"),
    ],
    ids=["elementwise", "elementwise slice", "reduction", "scan", "sizeof"],
)
def test_text_that_does_not_compile_raises_pycudas_error(run):
    with pytest.raises(
        drv.CompileError, match=r"^compilation of .* failed\n[\s\S]*(missing|undecl)"
    ):
        run(gpuarray.zeros(4, np.float32))


def test_expression_kernels_without_declarations_or_arrays_say_what_is_missing():
    with pytest.raises(TypeError, match="expected declarations such as"):
        reduction.ReductionKernel(np.float32, "0", "a+b", map_expr="x[i]")
    total = reduction.ReductionKernel(np.float32, "0", "a+b", "y", "float *x, float y")
    with pytest.raises(sw.ArgumentError, match="ReductionKernel: expected a GPUArray"):
        total(0, 1.0, range=slice(0, 4))
    double = ElementwiseKernel("float *x, float y", "x[i] = y")
    with pytest.raises(sw.ArgumentError, match="ElementwiseKernel: expected a GPUArray"):
        double(0, 1.0, range=slice(0, 4))


@pytest.mark.parametrize("selection", [{}, {"range": range(8)}, {"slice": slice(0, 8)}])
def test_constants_of_a_preamble_are_filled(selection):
    kernel = ElementwiseKernel(
        "float *x", "x[i] = table[i % 4]", preamble="__constant__ float table[4];"
    )
    address, size = kernel.get_global("table")
    assert size == 16
    for values in ([1, 2, 3, 4], [5, 6, 7, 8]):
        drv.memcpy_htod(address, np.array(values, "f4"))
        x = gpuarray.zeros(8, np.float32)
        kernel(x, **selection)
        assert x.get().tolist() == 2 * values


@pytest.mark.parametrize("selection", [{}, {"range": range(8)}, {"slice": slice(0, 8)}])
def test_variables_of_a_reduction_are_filled_and_read(selection):
    kernel = reduction.ReductionKernel(
        np.float32, "0", "a + b", "count(x[i]) * table[i % 4]", "float *x",
        preamble="__constant__ float table[4]; __device__ int calls;"
        "__device__ float count(float x) { atomicAdd(&calls, 1); return x; }",
    )  # fmt: skip
    (address, size), (calls, _) = kernel.get_global("table"), kernel.get_global("calls")
    assert size == 16 and kernel.get_global("table") == (address, size)
    x = gpuarray.to_gpu(np.arange(8, dtype=np.float32))
    for values in ([1, 2, 3, 4], [5, 6, 7, 8]):
        drv.memcpy_htod(address, np.array(values, "f4"))
        assert kernel(x, **selection).get() == np.arange(8.0) @ (2 * values)
    count = np.empty(1, "i4")
    drv.memcpy_dtoh(count, calls)
    assert count == 16
    with pytest.raises(sw.ArgumentError, match="other"):
        kernel.get_global("other")


@pytest.mark.parametrize("kind", [InclusiveScanKernel, ExclusiveScanKernel])
def test_variables_of_a_scan_are_filled(kind):
    kernel = kind(np.int32, "a + b * factor[0]", "0", preamble="__constant__ int factor[1];")
    address, size = kernel.get_global("factor")
    assert size == 4
    drv.memcpy_htod(address, np.array([1], "i4"))
    values = np.array([3, 1, 4, 1, 5], "i4")
    ends = np.cumsum(values) - (0 if kind is InclusiveScanKernel else values)
    assert kernel(gpuarray.to_gpu(values)).get().tolist() == ends.tolist()
