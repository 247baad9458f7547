# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Texture references of spanwise.pycuda, which are implemented by texture objects."""

import numpy as np
import pytest

import spanwise as sw
from spanwise.pycuda import driver as drv, gpuarray
from spanwise.pycuda.compiler import SourceModule


@pytest.fixture(autouse=True)
def on_device(device):
    with device:
        yield


IMAGE = """
texture<float, 2, cudaReadModeElementType> image;
__global__ void read(float *out, float shift)
{
  int x = threadIdx.x, y = threadIdx.y;
  out[y * blockDim.x + x] = tex2D(image, x + shift, y + shift);
}
"""


@pytest.mark.parametrize("order", ["C", "F"])
def test_texture_reference_reads_a_matrix(order):
    module = SourceModule(IMAGE)
    image, read = module.get_texref("image"), module.get_function("read")
    x = np.random.default_rng(3).standard_normal((3, 5)).astype("float32")
    drv.matrix_to_texref(x if order == "C" else x.T, image, order=order)
    out = np.zeros((3, 5), "float32")
    read(drv.Out(out), np.float32(0.5), block=(5, 3, 1), texrefs=[image])
    np.testing.assert_array_equal(out, x)
    read.prepare("Pf", texrefs=[image])
    drv.matrix_to_texref(2 * x, image, order="C")  # the next launch reads the new array
    result = gpuarray.zeros((3, 5), np.float32)
    read.prepared_call((1, 1), (5, 3, 1), result.gpudata, 0.5)
    np.testing.assert_array_equal(result.get(), 2 * x)


def test_filter_and_address_modes_apply_to_the_next_launch():
    module = SourceModule(IMAGE)
    image, read = module.get_texref("image"), module.get_function("read")
    x = np.arange(12, dtype="float32").reshape(3, 4)
    image.set_array(drv.gpuarray_to_array(gpuarray.to_gpu(x), "C"))
    image.set_filter_mode(drv.filter_mode.LINEAR)
    out = np.zeros((3, 4), "float32")
    read(drv.Out(out), 1.0, block=(4, 3, 1), texrefs=[image])
    assert out[0, 0] == x[:2, :2].mean() and out[2, 3] == x[2, 3]
    image.set_address_mode(0, drv.address_mode.BORDER)
    image.set_filter_mode(drv.filter_mode.POINT)
    read(drv.Out(out), 1.5, block=(4, 3, 1), texrefs=[image])
    np.testing.assert_array_equal(out[:, 3], [0, 0, 0])
    np.testing.assert_array_equal(out[:2, :3], x[1:, 1:])
    image.set_flags(drv.TRSF_NORMALIZED_COORDINATES)
    assert image.get_flags() == drv.TRSF_NORMALIZED_COORDINATES
    read(drv.Out(out), 0.5, block=(1, 1, 1), texrefs=[image])
    assert out[0, 0] == x[1, 2]


def test_references_read_device_memory_of_one_and_four_channels():
    module = SourceModule("""
    static texture<float4, 1> colours;
    texture<int> numbers;
    __global__ void read(float *out, int *integers)
    {
      int i = threadIdx.x;
      float4 c = tex1Dfetch(colours, i);
      out[i] = c.x + 10 * c.w;
      integers[i] = tex1Dfetch(numbers, i);
    }""")
    x = np.arange(16, dtype="float32").reshape(4, 4)
    numbers = gpuarray.to_gpu(np.array([5, 6, 7, 8], "int32"))
    memory = drv.to_device(x)
    colours = module.get_texref("colours")
    assert colours.set_address(memory, x.nbytes) == 0
    with pytest.raises(sw.ArgumentError, match="set_address: expected at least"):
        colours.set_address(memory, x.nbytes + 16)
    assert colours.set_address(sw.asarray(x, device=sw.device()), x.nbytes) == 0
    colours.set_format(drv.array_format.FLOAT, 4)
    with pytest.raises(ValueError, match="expected 4 channels"):
        colours.set_format(drv.array_format.FLOAT, 1)
    assert numbers.bind_to_texref_ext(module.get_texref("numbers")) == 0
    out, integers = np.zeros(4, "float32"), np.zeros(4, "int32")
    module.get_function("read")(drv.Out(out), drv.Out(integers), block=(4, 1, 1))
    np.testing.assert_array_equal(out, x[:, 0] + 10 * x[:, 3])
    np.testing.assert_array_equal(integers, numbers.get())


def test_reference_reads_an_image_as_fractions():
    module = SourceModule("""
    texture<uchar4, 2, cudaReadModeNormalizedFloat> image;
    __global__ void read(float *out)
    {
      float4 c = tex2D(image, threadIdx.x + 0.5f, threadIdx.y + 0.5f);
      out[threadIdx.y * blockDim.x + threadIdx.x] = c.y;
    }""")
    x = np.random.default_rng(5).integers(0, 256, (3, 2, 4), dtype="uint8")
    image = module.get_texref("image")
    drv.bind_array_to_texref(drv.make_multichannel_2d_array(x.T, order="F"), image)
    out = np.zeros((3, 2), "float32")
    module.get_function("read")(drv.Out(out), block=(2, 3, 1), texrefs=[image])
    np.testing.assert_allclose(out, x[..., 1] / 255, rtol=1e-6)


def test_undeclared_reference_or_unknown_order_raises():
    module = SourceModule(IMAGE)
    with pytest.raises(sw.NotSupportedError, match=r"expected one of \['image'\]"):
        module.get_texref("other")
    with pytest.raises(ValueError, match="order 'C' or 'F'"):
        drv.np_to_array(np.zeros(3, "float32"), "K")
