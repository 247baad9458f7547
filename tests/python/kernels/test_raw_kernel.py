# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""RawKernel, RawModule and asnumpy, called as in CuPy."""

import io

import numpy as np
import pytest

import spanwise as sw

ADD = r"""
extern "C" __global__
void my_add(const float* x1, const float* x2, float* y) {
  int tid = blockDim.x * blockIdx.x + threadIdx.x;
  y[tid] = x1[tid] + x2[tid];
}
"""
TEMPLATE = r"""
__constant__ float factor;
template <typename T> __global__ void scale(T* x, T by, int n) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) x[i] *= by + (T)factor;
}
"""


def test_raw_kernel_runs_on_the_device_of_its_arrays(device):
    add = sw.RawKernel(ADD, "my_add")
    x1 = sw.arange(25, dtype="float32", device=device).reshape(5, 5)
    x2 = sw.arange(25, dtype="float32", device=device).reshape(5, 5)
    y = sw.full((5, 5), np.nan, dtype="float32", device=device)
    add((5,), (5,), (x1, x2, y))
    np.testing.assert_array_equal(sw.asnumpy(y), 2 * np.arange(25).reshape(5, 5))
    with sw.device(device):
        assert add.attributes["max_threads_per_block"] >= 256
    assert add.name == "my_add" and add.code == ADD and add.options == ()


def test_raw_module_has_templates_and_variables(device):
    module = sw.RawModule(
        code=TEMPLATE, options=("-std=c++17",), name_expressions=["scale<float>", "scale<double>"]
    )
    for dtype, number in (("float32", np.float32(3)), ("float64", np.float64(3))):
        x = sw.arange(10, dtype=dtype, device=device)
        module.get_global("factor", device=device).view("float32")[...] = 0.5
        name = "scale<float>" if dtype == "float32" else "scale<double>"
        module.get_function(name)((1,), (16,), (x, number, 10), shared_mem=0)
        np.testing.assert_array_equal(x.numpy(), np.arange(10) * 3.5)


TOGETHER = """
#include <cooperative_groups.h>
extern "C" __global__ void total(float *x, float *out) {
  x[blockIdx.x] = blockIdx.x;
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < gridDim.x; ++i) sum += x[i];
    out[blockIdx.x] = sum;
  }
}
"""
COMPLEX = """
#include <cuComplex.h>
extern "C" __global__ void square(cuFloatComplex *x, int n) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) x[i] = cuCmulf(x[i], x[i]);
}
"""


def test_options_of_cupy_for_complex_numbers_and_cooperative_groups(device):
    x = sw.asarray(np.complex64([1 + 2j, 3j, -1]), device=device)
    sw.RawKernel(COMPLEX, "square", translate_cucomplex=True)((1,), (32,), (x, 3))
    np.testing.assert_allclose(x.numpy(), np.complex64([1 + 2j, 3j, -1]) ** 2, rtol=1e-6)
    kernel = sw.RawKernel(TOGETHER, "total", enable_cooperative_groups=True)
    assert kernel.enable_cooperative_groups
    module = sw.RawModule(code=TOGETHER, enable_cooperative_groups=True)
    blocks = (
        4 if sw.device(device).kind == "cuda" else 1
    )  # the CPU synchronises a grid of one block
    for total in (kernel, module.get_function("total")):
        parts, out = (sw.full(blocks, np.nan, "float32", device=device) for _ in range(2))
        total((blocks,), (1,), (parts, out))
        assert out.tolist() == [sum(range(blocks))] * blocks


def test_raw_module_compiles_a_file(device, tmp_path):
    (tmp_path / "add.cu").write_text(ADD)
    y = sw.zeros(3, dtype="float32", device=device)
    ones = sw.ones(3, dtype="float32", device=device)
    sw.RawModule(path=tmp_path / "add.cu").get_function("my_add")(
        (1, 1), (3, 1, 1), (ones, ones, y)
    )
    assert y.tolist() == [2, 2, 2]


def test_invalid_arguments_raise():
    with pytest.raises(sw.ArgumentError, match="either code=.*neither"):
        sw.RawModule()
    with pytest.raises(sw.ArgumentError, match="jitify"):
        sw.RawKernel(ADD, "my_add", jitify=True)
    with pytest.raises(sw.ArgumentError, match="backend"):
        sw.RawKernel(ADD, "my_add", backend="hip")
    log = io.StringIO()
    with pytest.raises(sw.CompileError):
        sw.RawKernel(ADD.replace("x2[tid]", "missing"), "my_add").compile(log_stream=log)
    assert "missing" in log.getvalue()


def test_asnumpy_copies_to_contiguous_numpy_arrays(device):
    a = sw.arange(6, dtype="float32", device=device).reshape(2, 3)
    copied = sw.asnumpy(a.T)
    assert type(copied) is np.ndarray and copied.flags.c_contiguous
    np.testing.assert_array_equal(copied, np.arange(6).reshape(2, 3).T)
    copied[...] = 7
    assert a[0, 1].item() == 1
    out = np.zeros((2, 3), "float32")
    assert sw.asnumpy(a, out=out) is out and out[1, 2] == 5
    assert sw.asnumpy(a, order="F").flags.f_contiguous
    np.testing.assert_array_equal(sw.asnumpy([1, 2]), [1, 2])


def test_get_is_a_copy_as_in_cupy(device):
    values = np.random.default_rng().standard_normal((3, 4)).astype("float32")
    a = sw.array(values, device=device)
    for view, expected in ((a, values), (a.T, values.T), (a[::-1, 1::2], values[::-1, 1::2])):
        copied = view.get()
        assert type(copied) is np.ndarray and copied.flags.c_contiguous
        np.testing.assert_array_equal(copied, expected)
    copied = a.get()
    copied[...] = 7
    np.testing.assert_array_equal(a.numpy(), values)
    out = np.full((3, 4), np.nan, "float32")
    assert a.get(out=out) is out and out.tolist() == values.tolist()
    assert a.get(sw.current_stream(a.device), "F").flags.f_contiguous
    with pytest.raises(TypeError):
        a.get(blocking_order=1)


def test_data_ptr_is_the_address_of_the_first_element(device):
    a = sw.arange(12, dtype="int16", device=device).reshape(3, 4)
    assert a.data_ptr() == a.ptr and a[1:, 1:].data_ptr() == a.ptr + 10
    assert sw.empty((0, 3), device=device).data_ptr() == sw.empty((0, 3), device=device).ptr


def test_resources_have_cupys_names_and_limits_are_checked(device):
    with sw.device(device):
        add = sw.RawKernel(ADD, "my_add")
        for name in ("num_regs", "shared_size_bytes", "local_size_bytes", "const_size_bytes"):
            assert getattr(add, name) == add.attributes[name] >= 0
        limit = add.max_dynamic_shared_size_bytes
        assert limit >= 48 * 1024 and add.max_threads_per_block >= 256
        add.max_dynamic_shared_size_bytes = limit
        with pytest.raises(sw.KernelArgumentError, match="bytes of dynamic shared memory"):
            add.max_dynamic_shared_size_bytes = limit + 1
        x = sw.arange(4, dtype="float32")
        y = sw.full(4, np.nan, "float32")
        add((1,), (4,), (x, x, y), shared_mem=limit)
        assert y.tolist() == [0, 2, 4, 6]
    assert (add.backend, add.file_path) == ("nvrtc", None)
    for name in ("preferred_shared_memory_carveout", "nosuch"):
        with pytest.raises(AttributeError, match=name):
            setattr(add, name, 1)
        with pytest.raises(AttributeError, match=name):
            getattr(add, name)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: sw.RawKernel(3, "f"), "texts code and name, got int"),
        (lambda: sw.RawKernel(ADD, None), "got str and NoneType"),
        (lambda: sw.RawKernel(ADD, "my_add", "-O3"), "options: expected a tuple of texts"),
        (lambda: sw.RawModule(code=ADD, options=[3]), "options: expected a tuple of texts"),
        (lambda: sw.RawModule(code=b"x"), "code to be a text"),
        (lambda: sw.RawModule(code=ADD, name_expressions="f<int>"), "name_expressions"),
    ],
)
def test_wrong_types_are_refused_at_construction(make, text):
    with pytest.raises(TypeError, match=text):
        make()


def test_module_of_arrays_is_named(device):
    assert sw.get_array_module(1, sw.zeros(2, device=device)) is sw
    assert sw.get_array_module(sw.tensor.fvector("v")) is sw
    assert sw.get_array_module(np.zeros(2), 3) is np is sw.get_array_module()
