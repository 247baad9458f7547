# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""spanwise.pycuda's functions of arrays, against NumPy."""

import numpy as np
import pytest

from spanwise.pycuda import cumath, curandom, driver as drv, gpuarray, reduction, scan
from spanwise.pycuda.gpuarray import to_gpu
from spanwise.pycuda.tools import DeviceMemoryPool


@pytest.fixture(autouse=True)
def on_device(device):
    with device:
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def test_creation_functions_match_numpy():
    for order in "CF":
        x = gpuarray.zeros((2, 3), np.complex64, order=order)
        assert x.get().tolist() == [[0] * 3] * 2
        for like, value in ((gpuarray.ones_like, 1), (gpuarray.zeros_like, 0)):
            assert like(x, np.int32).get().tolist() == [[value] * 3] * 2
            assert like(x).strides == x.strides and like(x, order="A").strides == x.strides
    assert gpuarray.ones(2).dtype == np.float64
    with pytest.warns(UserWarning, match="pass dtype="):
        assert gpuarray.arange(2, 9, 2).get().tolist() == [2, 4, 6, 8]
    x = gpuarray.arange(1, 0, step=-0.25, dtype=np.float32)
    np.testing.assert_array_equal(x.get(), np.arange(1, 0, -0.25, "float32"))
    with pytest.raises(ValueError, match="expected"):
        gpuarray.arange(step=2)
    with pytest.raises(ValueError, match="expected"):
        gpuarray.arange(1, stop=0)


def test_concatenate_and_stack_match_numpy(rng):
    x, y = rng.standard_normal((2, 3, 4)), rng.standard_normal((2, 3, 4)).astype("float32")
    for axis in (0, 1, -1):
        for name in ("concatenate", "stack"):
            result = getattr(gpuarray, name)([to_gpu(x), to_gpu(y)], axis=axis)
            np.testing.assert_array_equal(result.get(), getattr(np, name)([x, y], axis=axis))


def test_selections_and_logical_functions_match_numpy(rng):
    x, y = rng.standard_normal((5, 4)), rng.standard_normal((4, 5)).T
    g, h = to_gpu(x), to_gpu(y)
    np.testing.assert_array_equal(gpuarray.if_positive(g, g, h).get(), np.where(x > 0, x, y))
    np.testing.assert_array_equal(gpuarray.where(g > 1, g, h).get(), np.where(x > 1, x, y))
    np.testing.assert_array_equal(gpuarray.maximum(g, h).get(), np.maximum(x, y))
    np.testing.assert_array_equal(gpuarray.minimum(0, h).get(), np.minimum(0, y))
    out = gpuarray.empty_like(g)
    assert gpuarray.maximum(g, 0.5, out=out, stream=drv.Stream()) is out
    np.testing.assert_array_equal(out.get(), np.maximum(x, 0.5))
    for name in ("logical_and", "logical_or"):
        result = getattr(gpuarray, name)(g > 0, h > 0)
        assert result.dtype == bool
        np.testing.assert_array_equal(result.get(), getattr(np, name)(x > 0, y > 0))
    np.testing.assert_array_equal(gpuarray.logical_not(g > 0).get(), x <= 0)
    assert gpuarray.logical_and(1, 0).get() == np.False_


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_reductions_match_numpy(rng, dtype):
    x = (10 * rng.standard_normal((30, 20))).astype(dtype)
    g, part = to_gpu(x), x[:, ::3]
    for name in ("sum", "min", "max", "any", "all"):
        result = getattr(gpuarray, name)(g[:, ::3])
        expected = getattr(np, name)(part)
        assert result.shape == () and result.dtype == (
            dtype if name in ("sum", "min", "max") else bool
        )
        np.testing.assert_allclose(result.get(), expected, rtol=1e-4)
    assert gpuarray.sum(g, dtype=np.float64).dtype == np.float64
    np.testing.assert_allclose(gpuarray.dot(g, g).get(), (x * x).sum(), rtol=1e-4)
    indices = rng.integers(0, x.size, 50).astype("int32")
    gpu_indices, chosen = to_gpu(indices), x.ravel()[indices]
    for name in ("sum", "min", "max"):
        result = getattr(gpuarray, f"subset_{name}")(gpu_indices, g)
        np.testing.assert_allclose(result.get(), getattr(np, name)(chosen), rtol=1e-4)
    np.testing.assert_allclose(
        gpuarray.subset_dot(gpu_indices, g, g).get(), (chosen * chosen).sum(), rtol=1e-4
    )
    sums = (
        reduction.get_sum_kernel(None, g.dtype)(g),
        reduction.get_subset_sum_kernel(None, gpu_indices.dtype, g.dtype)(gpu_indices, g),
        reduction.get_subset_dot_kernel(g.dtype, gpu_indices.dtype)(gpu_indices, g, g),
        reduction.get_minmax_kernel("min", g.dtype)(g),
        reduction.get_subset_minmax_kernel("max", g.dtype, gpu_indices.dtype)(gpu_indices, g),
    )
    expected = [x.sum(), chosen.sum(), (chosen * chosen).sum(), x.min(), chosen.max()]
    for result, value in zip(sums, expected, strict=True):
        np.testing.assert_allclose(result.get(), value, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("layout_b", ["C", "F", "strided"])
@pytest.mark.parametrize("layout_a", ["C", "F", "strided"])
def test_dot_pairs_elements_of_equal_indices(layout_a, layout_b):
    def arrays(values, layout):
        if layout == "strided":
            return gpuarray.to_gpu(np.repeat(values, 2, axis=1))[:, ::2]
        return gpuarray.to_gpu(np.asarray(values, order=layout))

    a, b = np.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(3, 4) ** 2
    assert gpuarray.dot(arrays(a, layout_a), arrays(b, layout_b)).get() == (a * b).sum()


def test_result_uses_the_given_allocator(rng):
    pool = DeviceMemoryPool()
    x = gpuarray.GPUArray((10,), np.float32, allocator=pool.allocate)
    x.fill(2)
    assert pool.active_blocks == 1
    total = gpuarray.sum(x, allocator=pool.allocate)
    assert pool.active_blocks == 2 and total.get() == 20
    tests = [x.any(allocator=pool.allocate), x.all(allocator=pool.allocate)]
    assert pool.active_blocks == 4 and all(test.get() for test in tests)
    del total, x, tests
    assert pool.active_blocks == 0 and pool.active_bytes == 0


@pytest.mark.parametrize("indices", [[0, 3, 3, 5], []])
def test_take_and_put_functions_match_numpy(rng, indices):
    x = rng.standard_normal(12).astype("float32")
    g, gpu_indices = to_gpu(x), to_gpu(np.array(indices, "uint32"))
    np.testing.assert_array_equal(gpuarray.take(g, gpu_indices).get(), x[indices])
    taken = gpuarray.multi_take([g, -g], gpu_indices)
    np.testing.assert_array_equal(taken[1].get(), -x[indices])
    to = to_gpu(np.arange(len(indices), dtype="uint32")[::-1].copy())
    out = [gpuarray.zeros(6, np.float32), gpuarray.zeros(6, np.float32)]
    result = gpuarray.multi_take_put([g, g], to, gpu_indices, out=out, src_offsets=[0, 6])
    expected = np.zeros((2, 6), "float32")
    at = np.array(indices, int)
    expected[:, np.arange(len(indices))[::-1]] = x[at], x[at + 6]
    np.testing.assert_array_equal([array.get() for array in result], expected)
    (put,) = gpuarray.multi_put(
        [gpuarray.take(g, gpu_indices)], to, out=[gpuarray.zeros(6, np.float32)]
    )
    np.testing.assert_array_equal(put.get(), expected[0])


#: Names of cumath -> of NumPy, where they differ.
NUMPY_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}


@pytest.mark.parametrize(
    "name", [n for n in cumath.__all__ if n not in ("fmod", "frexp", "ldexp", "modf")]
)
def test_cumath_functions_match_numpy(rng, name):
    x = rng.uniform(0.1, 0.9, (6, 8))
    g, function = to_gpu(x)[:, ::2], getattr(cumath, name)
    expected = getattr(np, NUMPY_NAMES.get(name, name))(x[:, ::2])
    np.testing.assert_allclose(function(g).get(), expected, rtol=1e-14)
    out = gpuarray.empty_like(g)
    assert function(g, out) is out and function(g, out=out, stream=drv.Stream()) is out
    np.testing.assert_allclose(out.get(), expected, rtol=1e-14)
    np.testing.assert_allclose(function(g, drv.Stream()).get(), expected, rtol=1e-14)


def test_fmod_ldexp_modf_and_frexp_match_numpy(rng):
    x, y = rng.uniform(-9, 9, 50), rng.uniform(1, 3, 50)
    g, h = to_gpu(x), to_gpu(y)
    np.testing.assert_array_equal(cumath.fmod(g, h).get(), np.fmod(x, y))
    np.testing.assert_array_equal(cumath.ldexp(g, h).get(), np.ldexp(x, y.astype(int)))
    for result, expected in zip(cumath.modf(g), np.modf(x), strict=True):
        np.testing.assert_array_equal(result.get(), expected)
    for result, expected in zip(cumath.frexp(g), np.frexp(x), strict=True):
        assert result.dtype == np.float64
        np.testing.assert_array_equal(result.get(), expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda g, h: cumath.exp(h), lambda g, h: cumath.exp(g, out=h), lambda g, h: cumath.fmod(g, h),
        lambda g, h: cumath.ldexp(h, g), lambda g, h: cumath.modf(h), lambda g, h: cumath.frexp(h),
        lambda g, h: gpuarray.take(h, g), lambda g, h: gpuarray.take(g, h),
        lambda g, h: gpuarray.sum(h), lambda g, h: gpuarray.max(h), lambda g, h: gpuarray.dot(g, h),
        lambda g, h: gpuarray.concatenate([g, h]), lambda g, h: gpuarray.stack([g, h]),
        lambda g, h: gpuarray.where(h, g, g), lambda g, h: gpuarray.if_positive(g, g, g, out=h),
        lambda g, h: g + h, lambda g, h: h + g, lambda g, h: h / g, lambda g, h: g.__iadd__(h),
        lambda g, h: scan.InclusiveScanKernel(np.float32, "a+b")(g, h),
        lambda g, h: curandom.XORWOWRandomNumberGenerator().fill_normal(h),
    ],
)  # fmt: skip
def test_arrays_of_the_host_are_refused_by_name(call):
    host = np.ones(3, "float32")
    with pytest.raises(
        TypeError, match=r"a GPUArray, got .*ndarray; copy .* gpuarray\.to_gpu\(x\)"
    ):
        call(gpuarray.to_gpu(host), host)
    assert (host == 1).all()
    assert (gpuarray.to_gpu(host) == host) is False  # another kind of object, as before
