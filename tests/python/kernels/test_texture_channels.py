# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Textures and surfaces of several channels and layers, and their errors."""

import ctypes
import gc
import pickle

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
from spanwise.driver import _textures

#: dtype of a texture -> the C vector type of its fetches, without the number of channels.
VECTORS = {
    "uint8": "uchar",
    "int16": "short",
    "uint32": "uint",
    "float32": "float",
    "float16": "float",
}


@pytest.mark.parametrize("dtype", sorted(VECTORS))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("channels", [1, 2, 4])
def test_point_fetches_of_several_channels_match_the_reference(device, dtype, shape, channels):
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
def test_channels_are_filtered_separately(device, dtype, normalized):
    values = random_values((5, 7, 4), dtype)
    points, extent = random_points((5, 7))
    mode = "mirror" if normalized else "clamp"
    options = {"filter": "linear", "address": mode, "normalized": normalized}
    if dtype == "uint8":
        options["read"] = "normalized"
    texture = sw.Texture(sw.array(values, device=device), channels=4, **options)
    coordinates = (points / extent).astype("float32") if normalized else points
    call = "tex2D<float4>(t, x, y)"
    got = fetch_channels(device, texture, coordinates, call, "float4", 4, "float")
    reals = values / 255.0 if dtype == "uint8" else values.astype("float64")
    span = reals.max() - reals.min() + np.abs(reals).max()
    for c in range(4):
        expected = sampled(reals[..., c], points, mode, linear=True)
        assert np.abs(got[:, c] - expected).max() <= 2 * span * (1 / 256 + 1e-4)


def test_scalar_fetch_returns_the_first_channel(device):
    values = random_values((4, 6, 4), "int16")
    points, _ = random_points((4, 6))
    texture = sw.Texture(values, channels=4, device=device)
    expected = sampled(values[..., 0], points, "clamp", linear=False)
    np.testing.assert_array_equal(fetch(device, texture, points, 2, "int16"), expected)


@pytest.mark.parametrize("channels", [None, 4])
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8"])
@pytest.mark.parametrize("mode", ["clamp", "border"])
def test_gather_returns_four_texels_of_a_channel(device, channels, dtype, mode):
    values = random_values((5, 9, *([channels] if channels else [])), dtype)
    points, _ = random_points((5, 9))
    texture = sw.Texture(values, channels=channels, address=mode, device=device)
    vector = {"float32": "float4", "int32": "int4", "uint8": "uchar4"}[dtype]
    for c in range(channels or 1):
        call = f"tex2Dgather<{vector}>(t, x, y, {c})"
        got = fetch_channels(device, texture, points, call, vector, 4, C_TYPES[dtype])
        channel = values[..., c] if channels else values
        # The texels around (x, y): lower left, lower right, upper right, upper left.
        for component, (right, lower) in enumerate([(0, 1), (1, 1), (1, 0), (0, 0)]):
            at = points - np.float32([0.5 - right, 0.5 - lower, 0])
            expected = sampled(channel, at, mode, linear=False)
            np.testing.assert_array_equal(got[:, component].astype("float64"), expected)


@pytest.mark.parametrize("shape", [(3, 11), (4, 5, 6)], ids=str)
@pytest.mark.parametrize("filter", ["point", "linear"])
def test_layers_are_selected_by_number(device, shape, filter):
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
    layer_of_point = points[:, 2].astype(int)
    layer_of_point[(layer_of_point < 0) | (layer_of_point >= layers)] = (
        layers - 1
    )  # also below 0: a GPU reads unsigned
    for layer in range(layers):
        is_in_layer = layer_of_point == layer
        for c in range(2):
            expected = sampled(
                values[layer, ..., c], points[is_in_layer], "border", filter == "linear"
            )
            # Weights have 8 fractional bits; normal values differ by less than 12.
            bound = rank * 12 / 256 if filter == "linear" else 0
            np.testing.assert_allclose(got[is_in_layer, c], expected, atol=bound)


def test_surfaces_of_channels_and_layers_are_read_and_written(device):
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


def test_texture_handle_is_an_integer_and_cannot_be_pickled(device):
    texture = sw.Texture(np.zeros((2, 3), "float32"), device=device)
    assert texture.handle == int(texture) and texture.handle != 0
    assert texture.shape == (2, 3) and texture.dtype == "float32" and "Texture" in repr(texture)
    with pytest.raises(TypeError, match="handle"):
        pickle.dumps(texture)
    for _ in range(50):  # creating and freeing many objects raises nothing
        sw.Texture(np.zeros((64, 64), "float32"), device=device)
        sw.Surface(np.zeros((64, 64), "float32"), device=device)
    gc.collect()


@pytest.mark.parametrize(
    ("array", "options", "message"),
    [
        (np.zeros(3, "float64"), {}, "float64"),
        (np.zeros((1, 1, 1, 1), "float32"), {}, "1 to 3 dimensions"),
        (np.zeros(0, "float32"), {}, "with elements"),
        (np.zeros(3, "int32"), {"filter": "linear"}, "real values"),
        (np.zeros(3, "uint8"), {"filter": "linear"}, "real values"),
        (np.zeros(3, "float32"), {"read": "normalized"}, "read='element'"),
        (np.zeros(3, "float32"), {"address": "wrap"}, "normalized=True"),
        (np.zeros(3, "float32"), {"address": "edge"}, "'clamp'"),
        (np.zeros(3, "float32"), {"address": ("clamp", "clamp")}, "one for each axis"),
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
def test_unsupported_texture_options_raise(array, options, message):
    with pytest.raises(sw.ArgumentError, match=message):
        sw.Texture(array, **options)


def test_access_that_does_not_suit_the_texture_raises_on_the_cpu():
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


def test_ctypes_structures_have_the_layout_of_the_drivers():
    """Sizes and offsets of cuda.h of CUDA 12 and 13 on 64-bit Linux."""
    assert ctypes.sizeof(_textures._ArrayDescriptor) == 40
    assert ctypes.sizeof(_textures._Copy) == 200
    assert _textures._Copy.target.offset == 88 and _textures._Copy.width_bytes.offset == 176
    assert _textures._CopyOperand.array.offset == 56 and _textures._CopyOperand.pitch.offset == 72
    assert ctypes.sizeof(_textures._ResourceDescriptor) == 144
    assert _textures._ResourceDescriptor.resource.offset == 8
    assert _textures._ResourceDescriptor.flags.offset == 136
    assert _textures._LinearMemory.format.offset == 8
    assert _textures._LinearMemory.bytes.offset == 16
    assert _textures._PitchedMemory.width.offset == 16
    assert _textures._PitchedMemory.pitch.offset == 32
    assert ctypes.sizeof(_textures._TextureDescriptor) == 104
    assert _textures._TextureDescriptor.level_bias.offset == 28
    assert _textures._TextureDescriptor.border.offset == 40
