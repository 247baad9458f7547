# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Texture and surface objects compared with a reference in NumPy, on each device."""

import ctypes
import gc
import pickle

import numpy as np
import pytest

import spanwise as sw
from spanwise._driver import cuda_arrays as _cuda_arrays

READ = {
    1: "tex1D<ELEMENT>(t, at[3 * i])",
    2: "tex2D<ELEMENT>(t, at[3 * i], at[3 * i + 1])",
    3: "tex3D<ELEMENT>(t, at[3 * i], at[3 * i + 1], at[3 * i + 2])",
}
SOURCE = """
__global__ void k(ELEMENT *out, const float *at, int n, cudaTextureObject_t t) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = EXPRESSION;
}
"""
C_TYPES = {
    "uint8": "unsigned char",
    "int8": "signed char",
    "uint16": "unsigned short",
    "int16": "short",
    "uint32": "unsigned",
    "int32": "int",
    "float32": "float",
}
SHAPES = [(13,), (5, 9), (3, 4, 7)]


def fetch(device, texture, at, rank, dtype):
    """What a kernel reads at the rows (x, y, z) of `at`."""
    source = SOURCE.replace("EXPRESSION", READ[rank])
    f = sw.SourceModule(
        source, options=[f"-DELEMENT={C_TYPES[dtype]}"], device=device
    ).get_function("k")
    out = sw.array(np.full(len(at), 99).astype(dtype), device=device)
    f(
        out,
        sw.array(at, device=device),
        np.int32(len(at)),
        texture,
        block=64,
        grid=-(-len(at) // 64),
    )
    return out.numpy()


def random_values(shape, dtype):
    rng = np.random.default_rng()
    if dtype.startswith("float"):
        return rng.standard_normal(shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def random_points(shape, n=500):
    """Inside and around the array, and its corners, away from where a rounding would decide."""
    extent = np.array([*reversed(shape), *[1] * (3 - len(shape))])
    points = np.random.default_rng().uniform(-2, extent + 2, (n, 3))
    points = np.floor(points * 64) / 64 + 1 / 128
    return points.astype("float32"), extent


def places(index, n, mode):
    """Indices into n + 1 elements, of which the last is the border."""
    if mode == "clamp":
        return np.clip(index, 0, n - 1)
    if mode == "border":
        return np.where((index < 0) | (index >= n), n, index)
    if mode == "wrap":
        return index % n
    folded = index % (2 * n)
    return np.where(folded < n, folded, 2 * n - 1 - folded)


def sampled(values, points, mode, linear):
    """By the rules of the programming guide, in float64, at coordinates that count texels."""
    rank = values.ndim
    padded = np.pad(values.astype("float64"), [(0, 1)] * rank)
    total = np.zeros(len(points))
    for corner in range(2**rank if linear else 1):
        index, weight = [], np.ones(len(points))
        for d in range(rank):
            x = points[:, d].astype("float64") - (0.5 if linear else 0)
            low, up = np.floor(x), corner >> d & 1
            if linear:
                weight *= x - low if up else 1 - (x - low)
            index.insert(0, places(low.astype(int) + up, values.shape[rank - 1 - d], mode))
        total += weight * padded[tuple(index)]
    return total


@pytest.mark.parametrize("dtype", sorted(C_TYPES))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("mode", ["clamp", "border"])
def test_points_of_every_dtype(device, dtype, shape, mode):
    values = random_values(shape, dtype)
    points, _ = random_points(shape)
    texture = sw.Texture(sw.array(values, device=device), address=mode)
    expected = sampled(values, points, mode, linear=False)
    got = fetch(device, texture, points, len(shape), dtype)
    np.testing.assert_array_equal(got.astype("float64"), expected)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("mode", ["clamp", "border", "wrap", "mirror"])
@pytest.mark.parametrize("filter", ["point", "linear"])
def test_coordinates_from_0_to_1(device, shape, mode, filter):
    values = random_values(shape, "float32")
    points, extent = random_points(shape)
    texture = sw.Texture(
        sw.array(values, device=device), address=mode, filter=filter, normalized=True
    )
    # Powers of two as extents would make this exact; here the product is rounded, so compare there.
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
    if device.kind != "cpu":  # which promises no more of the products of weights
        return
    # Weights of 8 fractional bits: exact where the coordinates have no more.
    points = np.round(points * 128) / 128
    got = fetch(device, texture, points.astype("float32"), len(shape), "float32")
    np.testing.assert_allclose(got, sampled(values, points, mode, linear=True), atol=2e-6 * span)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16"])
@pytest.mark.parametrize("filter", ["point", "linear"])
def test_integers_as_fractions(device, dtype, filter):
    values = random_values((6, 8), dtype)
    points, _ = random_points((6, 8))
    texture = sw.Texture(sw.array(values, device=device), filter=filter, read="normalized")
    fractions = np.maximum(values / float(np.iinfo(dtype).max), -1)
    got = fetch(device, texture, points, 2, "float32")
    expected = sampled(fractions, points, "clamp", linear=filter == "linear")
    assert np.abs(got - expected).max() <= (4.1 / 256 if filter == "linear" else 1e-6)


def test_strided_and_host_arrays_and_modes_by_direction(device):
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
    fetched = "__global__ void k(int *out, cudaTextureObject_t t) { out[threadIdx.x] = tex1Dfetch<int>(t, (int)threadIdx.x - 1); }"
    f = sw.SourceModule(fetched, device=device).get_function("k")
    array = sw.arange(6, dtype="int32", device=device)
    shared, copied = sw.Texture(array, memory="linear"), sw.Texture(array)
    array[...] = 7
    array.sync()
    out = sw.zeros(8, dtype="int32", device=device)
    f(out, shared, block=8)
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
    given = sw.Surface(sw.array(values, device=device))
    out = sw.Surface(np.full((5, 7), 9, "float32"), device=device)
    module.get_function("turn")(out, given, np.int32(7), np.int32(5), block=(8, 8))
    np.testing.assert_array_equal(out.get().numpy(), 2 * values[:, ::-1])
    np.testing.assert_array_equal(given.get().numpy(), values)
    line = sw.Surface(np.zeros(9, "uint8"), device=device)
    module.get_function("line")(line, block=9)
    assert line.get().tolist() == list(range(9))
    box = sw.Surface(np.arange(24, dtype="int16").reshape(2, 3, 4), device=device)
    module.get_function("box")(box, block=(4, 3, 2))
    assert box.get().ravel().tolist() == list(range(1, 25))


VECTORS = {
    "uint8": "uchar",
    "int16": "short",
    "uint32": "uint",
    "float32": "float",
    "float16": "float",
}


def fetch_channels(device, texture, points, call, vector, channels, result):
    """All channels of what `call`, with x, y, z, gives at each of `points`."""
    parts = "".join(f"out[{channels} * i + {c}] = v.{'xyzw'[c]}; " for c in range(channels))
    source = f"""
        __global__ void k({result} *out, const float *at, int n, cudaTextureObject_t t) {{
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i >= n) return;
          float x = at[3 * i], y = at[3 * i + 1], z = at[3 * i + 2];
          {vector} v = {call};
          {parts}
        }}
    """
    f = sw.SourceModule(source, device=device).get_function("k")
    dtype = {c: d for d, c in C_TYPES.items()}[result]
    out = sw.array(np.full((len(points), channels), 99).astype(dtype), device=device)
    count = np.int32(len(points))
    f(out, sw.array(points, device=device), count, texture, block=64, grid=-(-len(points) // 64))
    return out.numpy()


@pytest.mark.parametrize("dtype", sorted(VECTORS))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("channels", [1, 2, 4])
def test_points_of_several_channels(device, dtype, shape, channels):
    values = random_values((*shape, channels), dtype)
    points, _ = random_points(shape)
    texture = sw.Texture(sw.array(values, device=device), channels=channels, address="border")
    vector, coordinates = f"{VECTORS[dtype]}{channels}", ", ".join("xyz"[: len(shape)])
    call = f"tex{len(shape)}D<{vector}>(t, {coordinates})"
    result = C_TYPES["float32" if dtype == "float16" else dtype]
    got = fetch_channels(device, texture, points, call, vector, channels, result)
    for c in range(channels):
        expected = sampled(values[..., c], points, "border", linear=False)
        np.testing.assert_array_equal(got[:, c].astype("float64"), expected)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float16"])
@pytest.mark.parametrize("normalized", [False, True])
def test_colours_are_filtered_by_channel(device, dtype, normalized):
    values = random_values((5, 7, 4), dtype)
    points, extent = random_points((5, 7))
    mode = "mirror" if normalized else "clamp"
    how = {"filter": "linear", "address": mode, "normalized": normalized}
    if dtype == "uint8":
        how["read"] = "normalized"
    texture = sw.Texture(sw.array(values, device=device), channels=4, **how)
    given = (points / extent).astype("float32") if normalized else points
    call = "tex2D<float4>(t, x, y)"
    got = fetch_channels(device, texture, given, call, "float4", 4, "float")
    reals = values / 255.0 if dtype == "uint8" else values.astype("float64")
    span = reals.max() - reals.min() + np.abs(reals).max()
    for c in range(4):
        expected = sampled(reals[..., c], points, mode, linear=True)
        assert np.abs(got[:, c] - expected).max() <= 2 * span * (1 / 256 + 1e-4)


def test_a_number_is_the_first_channel(device):
    values = random_values((4, 6, 4), "int16")
    points, _ = random_points((4, 6))
    texture = sw.Texture(values, channels=4, device=device)
    expected = sampled(values[..., 0], points, "clamp", linear=False)
    np.testing.assert_array_equal(fetch(device, texture, points, 2, "int16"), expected)


@pytest.mark.parametrize("channels", [None, 4])
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8"])
@pytest.mark.parametrize("mode", ["clamp", "border"])
def test_gathers_of_four_texels(device, channels, dtype, mode):
    values = random_values((5, 9, *([channels] if channels else [])), dtype)
    points, _ = random_points((5, 9))
    texture = sw.Texture(values, channels=channels, address=mode, device=device)
    vector = {"float32": "float4", "int32": "int4", "uint8": "uchar4"}[dtype]
    for c in range(channels or 1):
        call = f"tex2Dgather<{vector}>(t, x, y, {c})"
        got = fetch_channels(device, texture, points, call, vector, 4, C_TYPES[dtype])
        one = values[..., c] if channels else values
        # Of the texels around (x, y): below left, below right, above right, above left.
        for place, (right, below) in enumerate([(0, 1), (1, 1), (1, 0), (0, 0)]):
            at = points - np.float32([0.5 - right, 0.5 - below, 0])
            expected = sampled(one, at, mode, linear=False)
            np.testing.assert_array_equal(got[:, place].astype("float64"), expected)


@pytest.mark.parametrize("channels", [None, 2, 4])
@pytest.mark.parametrize("filter", ["point", "linear"])
def test_rows_of_memory_are_shared(device, channels, filter):
    """A window of a larger array: rows that a GPU's pitch allows, and memory that is written
    later."""
    whole = sw.array(np.zeros((6, 64, *([channels] if channels else [])), "float32"), device=device)
    window = whole[:, :10]
    texture = sw.Texture(window, channels=channels, memory="linear", filter=filter)
    values = random_values(window.shape, "float32")
    window[...] = values
    window.sync()
    points, _ = random_points((6, 10))
    count = channels or 1
    call = f"tex2D<float{count}>(t, x, y)"
    got = fetch_channels(device, texture, points, call, f"float{count}", count, "float")
    values = values.reshape(6, 10, count)
    for c in range(count):
        expected = sampled(values[..., c], points, "clamp", linear=filter == "linear")
        np.testing.assert_allclose(got[:, c], expected, atol=12 / 256 if filter == "linear" else 0)


def test_memory_that_a_gpu_cannot_share_is_refused(device):
    if device.kind == "cpu":
        pytest.skip("needs a GPU: the CPU shares any rows")
    whole = sw.zeros((6, 65), dtype="float32", device=device)
    with pytest.raises(sw.ArgumentError, match="stride of rows to be a multiple of"):
        sw.Texture(whole[:, :10], memory="linear")
    with pytest.raises(sw.ArgumentError, match="address to be a multiple of"):
        sw.Texture(whole.reshape(-1)[1:9], memory="linear")


def test_fetches_of_memory_give_vectors_and_fractions(device):
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


@pytest.mark.parametrize("shape", [(3, 11), (4, 5, 6)], ids=str)
@pytest.mark.parametrize("filter", ["point", "linear"])
def test_layers_are_chosen_by_number(device, shape, filter):
    layers, *each = shape
    values = random_values((*shape, 2), "float32")
    points, _ = random_points(each)
    points[:, 2] = np.random.default_rng().integers(-1, layers + 1, len(points))
    texture = sw.Texture(
        sw.array(values, device=device), channels=2, layered=True, filter=filter, address="border"
    )
    rank = len(each)
    call = f"tex{rank}DLayered<float2>(t, {'x, y'[: 3 * rank - 2]}, (int)z)"
    got = fetch_channels(device, texture, points, call, "float2", 2, "float")
    chosen = points[:, 2].astype(int)
    chosen[(chosen < 0) | (chosen >= layers)] = layers - 1  # also below 0: the GPU sees no sign
    for layer in range(layers):
        at = chosen == layer
        for c in range(2):
            expected = sampled(values[layer, ..., c], points[at], "border", filter == "linear")
            bound = rank * 12 / 256 if filter == "linear" else 0
            np.testing.assert_allclose(got[at, c], expected, atol=bound)


def test_surfaces_of_channels_and_layers(device):
    source = """
        __global__ void swap(cudaSurfaceObject_t image, int w, int h) {
          int x = threadIdx.x, y = threadIdx.y;
          if (x >= w || y >= h) return;
          uchar4 c = surf2Dread<uchar4>(image, 4 * x, y);
          surf2Dwrite(make_uchar4(c.z, c.y, c.x, c.w), image, 4 * x, y);
        }
        __global__ void alpha(cudaSurfaceObject_t image, int w) {
          if (threadIdx.x < w) surf2Dwrite((unsigned char)9, image, 4 * threadIdx.x + 3, threadIdx.y);
        }
        __global__ void layers(cudaSurfaceObject_t s) {
          int x = threadIdx.x, y = threadIdx.y, layer = threadIdx.z;
          float2 v = surf2DLayeredread<float2>(s, 8 * x, y, layer);
          surf2DLayeredwrite(make_float2(v.y, v.x + layer), s, 8 * x, y, layer);
        }
        __global__ void lines(cudaSurfaceObject_t s) {
          int x = threadIdx.x, layer = threadIdx.y;
          int v = surf1DLayeredread<int>(s, 4 * x, layer);
          surf1DLayeredwrite(v + 100 * layer, s, 4 * x, layer);
        }
        __global__ void bits(cudaSurfaceObject_t s) {
          ushort2 v = surf1Dread<ushort2>(s, 4 * threadIdx.x);
          surf1Dwrite(make_ushort2(v.y, v.x), s, 4 * threadIdx.x);
        }
    """
    module = sw.SourceModule(source, device=device)
    image = random_values((5, 7, 4), "uint8")
    surface = sw.Surface(sw.array(image, device=device), channels=4)
    module.get_function("swap")(surface, np.int32(7), np.int32(5), block=(8, 8))
    np.testing.assert_array_equal(surface.get().numpy(), image[..., [2, 1, 0, 3]])
    module.get_function("alpha")(surface, np.int32(7), block=(8, 5))
    assert (surface.get().numpy()[..., 3] == 9).all()
    values = random_values((3, 4, 5, 2), "float32")
    layered = sw.Surface(values, channels=2, layered=True, device=device)
    module.get_function("layers")(layered, block=(5, 4, 3))
    expected = np.stack([values[..., 1], values[..., 0] + np.arange(3)[:, None, None]], -1)
    np.testing.assert_array_equal(layered.get().numpy(), expected.astype("float32"))
    lines = sw.Surface(np.arange(12, dtype="int32").reshape(2, 6), layered=True, device=device)
    module.get_function("lines")(lines, block=(6, 2))
    np.testing.assert_array_equal(
        lines.get().numpy(), np.arange(12).reshape(2, 6) + np.array([[0], [100]])
    )
    halves = random_values((6, 2), "float16")
    pairs = sw.Surface(halves, channels=2, device=device)
    module.get_function("bits")(pairs, block=6)
    np.testing.assert_array_equal(pairs.get().numpy().view("float16"), halves[:, ::-1])


def test_handles_are_integers_and_go_with_their_object(device):
    texture = sw.Texture(np.zeros((2, 3), "float32"), device=device)
    assert texture.handle == int(texture) and texture.handle != 0
    assert texture.shape == (2, 3) and texture.dtype == "float32" and "Texture" in repr(texture)
    with pytest.raises(TypeError, match="handle"):
        pickle.dumps(texture)
    for _ in range(50):
        sw.Texture(np.zeros((64, 64), "float32"), device=device)
        sw.Surface(np.zeros((64, 64), "float32"), device=device)
    gc.collect()


@pytest.mark.parametrize(
    ("array", "options", "words"),
    [
        (np.zeros(3, "float64"), {}, "float64"),
        (np.zeros((1, 1, 1, 1), "float32"), {}, "1 to 3 dimensions"),
        (np.zeros(0, "float32"), {}, "with elements"),
        (np.zeros(3, "int32"), {"filter": "linear"}, "real values"),
        (np.zeros(3, "uint8"), {"filter": "linear"}, "real values"),
        (np.zeros(3, "float32"), {"read": "normalized"}, "read='element'"),
        (np.zeros(3, "float32"), {"address": "wrap"}, "normalized=True"),
        (np.zeros(3, "float32"), {"address": "edge"}, "'clamp'"),
        (np.zeros(3, "float32"), {"address": ("clamp", "clamp")}, "one a direction"),
        (np.zeros(3, "float32"), {"filter": "cubic"}, "'linear'"),
        (np.zeros((3, 3, 3), "float32"), {"memory": "linear"}, "tex1Dfetch"),
        (np.zeros((3, 6), "float32")[:, ::2], {"memory": "linear"}, "contiguous rows"),
        (np.zeros((3, 6), "float32").T, {"memory": "linear"}, "contiguous rows"),
        (np.zeros((3, 6), "float32")[::-1], {"memory": "linear"}, "contiguous rows"),
        (np.zeros((3, 4), "float32"), {"memory": "linear", "layered": True}, "memory='array'"),
        (np.zeros((3, 4, 3), "float32"), {"channels": 3}, "stored as four"),
        (np.zeros((3, 4), "float32"), {"channels": 2}, "last axis to be the 2 channels"),
        (np.zeros(4, "float32"), {"channels": 4}, "and one of channels"),
        (np.zeros((2, 2, 2, 2), "float32"), {"layered": True}, "behind one of layers"),
        (np.zeros(4, "float32"), {"layered": True}, "behind one of layers"),
        (np.zeros((2, 3), "float16"), {"read": "normalized"}, "read='element'"),
        (np.zeros(6, "float32")[::2], {"memory": "linear"}, "tex1Dfetch"),
    ],
)
def test_unsupported_texture_options_raise(array, options, words):
    with pytest.raises(sw.ArgumentError, match=words):
        sw.Texture(array, **options)


def test_wrong_reads_on_the_cpu_are_errors():
    points = np.zeros((1, 3), "float32")
    for texture, rank in (
        (sw.Texture(np.zeros((2, 2), "float32")), 1),
        (sw.Texture(np.zeros(2, "int32")), 1),
        (sw.Texture(np.zeros((2, 2), "float32"), layered=True), 1),
        (sw.Texture(np.zeros((2, 4), "uint8"), channels=4), 1),
    ):
        with pytest.raises(sw.DeviceError, match="texture"):
            fetch("cpu", texture, points, rank, "float32")
    outside = (
        "__global__ void k(cudaSurfaceObject_t s) { surf1Dwrite(1.0f, s, 4 * (int)threadIdx.x); }"
    )
    surface = sw.Surface(np.zeros(3, "float32"))
    with pytest.raises(sw.DeviceError, match="outside of a surface"):
        sw.SourceModule(outside, device="cpu").get_function("k")(surface, block=4)


def test_structures_are_the_drivers():
    """Sizes and offsets of cuda.h of CUDA 12 and 13 on 64-bit Linux."""
    assert ctypes.sizeof(_cuda_arrays._ArrayDescriptor) == 40
    assert ctypes.sizeof(_cuda_arrays._Copy) == 200
    assert _cuda_arrays._Copy.target.offset == 88 and _cuda_arrays._Copy.width_bytes.offset == 176
    assert _cuda_arrays._End.array.offset == 56 and _cuda_arrays._End.pitch.offset == 72
    assert ctypes.sizeof(_cuda_arrays._ResourceDescriptor) == 144
    assert _cuda_arrays._ResourceDescriptor.resource.offset == 8
    assert _cuda_arrays._ResourceDescriptor.flags.offset == 136
    assert _cuda_arrays._LinearMemory.format.offset == 8
    assert _cuda_arrays._LinearMemory.bytes.offset == 16
    assert _cuda_arrays._PitchedMemory.width.offset == 16
    assert _cuda_arrays._PitchedMemory.pitch.offset == 32
    assert ctypes.sizeof(_cuda_arrays._TextureDescriptor) == 104
    assert _cuda_arrays._TextureDescriptor.level_bias.offset == 28
    assert _cuda_arrays._TextureDescriptor.border.offset == 40
