# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Declared layouts of kernel parameters: raw, contiguous and strided, compared with NumPy on any
layout."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import spanwise as sw

SOURCE = r"""
#include <spanwise/view.cuh>
__global__ void axpy(float *out, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] += a * x[i];
}
__global__ void strided(spanwise::View<float, 2> out, spanwise::View<const float, 2> x, float a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= out.size()) return;
    long long row = i / out.shape[1], column = i % out.shape[1];
    out(row, column) += a * x(row, column);
}
struct Key { int key; float value; };
__global__ void keys(Key *out, int *in, int n)
{
    int i = threadIdx.x;
    if (i < n) out[i].key = in[i];
}
"""
DECLARED = ("contiguous float32*", "contiguous const float*", "float32", "int32")


@pytest.fixture(scope="module")
def module(device):
    return sw.SourceModule(SOURCE, device=device)


@pytest.fixture
def axpy(module):
    return module.get_function("axpy")


def drawn_window(draw, rows, columns):
    """Draws a view of shape (rows, columns) with strides of any sign: the extents of the array that
    contains it, the index that selects it, and whether the selection is then transposed."""
    steps = [draw(st.sampled_from([1, 2, -1, -3])) for _ in range(2)]
    transposed = draw(st.booleans())
    extents = [n * abs(step) for n, step in zip((rows, columns), steps, strict=True)]
    index = tuple(slice(None, None, step) for step in steps)
    if transposed:
        extents, index = extents[::-1], index[::-1]
    return extents, index, transposed


def arrays_of(window, device, random):
    """An array of NumPy, its copy on the device, and the function that takes the view of either."""
    extents, index, transposed = window
    host = random.standard_normal(extents).astype("float32")
    return host, sw.array(host, device=device), lambda a: a[index].T if transposed else a[index]


@given(data=st.data())
def test_contiguous_and_strided_parameters_take_any_view(device, module, data):
    rows, columns = data.draw(st.integers(1, 7)), data.draw(st.integers(1, 9))
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    windows = [drawn_window(data.draw, rows, columns) for _ in range(2)]
    host, base, view = arrays_of(windows[0], device, random)
    x_host, x_base, x_view = arrays_of(windows[1], device, random)
    if data.draw(st.booleans()):
        module.get_function("axpy").bind(DECLARED)(
            view(base), x_view(x_base), 2.0, rows * columns, block=64
        )
    else:
        module.get_function("strided")(view(base), x_view(x_base), 2.0, block=64)
    view(host)[...] += np.float32(2) * x_view(x_host)
    np.testing.assert_allclose(base.numpy(), host, rtol=1e-6)  # also outside the view
    np.testing.assert_array_equal(x_base.numpy(), x_host)


def test_broadcast_input_is_copied_and_unchanged(axpy, device):
    row = sw.array(np.arange(4, dtype="float32"), device=device)
    out = sw.zeros((3, 4), dtype="float32", device=device)
    axpy.bind(DECLARED)(out, sw.broadcast_to(row, (3, 4)), 1.0, 12, block=32)
    assert out.tolist() == [[0, 1, 2, 3]] * 3 and row.tolist() == [0, 1, 2, 3]


def test_same_view_twice_is_copied_once(axpy, device):
    x = sw.array(np.arange(8, dtype="float32"), device=device)
    axpy.bind(DECLARED)(x[::-2], x[::-2], 1.0, 4, block=32)
    assert x.tolist() == [0, 2, 2, 6, 4, 10, 6, 14]


def test_two_imports_of_one_view_are_copied_once():
    both = sw.SourceModule(
        "__global__ void both(float *x, float *y) { x[0] = 1; y[1] = 2; }", device="cpu"
    ).get_function("both")
    declared = both.bind(args=["contiguous float*", "contiguous float*"])
    x = np.full(8, -7, "float32")
    declared(x[::2], x[::2], block=1)
    assert x.tolist() == [1, -7, 2, -7, -7, -7, -7, -7]


def test_copied_outputs_that_overlap_are_refused(device):
    both = sw.SourceModule(
        "__global__ void both(float *x, float *y) { x[0] = 1; y[0] = 2; }", device=device
    ).get_function("both")
    declared = both.bind(args=["contiguous float*", "contiguous float*"])
    x = sw.zeros(8, "float32", device=device)
    for y in (x[:6:2], x):
        with pytest.raises(sw.KernelArgumentError, match="expected memory apart from"):
            declared(x[2::2], y, block=1)
    assert not x.numpy().any()
    declared(x[1::2], x[::2], block=1)
    assert x.numpy().tolist() == [2, 1, 0, 0, 0, 0, 0, 0]


def test_copied_arguments_are_ordered_on_another_stream(axpy, device):
    x = sw.array(np.arange(200_000, dtype="float32"), device=device)
    stream = sw.Stream(device)
    for _ in range(5):
        axpy.bind(DECLARED)(x[::2], x[1::2], 1.0, 100_000, block=256, grid=391, stream=stream)
    host = np.arange(200_000, dtype="float32")
    host[::2] += 5 * host[1::2]
    np.testing.assert_array_equal(x.numpy(), host)


def test_parameters_have_their_declared_layouts(axpy, module):
    bound = axpy.bind(args=["raw", "contiguous", "float", "int"])
    assert [p.layout for p in bound.parameters] == ["raw", "contiguous", "", ""]
    assert [p.layout for p in axpy.parameters] == ["raw", "raw", "", ""]
    assert [p.is_const for p in bound.parameters] == [False, True, False, False]
    views = module.get_function("strided").parameters
    assert [(p.layout, p.view_rank) for p in views] == [("strided", 2), ("strided", 2), ("", 0)]
    bound_views = module.get_function("strided").bind(("strided float32[2]", "strided", "float32"))
    assert [p.layout for p in bound_views.parameters] == ["strided", "strided", ""]
    assert bound.name == "axpy" and bound.device == axpy.device


@pytest.mark.parametrize(
    ("position", "declaration", "text"),
    [
        (0, "", "empty text"),
        (0, "contiguous float64*", "the kernel has float32"),
        (0, "contiguous float32", "write a '\\*'"),
        (0, "strided float32[2]", "requires a parameter of type spanwise::View<T, N>"),
        (0, "strided", "requires a parameter of type spanwise::View<T, N>"),
        (0, "float32", "a number's type"),
        (2, "float32*", "which requires a pointer"),
        (2, "contiguous", "which requires a pointer"),
        (2, "float64", "the kernel has float32|8 bytes"),
        (0, "strided float32[0]", "number of axes '0'"),
        (0, "[2]", r"no type before \[N\]"),
    ],
)
def test_unsuitable_declaration_raises(axpy, position, declaration, text):
    declared = list(DECLARED)
    declared[position] = declaration
    with pytest.raises(sw.KernelArgumentError, match=text) as caught:
        axpy.bind(args=declared)
    message = str(caught.value)
    assert f"declaration {position + 1} of 4" in message and "kernel 'axpy', bind" in message
    assert axpy.parameters[position].name in message


def test_invalid_arguments_of_bind_raise(axpy, module):
    with pytest.raises(sw.KernelArgumentError, match="expected 4 declarations.*got 1"):
        axpy.bind(("raw",))
    for wrong in ("raw", [1, 2, 3, 4]):
        with pytest.raises(sw.KernelArgumentError, match="text"):
            axpy.bind(wrong)
    with pytest.raises(TypeError, match="at most 1 arguments by position"):
        axpy.bind(DECLARED, 1)
    with pytest.raises(sw.KernelArgumentError, match="2 axes|1 axes"):
        module.get_function("strided").bind(("strided float32[1]", "strided", "float32"))


def test_unsuitable_arguments_of_bound_kernel_raise(axpy, device):
    out = sw.zeros((4, 2), dtype="float32", device=device)
    bound = axpy.bind(DECLARED)
    with pytest.raises(sw.KernelArgumentError, match="expected 4 arguments"):
        bound(out.T, out, 1.0, block=8)
    with pytest.raises(sw.KernelArgumentError, match="argument 2 of 4.*float32.*float64"):
        bound(out, out.astype("float64").T, 1.0, 8, block=8)
    with pytest.raises(sw.ReadOnlyError, match="argument 1 of 4.*read-only"):
        bound(sw.broadcast_to(out[0], (4, 2)), out, 1.0, 8, block=8)
    assert (out.numpy() == 0).all()


def test_output_that_overlaps_itself_raises(axpy, device):
    if device.kind != "cpu":
        pytest.skip("arrays that overlap themselves come from NumPy")
    overlapping = np.lib.stride_tricks.as_strided(np.zeros(8, "float32"), (4, 2), (4, 4))
    x = sw.zeros((4, 2), dtype="float32", device=device)
    with pytest.raises(sw.KernelArgumentError, match="overlap in memory"):
        axpy.bind(DECLARED)(overlapping, x, 1.0, 8, block=8)


def test_bytes_are_passed_to_a_pointer_to_structs(module, device):
    out = sw.zeros((4, 8), dtype="uint8", device=device)
    keys = module.get_function("keys").bind(("contiguous Key*", "contiguous int32*", "int32"))
    keys(out, sw.array(np.arange(8, dtype="int32"), device=device)[::-2], 4, block=8)
    assert out.numpy().view("int32")[:, 0].tolist() == [7, 5, 3, 1]


def test_strict_copies_refuses_contiguous_copies(axpy, device):
    x = sw.zeros((4, 2), dtype="float32", device=device)
    bound = axpy.bind(DECLARED)
    with sw.strict_copies():
        bound(x, x, 1.0, 8, block=8)
        with pytest.raises(sw.CopyNeededError, match="argument 2 of 4.*strict_copies"):
            bound(x, x.T, 1.0, 8, block=8)
