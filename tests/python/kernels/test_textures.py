# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Textures and surfaces of one channel, against a reference in NumPy."""

import numpy as np
import pytest
from python.kernels.texture_reference import (
    C_TYPES,
    SHAPES,
    fetch,
    fetch_channels,
    random_points,
    random_values,
    sampled,
)

import spanwise as sw


@pytest.mark.parametrize("dtype", sorted(C_TYPES))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("mode", ["clamp", "border"])
def test_point_fetches_of_every_dtype_match_the_reference(device, dtype, shape, mode):
    values = random_values(shape, dtype)
    points, _ = random_points(shape)
    texture = sw.Texture(sw.array(values, device=device), address=mode)
    expected = sampled(values, points, mode, linear=False)
    got = fetch(device, texture, points, len(shape), dtype)
    np.testing.assert_array_equal(got.astype("float64"), expected)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("mode", ["clamp", "border", "wrap", "mirror"])
@pytest.mark.parametrize("filter", ["point", "linear"])
def test_normalized_coordinates_match_the_reference(device, shape, mode, filter):
    values = random_values(shape, "float32")
    points, extent = random_points(shape)
    texture = sw.Texture(
        sw.array(values, device=device), address=mode, filter=filter, normalized=True
    )
    # The fetch multiplies fractions by extents; the reference is computed at the rounded products.
    fractions = (points / extent).astype("float32")
    points = fractions * extent.astype("float32")
    got = fetch(device, texture, fractions, len(shape), "float32")
    expected = sampled(values, points, mode, linear=filter == "linear")
    span = values.max() - values.min() + np.abs(values).max()
    bound = len(shape) * span * (1 / 256 + 1e-5) if filter == "linear" else 0
    assert np.abs(got - expected).max() <= bound + 1e-6


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("mode", ["clamp", "border"])
def test_linear_filter_matches_the_reference(device, shape, mode):
    values = random_values(shape, "float32")
    points, _ = random_points(shape)
    texture = sw.Texture(sw.array(values, device=device), address=mode, filter="linear")
    got = fetch(device, texture, points, len(shape), "float32")
    expected = sampled(values, points, mode, linear=True)
    span = values.max() - values.min() + np.abs(values).max()
    assert np.abs(got - expected).max() <= len(shape) * span / 256 + 1e-6
    if device.kind != "cpu":  # CUDA does not specify how products of weights are rounded
        return
    # Weights of 8 fractional bits: exact where the coordinates have no more.
    points = np.round(points * 128) / 128
    got = fetch(device, texture, points.astype("float32"), len(shape), "float32")
    np.testing.assert_allclose(got, sampled(values, points, mode, linear=True), atol=2e-6 * span)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16"])
@pytest.mark.parametrize("filter", ["point", "linear"])
def test_normalized_reads_convert_integers_to_fractions(device, dtype, filter):
    values = random_values((6, 8), dtype)
    points, _ = random_points((6, 8))
    texture = sw.Texture(sw.array(values, device=device), filter=filter, read="normalized")
    fractions = np.maximum(values / float(np.iinfo(dtype).max), -1)
    got = fetch(device, texture, points, 2, "float32")
    expected = sampled(fractions, points, "clamp", linear=filter == "linear")
    # Fractions differ by at most 2; each of the 2 weights is rounded to 8 fractional bits.
    assert np.abs(got - expected).max() <= (4.1 / 256 if filter == "linear" else 1e-6)


def test_strided_and_host_arrays_with_a_mode_for_each_axis(device):
    values = random_values((6, 10), "float32")
    points, _ = random_points((5, 6))
    window = sw.array(values, device=device)[:, ::2].T
    texture = sw.Texture(window, address=("border", "clamp"))
    expected = sampled(
        np.pad(values[:, ::2].T, ((4, 4), (0, 0)), "edge"),
        np.add(points, [0, 4, 0]),
        "border",
        False,
    )
    np.testing.assert_array_equal(fetch(device, texture, points, 2, "float32"), expected)
    on_host = sw.Texture(values[:, ::2].T, address=("border", "clamp"), device=device)
    assert on_host.device == device and on_host.shape == (5, 6)
    np.testing.assert_array_equal(fetch(device, on_host, points, 2, "float32"), expected)


def test_a_texture_is_a_copy_and_linear_memory_is_not(device):
    source = "__global__ void k(int *out, cudaTextureObject_t t) { out[threadIdx.x] = tex1Dfetch<int>(t, (int)threadIdx.x - 1); }"
    kernel = sw.SourceModule(source, device=device).get_function("k")
    array = sw.arange(6, dtype="int32", device=device)
    shared, copied = sw.Texture(array, memory="linear"), sw.Texture(array)
    array[...] = 7
    array.sync()
    out = sw.zeros(8, dtype="int32", device=device)
    kernel(out, shared, block=8)
    assert out.tolist() == [0, 7, 7, 7, 7, 7, 7, 0]
    points = np.zeros((6, 3), "float32")
    points[:, 0] = np.arange(6) + 0.5
    np.testing.assert_array_equal(fetch(device, copied, points, 1, "int32"), np.arange(6))


def test_surfaces_are_read_and_written(device):
    source = """
        __global__ void turn(cudaSurfaceObject_t to, cudaSurfaceObject_t from, int w, int h) {
          int x = threadIdx.x, y = threadIdx.y;
          if (x >= w || y >= h) return;
          float value = surf2Dread<float>(from, x * 4, y), same;
          surf2Dread(&same, from, x * 4, y);
          surf2Dwrite(value + same, to, (w - 1 - x) * 4, y);
          surf2Dwrite(-1.0f, to, -4, y, cudaBoundaryModeZero);
        }
        __global__ void line(cudaSurfaceObject_t s) {
          surf1Dwrite((unsigned char)threadIdx.x, s, threadIdx.x);
        }
        __global__ void box(cudaSurfaceObject_t s) {
          surf3Dwrite((short)(surf3Dread<short>(s, 2 * threadIdx.x, threadIdx.y, threadIdx.z) + 1), s,
                      2 * threadIdx.x, threadIdx.y, threadIdx.z);
        }
    """
    module = sw.SourceModule(source, device=device)
    values = random_values((5, 7), "float32")
    original = sw.Surface(sw.array(values, device=device))
    out = sw.Surface(np.full((5, 7), 9, "float32"), device=device)
    module.get_function("turn")(out, original, np.int32(7), np.int32(5), block=(8, 8))
    np.testing.assert_array_equal(out.get().numpy(), 2 * values[:, ::-1])
    np.testing.assert_array_equal(original.get().numpy(), values)
    line = sw.Surface(np.zeros(9, "uint8"), device=device)
    module.get_function("line")(line, block=9)
    assert line.get().tolist() == list(range(9))
    box = sw.Surface(np.arange(24, dtype="int16").reshape(2, 3, 4), device=device)
    module.get_function("box")(box, block=(4, 3, 2))
    assert box.get().ravel().tolist() == list(range(1, 25))


@pytest.mark.parametrize("channels", [None, 2, 4])
@pytest.mark.parametrize("filter", ["point", "linear"])
def test_rows_of_linear_memory_are_shared(device, channels, filter):
    """The texture is a view of a larger array with a row pitch that GPUs allow; the memory is written
    after the texture is made."""
    whole = sw.array(np.zeros((6, 64, *([channels] if channels else [])), "float32"), device=device)
    view = whole[:, :10]
    texture = sw.Texture(view, channels=channels, memory="linear", filter=filter)
    values = random_values(view.shape, "float32")
    view[...] = values
    view.sync()
    points, _ = random_points((6, 10))
    count = channels or 1
    call = f"tex2D<float{count}>(t, x, y)"
    got = fetch_channels(device, texture, points, call, f"float{count}", count, "float")
    values = values.reshape(6, 10, count)
    for c in range(count):
        expected = sampled(values[..., c], points, "clamp", linear=filter == "linear")
        np.testing.assert_allclose(got[:, c], expected, atol=12 / 256 if filter == "linear" else 0)


def test_rows_that_a_gpu_cannot_share_raise(device):
    if device.kind == "cpu":
        pytest.skip("needs a GPU: the CPU shares any rows")
    whole = sw.zeros((6, 65), dtype="float32", device=device)
    with pytest.raises(sw.ArgumentError, match="stride of rows to be a multiple of"):
        sw.Texture(whole[:, :10], memory="linear")
    with pytest.raises(sw.ArgumentError, match="address to be a multiple of"):
        sw.Texture(whole.reshape(-1)[1:9], memory="linear")


def test_fetches_of_linear_memory_return_vectors_of_fractions(device):
    values = random_values((7, 4), "uint8")
    texture = sw.Texture(
        sw.array(values, device=device), channels=4, memory="linear", read="normalized"
    )
    points = np.zeros((9, 3), "float32")
    points[:, 0] = np.arange(-1, 8)
    call = "tex1Dfetch<float4>(t, (int)x)"
    got = fetch_channels(device, texture, points, call, "float4", 4, "float")
    np.testing.assert_allclose(got[1:8], values / 255.0, atol=1e-6)
    assert not got[0].any() and not got[8].any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("tex2D<float>(t, 1.5f, 2.5f)", "another number of coordinates"),
        ("tex1Dfetch<int>(t, 1)", "another type"),
        ("tex1D<int>(t, 1.5f)", "another type"),
        ("(tex1D(&y, t, 1.5f), (float)y)", "another type"),
        ("surf1Dread<float>(t, 2)", "inside an element"),
        ("surf1Dread<float>(t, 4000)", "outside of a surface"),
    ],
)
def test_faults_name_the_line_of_the_fetch(compiler, call, message):
    source = (
        f"__global__ void f(cudaTextureObject_t t, float *x)\n{{\n  int y;\n  x[0] = {call};\n}}"
    )
    f = sw.SourceModule(source, device="cpu").get_function("f")
    x = sw.zeros(4, "float32", device="cpu")
    with pytest.raises(sw.KernelFaultError, match=f"{message}.*line 4"):
        f(sw.Texture(sw.zeros(9, "float32", device="cpu")), x, block=1)
