# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PyCUDA's driver names: host arrays around a call, allocations, copies, streams, events."""

import gc
import sys

import numpy as np
import pytest

import spanwise as sw
import spanwise.driver as drv

MULTIPLY = """
__global__ void multiply_them(float *dest, float *a, float *b)
{
  const int i = threadIdx.x;
  dest[i] = a[i] * b[i];
}
"""

KERNELS = """
__global__ void double_them(float *x, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
__global__ void overwrite(float *x) { x[threadIdx.x] = -1; }
__global__ void add(float *out, const float *x, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + 1;
}
"""


@pytest.fixture(autouse=True)
def _default_device(device):
    with sw.device(device):
        yield


def random(shape, dtype="float32"):
    return np.random.default_rng().standard_normal(shape).astype(dtype)


def kernel(name):
    return sw.SourceModule(KERNELS).get_function(name)


def test_tutorial_program():
    """The example of PyCUDA's introduction, with its import lines changed."""
    import numpy

    from spanwise.driver import SourceModule

    mod = SourceModule(MULTIPLY)
    multiply_them = mod.get_function("multiply_them")
    a = numpy.random.randn(400).astype(numpy.float32)
    b = numpy.random.randn(400).astype(numpy.float32)
    dest = numpy.zeros_like(a)
    multiply_them(drv.Out(dest), drv.In(a), drv.In(b), block=(400, 1, 1), grid=(1, 1))
    assert numpy.allclose(dest, a * b)


def test_tutorial_exercise_with_a_matrix_of_20_by_10():
    a, b = random((20, 10)), random((20, 10))
    dest = np.full_like(a, np.nan)
    multiply_them = sw.SourceModule(MULTIPLY).get_function("multiply_them")
    multiply_them(drv.Out(dest), drv.In(a), drv.In(b), block=(200, 1, 1), grid=(1, 1))
    np.testing.assert_array_equal(dest, a * b)


@pytest.mark.parametrize("layout", ["C", "F", "strided", "reversed", "transposed view"])
def test_host_arrays_of_any_layout_are_copied_in_and_back(layout):
    base = random((12, 16))
    views = {
        "C": base,
        "F": np.asfortranarray(base),
        "strided": base[::2, 1::3],
        "reversed": base[::-1, ::-1],
        "transposed view": base[2:8].T,
    }
    x = views[layout]
    before, untouched = x.copy(), base.copy()
    kernel("double_them")(drv.InOut(x), x.size, block=256)
    np.testing.assert_array_equal(x, 2 * before)
    if layout == "strided":
        np.testing.assert_array_equal(base[1::2], untouched[1::2])

    out = (
        np.full((16, 12), np.nan, "float32").T
        if layout == "F"
        else np.full(x.shape, np.nan, "float32")
    )
    kernel("add")(drv.Out(out), drv.In(x), x.size, block=256)
    np.testing.assert_array_equal(out, x + 1)


def test_kernel_that_writes_to_in_does_not_change_a_read_only_array():
    x = random(32)
    x.flags.writeable = False
    before = x.copy()
    kernel("overwrite")(drv.In(x), block=32)  # the kernel writes to the copy on the device
    np.testing.assert_array_equal(x, before)


def test_outputs_that_share_memory_are_refused(device):
    both = sw.SourceModule(
        "__global__ void both(float *x, float *y) { x[0] = 1; y[0] = 2; }", device=device
    ).get_function("both")
    x = np.zeros(8, "float32")[::2]
    with pytest.raises(sw.KernelArgumentError, match="two of Out and InOut .* share memory"):
        both(drv.InOut(x), drv.Out(x), block=1)
    assert not x.any()


@pytest.mark.parametrize("wrap", [drv.Out, drv.InOut])
def test_read_only_array_as_output_raises(wrap):
    x = random(32)
    x.flags.writeable = False
    with pytest.raises(sw.ReadOnlyError, match=r"kernel 'overwrite', argument 1 of 1.*read-only"):
        kernel("overwrite")(wrap(x), block=32)


def test_host_array_of_wrong_dtype_raises_and_stays_unchanged():
    x = random(32, "float64")
    before = x.copy()
    with pytest.raises(sw.KernelArgumentError, match="float32"):
        kernel("overwrite")(drv.InOut(x), block=32)
    np.testing.assert_array_equal(x, before)


def test_unshareable_arguments_are_copied_for_input_and_rejected_for_output():
    swapped = random(8).astype(">f4")
    out = np.full(8, np.nan, "float32")
    kernel("add")(drv.Out(out), drv.In(swapped), 8, block=8)
    np.testing.assert_array_equal(out, swapped.astype("float32") + 1)
    with pytest.raises(sw.CopyNeededError, match="argument 1"):
        kernel("add")(drv.Out(swapped), drv.In(out), 8, block=8)


def test_host_arrays_of_calls_on_a_stream_hold_the_results_on_return():
    stream = drv.Stream()
    x = random(1000)
    before = x.copy()
    for _ in range(3):
        kernel("double_them")(drv.InOut(x), 1000, block=256, grid=4, stream=stream)
    np.testing.assert_array_equal(x, 8 * before)
    assert stream.is_done()


def test_inout_accepts_a_spanwise_array():
    x = sw.array(random(8))
    before = x.numpy().copy()
    kernel("double_them")(drv.InOut(x), 8, block=8)
    np.testing.assert_array_equal(x.numpy(), 2 * before)


def test_wrapper_holds_the_array_only_while_it_exists():
    x = random(8)
    count = sys.getrefcount(x)
    wrapped = drv.InOut(x)
    assert wrapped.array is x
    kernel("double_them")(wrapped, 8, block=8)
    del wrapped
    gc.collect()
    assert sys.getrefcount(x) == count


def test_pycudas_first_tutorial():
    """mem_alloc, memcpy_htod, launch, memcpy_dtoh."""
    a = random((4, 4))
    a_gpu = drv.mem_alloc(a.nbytes)
    drv.memcpy_htod(a_gpu, a)
    kernel("double_them")(a_gpu, 16, block=(16, 1, 1))
    a_doubled = np.full_like(a, np.nan)
    drv.memcpy_dtoh(a_doubled, a_gpu)
    np.testing.assert_array_equal(a_doubled, 2 * a)
    assert int(a_gpu) != 0
    a_gpu.free()
    with pytest.raises(sw.ArgumentError, match="freed"):
        int(a_gpu)
    with pytest.raises(sw.KernelArgumentError, match="argument 1.*freed"):
        kernel("double_them")(a_gpu, 16, block=16)


def test_copies_between_allocations_keep_values():
    a = random((3, 5))
    first = drv.to_device(a)
    second = drv.mem_alloc_like(a)
    drv.memcpy_dtod(second, first, a.nbytes)
    np.testing.assert_array_equal(drv.from_device_like(second, a), a)
    np.testing.assert_array_equal(drv.from_device(second, (3, 5), "float32"), a)
    f = np.asfortranarray(a)
    np.testing.assert_array_equal(drv.from_device_like(drv.to_device(f.T), f), f)


def test_asynchronous_copies_run_in_the_order_of_their_stream():
    a, stream = random(100), drv.Stream()
    memory = drv.mem_alloc(a.nbytes)
    back = np.full_like(a, np.nan)
    drv.memcpy_htod_async(memory, a, stream)
    kernel("double_them")(memory, 100, block=128, stream=stream)
    drv.memcpy_dtoh_async(back, memory, stream)
    stream.synchronize()
    np.testing.assert_array_equal(back, 2 * a)


def test_copies_of_unsuitable_memory_raise():
    small = drv.mem_alloc(8)
    with pytest.raises(sw.ArgumentError, match="at least 16 bytes.*got 8"):
        drv.memcpy_htod(small, random(4))
    with pytest.raises(sw.CopyNeededError, match="C-contiguous"):
        drv.memcpy_htod(small, random(4)[::2])
    with pytest.raises(sw.ArgumentError, match="at least 16 bytes"):
        drv.memcpy_dtoh(np.zeros(4, "float32"), small)


def test_events_time_a_stream():
    start, end = drv.Event(), drv.Event()
    stream = drv.Stream()
    start.record(stream)
    x = sw.array(random(1000), device=sw.default_device())
    kernel("double_them")(x, 1000, block=256, grid=4, stream=stream)
    end.record(stream).synchronize()
    assert end.query()
    assert start.time_till(end) == end.time_since(start) >= 0
    stream.wait_for_event(end)


def test_current_device_reports_its_properties(device):
    drv.init()
    drv.Context.synchronize()
    current = drv.Context.get_device()
    assert current.name() == sw.device(device).properties.name
    assert current.total_memory() > 0
    free, total = drv.mem_get_info()
    assert 0 < free <= total
    assert drv.Device.count() == sum(d.kind == "cuda" for d in sw.devices())
    if sw.device(device).kind == "cuda":
        assert current.compute_capability() >= (5, 0)
    else:
        with pytest.raises(sw.DeviceError, match="no compute capability"):
            current.compute_capability()
