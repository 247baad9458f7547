# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""ElementwiseKernel called with the arguments of PyCUDA and of CuPy."""

import ctypes
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from python.kernels.elementwise_kernels import AXPY, SUM_INDEX
from support.arrays import assert_same, numbers, poisoned

import spanwise as sw


class TestCalls:
    def test_pycudas_linear_combination(self, device):
        """The example of PyCUDA's documentation, with arrays of Spanwise."""
        lin_comb = sw.ElementwiseKernel(
            "float a, float *x, float b, float *y, float *z",
            "z[i] = my_f(a*x[i], b*y[i])",
            "linear_combination",
            preamble="__device__ float my_f(float x, float y) { return sinf(x) * y; }",
        )
        x, y = (np.random.default_rng(k).random(50, "float32") for k in (0, 1))
        z = poisoned(50, "float32", device)
        lin_comb(5, sw.array(x, device=device), 6, sw.array(y, device=device), z)
        np.testing.assert_allclose(z.numpy(), np.sin(5 * x) * (6 * y), rtol=2e-5)

    @pytest.mark.parametrize("standard", ["-std=c++11", "--std=c++14", "-std=c++20"])
    def test_options_may_name_any_standard(self, device, standard):
        """CuPy's users pass older ones; the library's templates need C++17."""
        plus_one = sw.ElementwiseKernel("T x", "T z", "z = x + 1", options=[standard])
        x = sw.array(np.arange(6, dtype="float32").reshape(2, 3), device=device)
        assert_same(plus_one(x.T), x.T.numpy() + 1)

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
    @pytest.mark.parametrize("step", [1, -2])
    def test_16_bit_floats_mix_with_numbers_of_c(self, device, dtype, step):
        """They compute in float, and the result is rounded once."""
        x = sw.array(np.linspace(-3, 3, 24, dtype="float32"), device=device).astype(dtype)[::step]
        wide = x.astype("float32").numpy()
        i = np.arange(len(wide), dtype="float32")
        for expression, expected in (
            ("y = x * 2", wide * 2),
            ("y = 2.0f * x", wide * 2),
            ("y = 1 - x", 1 - wide),
            ("y = x + 1L", wide + 1),
            ("y = x > 0 ? x : T(0)", np.maximum(wide, 0)),
            ("y = x / 3", wide / np.float32(3)),
            ("y = x == 3", wide == 3),
            ("y = x <= 0.5", wide <= 0.5),
            ("y = x * i", wide * i),
            ("y = max(x, T(0))", np.maximum(wide, 0)),
            ("y = x * 0.1", wide * 0.1),
        ):
            y = poisoned(len(wide), dtype, device)
            sw.ElementwiseKernel("T x", "T y", expression)(x, y)
            rounded = sw.array(np.asarray(expected, "float32"), device="cpu").astype(dtype)
            np.testing.assert_array_equal(
                y.astype("float32").numpy(), rounded.astype("float32").numpy(), expression
            )
        total = sw.ReductionKernel("T x", "float y", "x * 2", "a + b", "y = a", "0")(x)
        np.testing.assert_allclose(total.item(), 2 * wide.sum(), atol=1e-4)

    def test_raw_arrays_are_indexed_by_the_kernel(self, device):
        roll = sw.ElementwiseKernel(
            "raw T w, int32 s", "T z", "z = w[(i + s) % _ind.size()]", "roll"
        )
        w = np.arange(12).reshape(3, 4)
        x = sw.array(w, device=device)
        assert_same(roll(x, 5, size=12), np.roll(w.reshape(-1), -5))
        assert_same(roll(x[::-1, ::-1], 1, size=12), np.roll(w[::-1, ::-1].reshape(-1), -1))

    def test_raw_output_has_as_many_elements_as_size_says(self, device):
        fill = sw.ElementwiseKernel("", "raw float32 out, raw int64 at", "out[i] = at[i] = i * 2")
        with sw.config.change(device=str(device)):
            out, at = fill(size=5)
            assert out.shape == at.shape == (5,) and fill(size=0)[0].shape == (0,)
            assert out.dtype == "float32" and at.tolist() == out.tolist() == [0, 2, 4, 6, 8]
            w = sw.arange(6.0, device=device)
            half = sw.ElementwiseKernel("raw T w", "raw T z", "z[i] = w[2 * i]")(w, size=3)
        assert half.tolist() == [0, 2, 4] and half.device == w.device
        with pytest.raises(sw.KernelArgumentError, match="pass an array for it, or size="):
            sw.ElementwiseKernel("T x", "raw T z", "z[i] = x")(w)
        with pytest.raises(sw.ArgumentError, match="size= is for kernels whose arrays are all raw"):
            sw.ElementwiseKernel("T x", "raw T z", "z[i] = x")(w, size=6)

    def test_structs_by_value_and_in_arrays(self, device):
        step = sw.ElementwiseKernel(
            "Body *b, Step s",
            "b[i].x += s.dt * b[i].v",
            "move",
            preamble="struct Body { float x, v; };\nstruct Step { double dt; int unused; };",
        )
        bodies = np.zeros(7, [("x", "f4"), ("v", "f4")])
        bodies["v"] = np.arange(7)
        on_device = sw.array(bodies.view("uint8").reshape(7, 8), device=device)
        step(on_device, np.array((0.5, 0), [("dt", "f8"), ("unused", "i8")])[()])
        moved = on_device.numpy().view(bodies.dtype)[:, 0]
        assert moved["x"].tolist() == (0.5 * np.arange(7)).tolist()

        class Step(ctypes.Structure):
            _fields_ = [("dt", ctypes.c_double), ("unused", ctypes.c_int)]

        step(on_device[::2], Step(2.0, 0))
        moved = on_device.numpy().view(bodies.dtype)[:, 0]
        assert moved["x"].tolist() == [v * (2.5 if v % 2 == 0 else 0.5) for v in range(7)]
        with pytest.raises(sw.CompileError, match="12 bytes"):
            step(sw.zeros((3, 12), "uint8", device=device), Step(2.0, 0))

    def test_complex_and_half_numbers_compute(self, device):
        square = sw.ElementwiseKernel("T x", "T y", "y = x * x + x", "square")
        z = numbers((4, 5), "complex64", 0)
        np.testing.assert_allclose(square(sw.array(z, device=device)).numpy(), z * z + z, rtol=1e-6)
        half = np.float16([0.5, 1, 3])
        assert_same(square(sw.array(half, device=device)), half * half + half)
        modulus = sw.ElementwiseKernel(
            "pycuda::complex<float> *z, double *size", "size[i] = abs(conj(z[i]) / z[i])"
        )
        size = poisoned((4, 5), "float64", device)
        modulus(sw.array(z, device=device), size)
        np.testing.assert_allclose(size.numpy(), 1, rtol=1e-6)

    def test_return_and_continue_skip_one_element(self, device):
        for word in ("return", "continue"):
            clip = sw.ElementwiseKernel(
                "T x", "T y", f"y = x; if (x < 3) {word}; y = 3", f"c_{word}"
            )
            assert clip(sw.arange(6, device=device)).tolist() == [0, 1, 2, 3, 3, 3]

    def test_loop_prep_and_after_loop_surround_the_loop(self, device):
        kernel = sw.ElementwiseKernel(
            "int *z", "z[i] = seven", loop_prep="const int seven = 7", after_loop="(void)seven"
        )
        z = poisoned(5, "int32", device)
        kernel(z)
        assert z.tolist() == [7] * 5

    def test_raw_array_is_read_at_the_indices_of_the_operation(self, device):
        sums = sw.ElementwiseKernel(
            "raw T x, int32 m",
            "T y",
            "T s = 0; for (int k = 0; k < m; ++k) s += x[i * m + k]; y = s",
        )
        x = np.arange(12)
        assert_same(sums(sw.array(x, device=device), 3, size=4), x.reshape(4, 3).sum(1))

    def test_numbers_numpy_scalars_and_rank_0_arrays_are_operands(self, device):
        add = sw.ElementwiseKernel("T x, T y", "T z", "z = x + y", "add", return_tuple=True)
        x = sw.array([1.5, 2.5], dtype="float32", device=device)
        for two in (2, 2.0, np.float32(2), np.array(2, "float32")):
            (z,) = add(x, two)
            assert_same(z, np.float32([3.5, 4.5]))
        (z,) = add(x, x, out=(x,))
        assert z is x and x.tolist() == [3, 5]

    def test_declared_c_types_are_not_replaced_by_equal_ones(self, device):
        """char and signed char are two types to C++, and long and long long too."""
        total = sw.ElementwiseKernel(
            "char *x, long *z",
            "z[i] = first(&x[i]) + same(&z[i])",
            preamble="__device__ int first(char *x) { return *x; }\n"
            "__device__ long same(long *z) { return *z; }",
        )
        z = sw.ones(3, "int64", device=device)
        total(sw.array([1, 2, 3], dtype="int8", device=device), z)
        assert z.tolist() == [2, 3, 4]

    def test_no_return_makes_calls_return_none(self, device):
        x = sw.ones(3, "float32", device=device)
        copy = sw.ElementwiseKernel("T x", "T y", "y = x", no_return=True)
        assert copy(x, sw.empty(3, "float32", device=device)) is None

    def test_argument_objects_of_pycuda_declare_parameters(self, device):
        class VectorArg:
            def __init__(self, name):
                self.name = name

            def declarator(self):
                return f"float *{self.name}"

        twice = sw.ElementwiseKernel([VectorArg("x"), VectorArg("z")], "z[i] = 2 * x[i]")
        z = poisoned(3, "float32", device)
        twice(sw.ones(3, "float32", device=device), z)
        assert z.tolist() == [2, 2, 2]

    def test_threads_that_use_one_kernel_get_their_own_results(self, device):
        """Each thread compiles its own variant, or waits for the thread that does."""
        kernel = sw.ElementwiseKernel("T x", "T y", "y = x + 1", "shared_by_threads")
        base = sw.arange(24, dtype="int32", device=device).reshape(2, 3, 4)
        views = [base, base.T, base[:, ::-1], base.astype("int64")] * 4
        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(kernel, views))
        for view, result in zip(views, results, strict=True):
            assert_same(result, view.numpy() + 1)

    def test_call_accepts_a_stream(self, device):
        x = sw.ones(1000, "float32", device=device)
        z = poisoned(1000, "float32", device)
        AXPY(z, 2, x, x, stream=sw.Stream(device))
        assert z.tolist() == [3] * 1000

    def test_arrays_without_elements_are_accepted(self, device):
        z = sw.empty((0, 3), "float32", device=device)
        AXPY(z, 1, z, z)
        assert SUM_INDEX(z, z)[0].shape == (0, 3)

    def test_numpy_arrays_are_read_and_written(self):
        z = np.full(3, np.nan, "float32")
        AXPY(z, 2.0, np.float32([1, 2, 3]), np.float32([0, 0, 1]))
        assert z.tolist() == [2, 4, 7]


def test_macros_of_options_may_have_the_names_of_the_library(device):
    """Names of template parameters and of variables in the loops around the user's code."""
    names = "A B T N L x y Shape Body Place Step first end value tile bytes left half depth width "
    names += "rows tiles cells dense runs Array Role Pattern read write contiguous strided Count rank block"
    options = [f"-D{name}=2" for name in names.split()] + ["-D", "SCALE(v)=v*2"]
    a = sw.asarray(np.arange(6, dtype="float32").reshape(2, 3), device=device)
    kernel = sw.ElementwiseKernel("float32 p", "float32 q", "q = SCALE(p) + N", options=options)
    for layout in (a, a.T, a[:, ::-1]):
        np.testing.assert_array_equal(kernel(layout).numpy(), layout.numpy() * 2 + 2)
    total = sw.ReductionKernel(
        "float32 p", "float32 q", "p * N", "a + b", "q = a", "0", options=[*options, "-Dc=1"]
    )
    for layout in (a, a.T, a[:, ::-1]):
        np.testing.assert_array_equal(total(layout, axis=0).numpy(), layout.numpy().sum(0) * 2)


def test_macros_are_told_apart_from_longer_names_in_the_preamble(device):
    """`parts` of the options is hidden in the reduction's text, though the preamble defines `subparts`."""
    total = sw.ReductionKernel(
        "float32 p", "float32 q", "p * subparts * parts", "a + b", "q = a", "0",
        preamble="#define subparts 3", options=["-Dparts=2"],
    )  # fmt: skip
    x = np.arange(6, dtype="float32").reshape(2, 3)
    np.testing.assert_array_equal(total(sw.asarray(x, device=device), axis=0).numpy(), x.sum(0) * 6)
