# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PyCUDA's documented kernel features, one test for each row of docs/coming-from-pycuda.md."""

import re
from pathlib import Path

import numpy as np
import pytest
from addons.pycuda.pycuda_rows import SCALE, on_device, random
from support.tree import ROOT

import spanwise as sw
import spanwise.driver as drv
from spanwise import SourceModule

pytestmark = pytest.mark.usefixtures("default_device")


@pytest.fixture
def scale():
    return SourceModule(SCALE).get_function("scale")


def test_every_row_has_its_test():
    text = (ROOT / "docs" / "coming-from-pycuda.md").read_text()
    named = set(re.findall(r"`(test_\w+)`(?: \|$|\))", text, re.MULTILINE))
    files = Path(__file__).parent.glob("test_coming_from_pycuda*.py")
    tests = {
        name for file in files for name in re.findall(r"^def (test_\w+)", file.read_text(), re.M)
    }
    assert named == tests - {"test_every_row_has_its_test", "test_the_exercise_of_20_by_10"}


def test_the_exercise_of_20_by_10():
    """The tutorial's exercise: "Modify and execute to work for a matrix of shape (20, 10)"."""
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
    scaled = on_device(x)
    scale(scaled, np.float32(3), np.int32(100), block=(128, 1, 1), grid=(1, 1))
    np.testing.assert_allclose(scaled.numpy(), 3 * x, rtol=1e-6)
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
    scale(y[2], 7.0, 1, block=1)  # y[2] is a copy, y[1, ...] is a view
    assert y.tolist() == [1.0, 5.0, 1.0, 1.0]
    assert x.numpy()[:, 1].tolist() == [3] * 8 and x.numpy()[:, 0].tolist() == [2] * 8


def test_removed_names_name_a_replacement():
    for name, message in (
        ("TextureReference", "sw.Texture"),
        ("np_to_array", "CUDA arrays"),
        ("managed_empty", "x.numpy"),
        ("IPCMemoryHandle", "stream-ordered pool"),
        ("Linker", "link="),
        ("PointerHolderBase", "__cuda_array_interface__"),
    ):
        with pytest.raises(AttributeError, match=message):
            getattr(drv, name)


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
