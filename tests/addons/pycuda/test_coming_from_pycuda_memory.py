# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PyCUDA's documented memory features, one test for each row of docs/coming-from-pycuda.md."""

import gc

import numpy as np
import pytest
from addons.pycuda.pycuda_rows import SCALE, on_device, random

import spanwise as sw
import spanwise.driver as drv
from spanwise import SourceModule

pytestmark = pytest.mark.usefixtures("default_device")


@pytest.fixture
def scale():
    return SourceModule(SCALE).get_function("scale")


def test_memory(scale):
    x = random(100)
    allocation = drv.mem_alloc(x.nbytes)
    drv.memcpy_htod(allocation, x)
    scale(allocation, 2.0, 100, block=128)
    back = np.empty_like(x)
    drv.memcpy_dtoh(back, allocation)
    np.testing.assert_allclose(back, 2 * x, rtol=1e-6)
    other = drv.to_device(np.zeros(100, "float32"))
    drv.memcpy_dtod(other, allocation, x.nbytes)
    np.testing.assert_array_equal(drv.from_device(other, 100, "float32"), back)
    drv.memset_d8(other, 1, 4)
    drv.memset_d16(int_view := sw.zeros(4, dtype="int16"), 7, 3)
    drv.memset_d32(allocation, 0x3F800000, 100)
    assert drv.from_device(other, 1, "uint32")[0] == 0x01010101
    assert int_view.tolist() == [7, 7, 7, 0]
    assert (drv.from_device(allocation, 100, "float32") == 1).all()
    with pytest.raises(sw.ArgumentError, match="at least 404 bytes"):
        drv.memset_d32(allocation, 0, 101)


def test_rows_of_memory(device):
    """Memcpy2D copies rectangles into and out of pitched memory, and Memcpy3D a box of a rank-3 array."""
    a = random((5, 7))
    memory, pitch = drv.mem_alloc_pitch(7 * 4, 5, 4)
    assert pitch >= 28 and pitch % 32 == 0 and memory.nbytes == 5 * pitch
    drv.memset_d2d32(memory, pitch, 0x3F800000, 7, 5)
    copy = drv.Memcpy2D()
    copy.set_src_host(a)
    copy.set_dst_device(memory)
    copy.src_pitch, copy.dst_pitch = 28, pitch
    copy.src_x_in_bytes, copy.src_y, copy.dst_x_in_bytes = 8, 1, 4
    copy.width_in_bytes, copy.height = 12, 4
    copy(aligned=True)
    expected = np.ones((5, 7), "float32")
    expected[:4, 1:4] = a[1:5, 2:5]
    out, back = np.zeros((5, 7), "float32"), drv.Memcpy2D()
    back.set_src_device(memory)
    back.set_dst_host(out)
    back.src_pitch, back.dst_pitch = pitch, 28
    back.width_in_bytes, back.height = 28, 5
    back(drv.Stream())
    np.testing.assert_array_equal(out, expected)
    box, part, copy_box = random((4, 5, 6)), np.zeros((3, 2, 4), "float32"), drv.Memcpy3D()
    copy_box.set_src_device(drv.to_device(box))
    copy_box.set_dst_host(part)
    copy_box.src_pitch, copy_box.src_height = 24, 5
    copy_box.src_z, copy_box.src_y, copy_box.src_x_in_bytes = 1, 3, 8
    copy_box.width_in_bytes, copy_box.height, copy_box.depth = 16, 2, 3
    copy_box()
    np.testing.assert_array_equal(part, box[1:4, 3:5, 2:6])
    copy.height = 5
    with pytest.raises(sw.ArgumentError, match="within the"):
        copy()
    with pytest.raises(sw.ArgumentError, match=r"sw\.Texture"):
        copy.set_src_array(object())


def test_asynchronous_sets_and_peers():
    x = drv.mem_alloc(16)
    stream = drv.Stream()
    drv.memset_d32_async(x, 7, 4, stream)
    drv.memset_d8_async(x, 1, 1, stream)
    drv.memset_d16_async(x, 2, 1, stream)
    y = drv.mem_alloc(16)
    drv.memcpy_peer_async(y, x, 16, stream=stream)
    stream.synchronize()
    assert drv.from_device(y, 4, "int32").tolist() == [2, 7, 7, 7]
    drv.memcpy_peer(x, y, 8)


@pytest.mark.parametrize("order", ["C", "F"])
def test_host_memory(order, device):
    x = drv.pagelocked_empty((3, 5), np.float32, order)
    assert x.flags[f"{order}_CONTIGUOUS"] and x.shape == (3, 5) and x.flags.writeable
    x[...] = random((3, 5))
    like = drv.pagelocked_zeros_like(x, mem_flags=drv.host_alloc_flags.PORTABLE)
    assert like.strides == x.strides and not like.any()
    sw.copyto(like, on_device(x))
    np.testing.assert_array_equal(like, x)
    view = x[1]
    del x
    gc.collect()
    assert np.isfinite(view).all(), "a view keeps the memory"
    aligned = drv.aligned_zeros(1000, "int16", alignment=256)
    assert aligned.ctypes.data % 256 == 0 and not aligned.any()
    registered = drv.register_host_memory(drv.aligned_zeros((4, 4), "float32"))
    registered[...] = 3
    assert on_device(registered).tolist() == [[3] * 4] * 4
    with pytest.raises(sw.ArgumentError, match="contiguous"):
        drv.register_host_memory(np.zeros((4, 4))[:, ::2])
