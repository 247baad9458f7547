# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PyCUDA's documented kernel features, one test a row of docs/coming-from-pycuda.md."""

import gc
import re
import subprocess
import sys

import numpy as np
import pytest
from support.toolkit import toolkit_headers
from support.tree import ROOT

import spanwise as sw
import spanwise.driver as drv
from spanwise import SourceModule

SCALE = """
__global__ void scale(float *x, float by, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}
"""


@pytest.fixture(autouse=True)
def _default_device(device):
    with sw.device(device):
        yield


@pytest.fixture
def scale():
    return SourceModule(SCALE).get_function("scale")


def on_device(values):
    """A new array on the default device; sw.array() leaves NumPy's on the host."""
    return sw.array(values, device=sw.default_device())


def random(n):
    return np.random.default_rng().standard_normal(n).astype("float32")


def test_every_row_has_its_test():
    text = (ROOT / "docs" / "coming-from-pycuda.md").read_text()
    named = set(re.findall(r"`(test_\w+)`(?: \|$|\))", text, re.MULTILINE))
    here = {name for name in globals() if name.startswith("test_")}
    assert named == here - {"test_every_row_has_its_test", "test_the_exercise_of_20_by_10"}


def test_the_exercise_of_20_by_10():
    """ "Modify and execute to work for a matrix of shape (20, 10)", of the tutorial."""
    mod = SourceModule(
        """
        __global__ void multiply_them(float *dest, float *a, float *b, int n)
        {
          const int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i < n) dest[i] = a[i] * b[i];
        }
        """
    )
    a, b = random((20, 10)), random((20, 10))
    dest = np.zeros_like(a)
    mod.get_function("multiply_them")(
        drv.Out(dest), drv.In(a), drv.In(b), np.int32(a.size), block=(128, 1, 1), grid=(2, 1)
    )
    np.testing.assert_array_equal(dest, a * b)


def test_source_module(scale):
    x = random(100)
    ours = on_device(x)
    scale(ours, np.float32(3), np.int32(100), block=(128, 1, 1), grid=(1, 1))
    np.testing.assert_allclose(ours.numpy(), 3 * x, rtol=1e-6)
    plain = SourceModule('extern "C" __global__ void one(int *x) { x[0] = 1; }')
    assert plain.function_names == ["one"]


def test_compiler_options(device, tmp_path, capfd):
    (tmp_path / "by.h").write_text("#define BY 4\n")
    source = '#include "by.h"\n__global__ void k(int *x) { x[0] = BY * TIMES; }'
    architecture = device.properties.architecture if device.kind == "cuda" else "sm_90"
    options = ["-DTIMES=5", f"-arch={architecture}"]
    mod = SourceModule(source, options=options, include_dirs=[tmp_path])
    x = sw.zeros(1, dtype="int32")
    mod.get_function("k")(x, block=1)
    assert x.tolist() == [20]
    # Names that CUDA's own headers use too; these macros affect only the source.
    source = "template <class U> __device__ U twice(U x) { return 2 * x; }\n__global__ void k(T *x) { x[0] = twice(T(N)); }"
    mod = SourceModule(source, options=["-DT=float", "-DN=21"])
    y = sw.zeros(1, dtype="float32")
    mod.get_function("k")(y, block=1)
    assert y.tolist() == [42]
    with sw.config.change(cache_dir=str(tmp_path / "cache")):
        SourceModule(SCALE + "// kept elsewhere")
        assert sw.kernel_cache.path.startswith(str(tmp_path / "cache"))
    SourceModule(SCALE, keep=True)
    assert "kept" in capfd.readouterr().err


@pytest.mark.parametrize("block", [(64, 1, 1), 64, (np.int64(64), 1)])
def test_call(scale, device, block):
    x = on_device(np.ones(200, "float32"))
    scale(x, 2.0, 200, block=block, grid=(4, 1), stream=sw.Stream(device), shared=16)
    assert x.tolist() == [2] * 200


def test_scalars():
    mod = SourceModule(
        "__global__ void k(double *out, char c, short s, int i, long long l, float f, double d, bool b)"
        "{ out[0] = c; out[1] = s; out[2] = i; out[3] = l; out[4] = f; out[5] = d; out[6] = b; }"
    )
    k = mod.get_function("k")
    for args in (
        (np.int8(-1), np.int16(2), np.int32(-3), np.int64(2**40), np.float32(0.5), np.float64(0.1)),
        (-1, 2, -3, 2**40, 0.5, 0.1),
    ):
        out = np.zeros(7)
        k(drv.Out(out), *args, np.bool_(True), block=1)
        assert out.tolist() == [-1, 2, -3, 2**40, 0.5, 0.1, 1]
    with pytest.raises(sw.KernelArgumentError, match="argument 4"):
        k(sw.zeros(7, dtype="float64"), 1, 2, 2**31, 0, 0.0, 0.0, True, block=1)


def test_structs():
    mod = SourceModule(
        "struct S { char c; double d; float v[3]; };"
        "__global__ void k(double *out, S s) { out[0] = s.c; out[1] = s.d; out[2] = s.v[2]; }"
    )
    s = np.zeros(1, np.dtype([("c", "i1"), ("d", "f8"), ("v", "f4", 3)], align=True))
    s[0] = (5, 0.25, (1, 2, 3))
    out = np.zeros(3)
    mod.get_function("k")(drv.Out(out), s[0], block=1)
    assert out.tolist() == [5, 0.25, 3]


def test_in_out_inout(scale):
    x = random(1000)
    y = x.copy()
    scale(drv.InOut(y), 2.0, 1000, block=250, grid=4)
    np.testing.assert_allclose(y, 2 * x, rtol=1e-6)
    strided = np.ones((10, 20), "float32")
    scale(drv.InOut(strided[:, ::2]), 2.0, 100, block=128)
    assert strided.sum() == 300


def test_arrays_and_strides(scale):
    x = on_device(np.ones((8, 8), "float32"))
    with pytest.raises(sw.KernelArgumentError, match="strides"):
        scale(x[:, ::2], 2.0, 32, block=32)
    scale.bind(("contiguous", "float", "int"))(x[:, ::2], 2.0, 32, block=32)
    assert x.numpy().sum() == 64 + 32
    views = SourceModule(
        """
        #include <spanwise/view.cuh>
        __global__ void scale(spanwise::View<float, 2> x, float by) { x(threadIdx.y, threadIdx.x) *= by; }
        """
    )
    views.get_function("scale")(x[:, 1::2], 3.0, block=(4, 8))
    y = on_device(np.ones(4, "float32"))
    scale(y[1, ...], 5.0, 1, block=1)
    scale(y[2], 7.0, 1, block=1)  # a copy
    assert y.tolist() == [1.0, 5.0, 1.0, 1.0]
    assert x.numpy()[:, 1].tolist() == [3] * 8 and x.numpy()[:, 0].tolist() == [2] * 8


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
    """A matrix of 5 by 7 floats in pitched memory, in and out by rectangles, and a box of slices."""
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
    box, part, cut = random((4, 5, 6)), np.zeros((3, 2, 4), "float32"), drv.Memcpy3D()
    cut.set_src_device(drv.to_device(box))
    cut.set_dst_host(part)
    cut.src_pitch, cut.src_height, cut.src_z, cut.src_y, cut.src_x_in_bytes = 24, 5, 1, 3, 8
    cut.width_in_bytes, cut.height, cut.depth = 16, 2, 3
    cut()
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


def test_device_attributes(device):
    dev = drv.Context.get_device()
    which = drv.device_attribute
    assert which.MAX_THREADS_PER_BLOCK == 1 and which.COMPUTE_CAPABILITY_MAJOR == 75
    assert dev.WARP_SIZE == dev.get_attribute(which.WARP_SIZE) == device.properties.warp_size
    assert device.properties.max_block[2] == dev.MAX_BLOCK_DIM_Z
    assert dev.get_attributes()[which.MULTIPROCESSOR_COUNT] == device.properties.multiprocessors
    with pytest.raises(AttributeError, match="device_attribute"):
        dev.MAX_SPEED  # noqa: B018
    if device.kind == "cpu":
        assert drv.get_version() == (0, 0, 0)
        with pytest.raises(sw.DeviceError, match="the CPU has no CLOCK_RATE"):
            dev.get_attribute(which.CLOCK_RATE)
    else:
        assert dev.compute_capability()[0] == dev.COMPUTE_CAPABILITY_MAJOR
        assert drv.get_driver_version() >= 12040


def test_context_limits_and_profiler(device):
    drv.start_profiler()
    drv.stop_profiler()
    if device.kind == "cpu":
        with pytest.raises(sw.DeviceError, match="cpu_stack_kb"):
            drv.Context.get_limit(drv.limit.STACK_SIZE)
        return
    before = drv.Context.get_limit(drv.limit.STACK_SIZE)
    try:
        drv.Context.set_limit(drv.limit.STACK_SIZE, 2 * before)
        assert drv.Context.get_limit(drv.limit.STACK_SIZE) >= 2 * before
    finally:
        drv.Context.set_limit(drv.limit.STACK_SIZE, before)


PRINTING = """
import spanwise as sw, spanwise.driver as drv

with sw.device("cuda:0"):
    limit, before = drv.limit.PRINTF_FIFO_SIZE, drv.Context.get_limit(drv.limit.PRINTF_FIFO_SIZE)
    drv.Context.set_limit(limit, 2 * before)
    assert drv.Context.get_limit(limit) >= 2 * before
    f = sw.SourceModule('__global__ void f() { printf("printed"); }').get_function("f")
    f(block=(1, 1, 1), grid=(1, 1))
    sw.synchronize()
    try:
        drv.Context.set_limit(limit, 4 * before)
    except sw.DeviceError as error:
        print(error)
"""


def test_limit_fixed_by_loaded_kernels_raises(device):
    if device.kind == "cpu":
        pytest.skip("the CPU has no limits")
    # In a new process, in which no kernel has printed yet.
    run = subprocess.run(
        [sys.executable, "-c", PRINTING], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert "printed" in run.stdout
    assert "PRINTF_FIFO_SIZE only before the first kernel that prints" in run.stdout


def test_removed_names_name_a_replacement():
    for name, words in (
        ("TextureReference", "sw.Texture"),
        ("np_to_array", "CUDA arrays"),
        ("managed_empty", "x.numpy"),
        ("IPCMemoryHandle", "stream-ordered pool"),
        ("Linker", "link="),
        ("PointerHolderBase", "__cuda_array_interface__"),
    ):
        with pytest.raises(AttributeError, match=words):
            getattr(drv, name)


def test_prepared_calls(scale, device):
    x = on_device(np.ones(256, "float32"))
    prepared = scale.prepare("Pfi")
    prepared.prepared_call((1, 1), (256, 1, 1), x, 2.0, 256)
    prepared.prepared_async_call((1, 1), (256, 1, 1), sw.Stream(device), x, 2.0, 256)
    seconds = prepared.prepared_timed_call((1, 1), (256, 1, 1), x, 2.0, 256)()
    assert 0 <= seconds < 10 and (x.numpy() == 8).all()
    with pytest.raises(sw.KernelArgumentError, match="prepare"):
        scale.prepare("PPi")


def test_attributes(scale, device):
    names = drv.function_attribute
    assert scale.get_attribute(names.NUM_REGS) == scale.num_regs
    assert scale.get_attribute(names.SHARED_SIZE_BYTES) == scale.shared_size_bytes == 0
    assert scale.get_attribute(names.LOCAL_SIZE_BYTES) == scale.local_size_bytes
    assert scale.get_attribute(names.CONST_SIZE_BYTES) == scale.const_size_bytes
    assert scale.get_attribute(names.MAX_THREADS_PER_BLOCK) == scale.max_threads_per_block >= 256
    most = scale.get_attribute(names.MAX_DYNAMIC_SHARED_SIZE_BYTES)
    assert most == device.properties.max_shared_bytes_optin
    scale.set_attribute(names.MAX_DYNAMIC_SHARED_SIZE_BYTES, most)
    scale.set_cache_config(drv.func_cache.PREFER_L1)
    for call in (
        lambda: scale.get_attribute("SPEED"),
        lambda: scale.set_attribute(names.NUM_REGS, 1),
        lambda: scale.set_attribute(names.MAX_DYNAMIC_SHARED_SIZE_BYTES, most + 1),
        lambda: scale.set_cache_config("PREFER_SPEED"),
    ):
        with pytest.raises(sw.KernelArgumentError, match="kernel 'scale'.*expected"):
            call()


def test_globals():
    mod = SourceModule(
        """
        __constant__ float table[4];
        __device__ int calls;
        __global__ void look_up(float *out) { out[threadIdx.x] = table[threadIdx.x]; if (threadIdx.x == 0) ++calls; }
        """
    )
    table = mod.get_global("table")
    assert table.nbytes == 16 and table.ptr > 0
    drv.memcpy_htod(table, np.float32([4, 3, 2, 1]))
    out = sw.zeros(4, dtype="float32")
    mod.get_function("look_up")(out, block=4)
    assert out.tolist() == [4, 3, 2, 1]
    table.view("float32")[...] = 7
    mod.get_function("look_up")(out, block=4)
    assert out.tolist() == [7] * 4 and mod.get_global("calls").view("int32").item() == 2


def test_templates():
    source = "template <class T> __global__ void scale(T *x, T by) { x[threadIdx.x] *= by; }"
    mod = SourceModule(source, names=["scale<float>", "scale<long long>"])
    for name, dtype in (("scale<float>", "float32"), ("scale<long long>", "int64")):
        x = on_device(np.arange(5).astype(dtype))
        mod.get_function(name)(x, 3, block=5)
        assert x.tolist() == [0, 3, 6, 9, 12]


def test_dynamic_shared_memory(device):
    mod = SourceModule(
        """
        __global__ void reverse(int *x, int n)
        {
          extern __shared__ int s[];
          for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = x[i];
          __syncthreads();
          for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = s[n - 1 - i];
        }
        """
    )
    most = device.properties.max_shared_bytes_optin
    for count in (1000, min(most, 96 << 10) // 4):  # the second needs leave on a GPU
        x = on_device(np.arange(count, dtype="int32"))
        mod.get_function("reverse")(x, count, block=256, shared=4 * count)
        np.testing.assert_array_equal(x.numpy(), np.arange(count)[::-1])
    with pytest.raises(sw.KernelArgumentError, match="shared"):
        mod.get_function("reverse")(x, 1, block=1, shared=1 << 24)


def test_printf(capfd):
    mod = SourceModule(
        '__global__ void say() { printf("thread %d says %s\\n", threadIdx.x, "hello"); }'
    )
    mod.get_function("say")(block=3)
    drv.Context.synchronize()
    said = sorted(capfd.readouterr().out.splitlines())
    assert said == [f"thread {i} says hello" for i in range(3)]


def test_streams_and_events(scale):
    stream, other = drv.Stream(), drv.Stream()
    x = on_device(np.ones(1000, "float32"))
    start, end = drv.Event(), drv.Event()
    start.record(stream)
    scale(x, 2.0, 1000, block=250, grid=4, stream=stream)
    end.record(stream)
    other.wait_for_event(end)
    scale(x, 2.0, 1000, block=250, grid=4, stream=other)
    other.synchronize()
    assert other.is_done() and end.query()
    assert start.time_till(end) >= 0 and end.time_since(start) >= 0
    assert (x.numpy() == 4).all()


def test_contexts(device):
    chosen = drv.Device(str(device))
    context = chosen.make_context()
    try:
        assert drv.Context.get_current() == context == chosen.retain_primary_context()
        assert drv.Context.get_device() == chosen
        assert (context.handle == 0) == (device.kind == "cpu")
        assert sw.zeros(1).device == device
        drv.Context.synchronize()
    finally:
        context.pop()
    with context:
        assert drv.Context.get_current() == context
    context.detach()
    with pytest.raises(sw.ArgumentError, match="push"):
        drv.Context.pop()


def test_devices(device):
    chosen = drv.Device(str(device))
    assert chosen.name() and chosen.total_memory() > 0
    assert drv.Device.count() == sum(d.kind == "cuda" for d in sw.devices())
    if device.kind == "cuda":
        assert chosen.compute_capability() >= (5, 0)
    else:
        with pytest.raises(sw.DeviceError, match="compute capability"):
            chosen.compute_capability()


def test_modules_from_binaries(device):
    file = ROOT / "examples" / "legacy" / "saxpy.ptx"
    if device.kind == "cpu":
        with pytest.raises(sw.ArgumentError, match="CUDA device"):
            drv.module_from_file(file)
        return
    for mod in (drv.module_from_file(file), drv.module_from_buffer(file.read_bytes())):
        y = on_device(np.ones(10, "float32"))
        mod.get_function("saxpy")(y, y, np.float32(2), np.int32(10), block=10)
        assert y.tolist() == [3] * 10


def test_linking():
    twice = 'extern "C" __device__ float twice(float x) { return 2 * x; }'
    kernel = """
        extern "C" __device__ float twice(float x);
        __global__ void k(float *x) { x[threadIdx.x] = twice(x[threadIdx.x]); }
    """
    for mod in (SourceModule(kernel, link=[twice]), SourceModule("", link=[kernel, twice])):
        x = on_device(random(50))
        expected = 2 * x.numpy()
        mod.get_function("k")(x, block=50)
        np.testing.assert_array_equal(x.numpy(), expected)


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


def test_kernels_that_launch_kernels(device):
    source = """
        __global__ void child(int *x, int n) { x[threadIdx.x] = n + threadIdx.x; }
        __global__ void parent(int *x) { if (threadIdx.x == 0) child<<<1, 8>>>(x, 40); }
    """
    if device.kind == "cpu":
        with pytest.raises(sw.CompileError, match="kernel launches in device code"):
            SourceModule(source)
        return
    mod = SourceModule(source)
    assert mod.function_names == ["child", "parent"]
    x = sw.zeros(8, dtype="int32")
    mod.get_function("parent")(x, block=32)
    assert x.tolist() == list(range(40, 48))


def test_handles(device):
    event = drv.Event().record()
    stream = drv.Stream()
    mod = SourceModule("__global__ void k() {}")
    objects = (event, stream, mod, drv.Context.get_current())
    assert all(int(x) == x.handle for x in objects)
    assert all((x.handle != 0) == (device.kind == "cuda") for x in objects)
    assert (mod.get_function("k").handle != 0) == (device.kind == "cuda")
    if device.kind == "cuda":
        assert sw.Stream.foreign(stream.handle, device).handle == stream.handle
        assert sw.Event.foreign(event.handle, device).query() in (True, False)
    with pytest.raises(AttributeError):
        drv.cuThereIsNoSuchFunction  # noqa: B018


def test_cooperative_launch(device):
    plain = "__global__ void k(int *x, int *y) { atomicAdd(x, 1); y[blockIdx.x] = blockDim.x; }"
    x, y = sw.zeros(1, dtype="int32"), sw.zeros(4, dtype="int32")
    SourceModule(plain).get_function("k")(x, y, block=32, grid=4, cooperative=True)
    assert x.item() == 128 and y.tolist() == [32] * 4
    synced = """
        #include <cooperative_groups.h>
        __global__ void k(int *x, int *y)
        {
          atomicAdd(x, 1);
          cooperative_groups::this_grid().sync();
          if (threadIdx.x == 0) y[blockIdx.x] = *x;
        }
    """
    if device.kind == "cpu":
        with pytest.raises(sw.KernelFaultError, match="whole grid.*needs a GPU, unless"):
            SourceModule(synced).get_function("k")(x, y, block=32, grid=4, cooperative=True)
        with pytest.raises(sw.KernelArgumentError, match="cluster"):
            SourceModule(plain).get_function("k")(x, y, block=32, grid=4, cluster=2)
        return
    if drv.Device(str(device)).compute_capability() >= (9, 0):
        SourceModule(plain).get_function("k")(x, y, block=32, grid=4, cluster=(2, 1, 1))
        with pytest.raises(sw.KernelArgumentError, match="cluster"):
            SourceModule(plain).get_function("k")(x, y, block=32, grid=3, cluster=2)
    x[...] = 0
    with toolkit_headers():
        module = SourceModule(synced)
    module.get_function("k")(x, y, block=32, grid=4, cooperative=True)
    assert y.tolist() == [128] * 4
    with pytest.raises(sw.KernelArgumentError, match="run at once"):
        module.get_function("k")(x, y, block=1024, grid=100_000, cooperative=True)


def test_occupancy(scale, device):
    assert 1 <= scale.max_active_blocks(128) <= 64
    assert scale.max_active_blocks((64, 2), shared=1024) >= 1
    min_grid, block = scale.occupancy_block_size()
    assert 1 <= block <= scale.max_threads_per_block and block % 32 == 0
    assert min_grid >= device.properties.multiprocessors
    for wrong in (0, 4096):
        with pytest.raises(sw.KernelArgumentError, match="block"):
            scale.max_active_blocks(wrong)
    with pytest.raises(TypeError, match="at most 1 arguments by position"):
        scale.occupancy_block_size(1, 2)
    with pytest.raises(sw.KernelArgumentError, match="shared="):
        scale.occupancy_block_size(shared="much")


def test_compile_errors():
    with pytest.raises(drv.CompileError) as caught:
        SourceModule("__global__ void k(float *x)\n{\n  x[0] = nowhere;\n}\n")
    assert "nowhere" in caught.value.log and " 3 | " in caught.value.source


def test_elementwise_kernel(device):
    lin_comb = sw.ElementwiseKernel(
        "float a, float *x, float b, float *y, float *z",
        "z[i] = a*x[i] + b*y[i]",
        "linear_combination",
    )
    x = sw.arange(6, dtype="float32", device=device).reshape(2, 3)
    z = sw.full((3, 2), np.nan, dtype="float32", device=device)
    lin_comb(5, x.T, 6, x.T, z)
    assert (z.numpy() == 11 * x.numpy().T).all()
    with pytest.raises(sw.ArgumentError, match="pass slices of the arrays"):
        lin_comb(5, x, 6, x, x, slice=slice(0, 3))


def test_reduction_kernel(device):
    dot = sw.ReductionKernel(
        np.float32,
        neutral="0",
        reduce_expr="a+b",
        map_expr="x[i]*y[i]",
        arguments="float *x, float *y",
    )
    x = sw.arange(400, dtype="float32", device=device)
    assert dot(x, x).item() == pytest.approx(np.dot(x.numpy(), x.numpy()), rel=1e-6)


def test_scan_kernels(device):
    x = sw.ones(5000, dtype="int32", device=device)
    sw.ExclusiveScanKernel(np.int32, "a+b", neutral="0")(x)
    assert x.tolist() == list(range(5000))
    sw.InclusiveScanKernel(np.int32, "a > b ? a : b")(x[::-1])
    assert x.tolist() == [4999] * 5000
