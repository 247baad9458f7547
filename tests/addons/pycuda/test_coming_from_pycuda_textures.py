# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PyCUDA's documented textures, one test for each row of docs/coming-from-pycuda.md."""

import numpy as np
import pytest
from addons.pycuda.pycuda_rows import on_device, random

import spanwise as sw
from spanwise import SourceModule

pytestmark = pytest.mark.usefixtures("default_device")


def test_texture_objects():
    source = """
        __global__ void k(float *out, cudaTextureObject_t t, cudaSurfaceObject_t s) {
          int x = threadIdx.x, y = threadIdx.y;
          float value = tex2D<float>(t, x + 0.5f, y + 0.5f);
          out[4 * y + x] = value;
          surf2Dwrite(2 * value, s, 4 * x, y);
        }
    """
    a, out = random((3, 4)), on_device(np.zeros((3, 4), "float32"))
    texture = sw.Texture(on_device(a), address="clamp", filter="point")
    surface = sw.Surface(on_device(np.zeros((3, 4), "float32")))
    SourceModule(source).get_function("k")(out, texture, surface, block=(4, 3, 1))
    np.testing.assert_array_equal(out.numpy(), a)
    np.testing.assert_array_equal(surface.get().numpy(), 2 * a)


def test_textures_of_colours():
    source = """
        __global__ void k(float4 *out, cudaTextureObject_t image, cudaTextureObject_t rows,
                          cudaTextureObject_t layers, int w) {
          int x = threadIdx.x, y = threadIdx.y;
          float4 c = tex2D<float4>(image, x + 0.5f, y + 0.5f);
          c.w = tex2D<float>(rows, x + 0.5f, y + 0.5f) + tex2DLayered<float>(layers, x, y, 1);
          out[w * y + x] = c;
        }
    """
    image = np.random.default_rng().integers(0, 256, (3, 8, 4), dtype="uint8")
    rows, layers = random((3, 16)), random((2, 3, 8))
    out = on_device(np.zeros((3, 8, 4), "float32"))
    shared = on_device(rows)
    SourceModule(source).get_function("k")(
        out,
        sw.Texture(on_device(image), channels=4, read="normalized"),
        sw.Texture(shared[:, :8], memory="linear"),
        sw.Texture(on_device(layers), layered=True),
        np.int32(8),
        block=(8, 3),
    )
    np.testing.assert_allclose(out.numpy()[..., :3], image[..., :3] / 255.0, atol=1e-6)
    np.testing.assert_allclose(out.numpy()[..., 3], rows[:, :8] + layers[1], rtol=1e-6)
