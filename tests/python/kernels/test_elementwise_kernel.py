# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""ElementwiseKernel with PyCUDA's and CuPy's arguments: any layout, dtype and device, and
errors."""

import ctypes
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support.arrays import COMPUTABLE, assert_same, numbers, pair, poisoned, windows

import spanwise as sw

pytest.importorskip("hypothesis")
from hypothesis import given, strategies as st

# Compiled once, called with all layouts and dtypes.
AXPY = sw.ElementwiseKernel(
    "float *z, float a, float *x, float *y", "z[i] = a * x[i] + y[i]", "axpy"
)
SUM_INDEX = sw.ElementwiseKernel("T x, T y", "T z, int64 k", "z = x + y; k = i", "sum_index")
PICK = sw.ElementwiseKernel("T x, bool first, T y", "T z", "z = first ? x : y", "pick")
SHIFT = sw.ElementwiseKernel(
    "int *z, const int *x", "z[i] = x[i] - (i > 0 ? x[i - 1] : 0) + (i == n - 1)", "shift"
)
ARITHMETIC = ("uint8", "int32", "float64")


class TestLayouts:
    @given(data=st.data(), dtype=st.sampled_from(ARITHMETIC), seed=st.integers(0, 99))
    def test_values_broadcast_as_numpy_does(self, device, data, dtype, seed):
        window = data.draw(windows())
        x, a = pair(window, dtype, device, seed)
        shape = tuple(n if data.draw(st.booleans()) else 1 for n in a.shape)
        shape = shape[data.draw(st.integers(0, len(shape))) :]
        b = numbers(shape, dtype, seed + 1)
        ours, places = SUM_INDEX(x, sw.array(b, device=device))
        with np.errstate(over="ignore"):
            assert_same(ours, np.add(a, b, dtype=dtype))
        assert_same(places, np.arange(a.size).reshape(a.shape))

    @given(data=st.data(), dtype=st.sampled_from(COMPUTABLE), seed=st.integers(0, 99))
    def test_all_dtypes_with_strided_outputs(self, device, data, dtype, seed):
        window = data.draw(windows(broadcast=False))
        x, a = pair(window, dtype, device, seed)
        y, b = pair(window, dtype, device, seed + 1)
        first, chosen = pair(window, "bool", device, seed + 2)
        base = poisoned(window.base_shape, dtype, device)
        z = window.of(base)
        expected_base = base.numpy().copy()
        window.of(expected_base)[...] = np.where(chosen, a, b)
        assert PICK(x, first, y, z) is z
        assert base.numpy().tobytes() == expected_base.tobytes()

    @given(data=st.data(), seed=st.integers(0, 99))
    def test_pointers_see_any_strides(self, device, data, seed):
        window = data.draw(windows())
        x, a = pair(window, "float32", device, seed)
        y, b = pair(window, "float32", device, seed + 1)
        z = poisoned(a.shape, "float32", device)
        assert AXPY(z, 3, x, y) is None
        assert_same(z, 3 * a + b)

    @given(data=st.data(), seed=st.integers(0, 99))
    def test_other_elements_count_in_c_order(self, device, data, seed):
        x, a = pair(data.draw(windows()), "int32", device, seed)
        z = poisoned(a.shape, "int32", device)
        SHIFT(z, x)
        flat = a.reshape(-1)
        expected = np.diff(flat, prepend=np.int32(0)).astype("int32")
        expected[-1:] += 1
        assert_same(z, expected.reshape(a.shape))

    def test_large_arrays_are_shared_among_threads(self, device):
        x = np.arange(3_000_001, dtype="int64")
        ours, places = SUM_INDEX(sw.array(x, device=device)[::-1], 5)
        assert_same(ours, x[::-1] + 5)
        assert_same(places, x)
        square = sw.array(x[:1_000_000].reshape(1000, 1000), device=device)
        ours, _ = SUM_INDEX(square.T, square[0])
        assert_same(ours, square.numpy().T + square.numpy()[0])

    def test_in_place_on_the_same_window_and_on_an_overlapping_one(self, device):
        x = sw.arange(10, dtype="float32", device=device)
        AXPY(x, 2.0, x, x)
        assert_same(x, 3 * np.arange(10, dtype="float32"))
        AXPY(x[1:], 1.0, x[:-1], x[1:])
        expected = 3 * np.arange(10, dtype="float32")
        expected[1:] = expected[:-1] + expected[1:]
        assert_same(x, expected)


class TestMeaning:
    def test_pycudas_linear_combination(self, device):
        """The example of PyCUDA's documentation in our words."""
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

    def test_raw_arrays_are_indexed_by_the_kernel(self, device):
        roll = sw.ElementwiseKernel(
            "raw T w, int32 s", "T z", "z = w[(i + s) % _ind.size()]", "roll"
        )
        w = np.arange(12).reshape(3, 4)
        ours = sw.array(w, device=device)
        assert_same(roll(ours, 5, size=12), np.roll(w.reshape(-1), -5))
        assert_same(roll(ours[::-1, ::-1], 1, size=12), np.roll(w[::-1, ::-1].reshape(-1), -1))

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
        pycudas = sw.ElementwiseKernel(
            "pycuda::complex<float> *z, double *size", "size[i] = abs(conj(z[i]) / z[i])"
        )
        size = poisoned((4, 5), "float64", device)
        pycudas(sw.array(z, device=device), size)
        np.testing.assert_allclose(size.numpy(), 1, rtol=1e-6)

    def test_return_and_continue_skip_one_element(self, device):
        for word in ("return", "continue"):
            clip = sw.ElementwiseKernel(
                "T x", "T y", f"y = x; if (x < 3) {word}; y = 3", f"c_{word}"
            )
            assert clip(sw.arange(6, device=device)).tolist() == [0, 1, 2, 3, 3, 3]

    def test_loop_prep_and_after_loop(self, device):
        prepared = sw.ElementwiseKernel(
            "int *z", "z[i] = seven", loop_prep="const int seven = 7", after_loop="(void)seven"
        )
        z = poisoned(5, "int32", device)
        prepared(z)
        assert z.tolist() == [7] * 5

    def test_raw_array_with_an_index_of_its_own_is_not_rewritten(self, device):
        sums = sw.ElementwiseKernel(
            "raw T x, int32 m",
            "T y",
            "T s = 0; for (int k = 0; k < m; ++k) s += x[i * m + k]; y = s",
        )
        x = np.arange(12)
        assert_same(sums(sw.array(x, device=device), 3, size=4), x.reshape(4, 3).sum(1))

    def test_numbers_numpy_scalars_and_lists(self, device):
        add = sw.ElementwiseKernel("T x, T y", "T z", "z = x + y", "add", return_tuple=True)
        x = sw.array([1.5, 2.5], dtype="float32", device=device)
        for two in (2, 2.0, np.float32(2), np.array(2, "float32")):
            (z,) = add(x, two)
            assert_same(z, np.float32([3.5, 4.5]))
        (z,) = add(x, x, out=(x,))
        assert z is x and x.tolist() == [3, 5]

    def test_types_stay_as_they_were_written(self, device):
        """char and signed char are two types to C++, and long and long long too."""
        first = sw.ElementwiseKernel(
            "char *x, long *z",
            "z[i] = first(&x[i]) + same(&z[i])",
            preamble="__device__ int first(char *x) { return *x; }\n"
            "__device__ long same(long *z) { return *z; }",
        )
        z = sw.ones(3, "int64", device=device)
        first(sw.array([1, 2, 3], dtype="int8", device=device), z)
        assert z.tolist() == [2, 3, 4]

    def test_return_values_of_calls(self, device):
        x = sw.ones(3, "float32", device=device)
        silent = sw.ElementwiseKernel("T x", "T y", "y = x", no_return=True)
        assert silent(x, sw.empty(3, "float32", device=device)) is None

    def test_pycudas_argument_objects(self, device):
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

    def test_kernel_runs_on_the_stream(self, device):
        x = sw.ones(1000, "float32", device=device)
        z = poisoned(1000, "float32", device)
        if device.kind == "cpu":
            AXPY(z, 2, x, x, stream=None)
        else:
            AXPY(z, 2, x, x, stream=sw.Stream(device))
        assert z.tolist() == [3] * 1000

    def test_arrays_without_elements_are_accepted(self, device):
        z = sw.empty((0, 3), "float32", device=device)
        AXPY(z, 1, z, z)
        assert SUM_INDEX(z, z)[0].shape == (0, 3)

    def test_other_libraries_arrays(self):
        z = np.full(3, np.nan, "float32")
        AXPY(z, 2.0, np.float32([1, 2, 3]), np.float32([0, 0, 1]))
        assert z.tolist() == [2, 4, 7]


class TestRefusals:
    @pytest.mark.parametrize(
        ("declared", "message"),
        [
            (("flaot *x", "x[i] = 0"), "flaot.*unknown"),
            (("flaot x", "T z", "z = x"), "flaot.*unknown.*float32"),
            (("float *i", "i[i] = 0"), "cannot be named 'i'"),
            (("float *x, float *x", "x[i] = 0"), "two arguments are named 'x'"),
            (("float **x", "x[i] = 0"), "pointer to pointers"),
            (("T x", "", "x"), "expected outputs"),
            (("T x", "T z", "z = x", "two words"), "name that C\\+\\+ allows"),
            (("T x, T", "T z", "z = x"), 'such as "float32 x"'),
        ],
    )
    def test_invalid_declaration_raises(self, declared, message):
        with pytest.raises(sw.ArgumentError, match=message):
            sw.ElementwiseKernel(*declared)

    def test_invalid_constructor_arguments_raise(self):
        with pytest.raises(sw.ArgumentError, match="keep="):
            sw.ElementwiseKernel("float *x", "x[i] = 0", keep=True)
        with pytest.raises(TypeError, match="unexpected arguments"):
            sw.ElementwiseKernel("float *x", "x[i] = 0", colour=1)
        with pytest.raises(TypeError, match="missing"):
            sw.ElementwiseKernel("T x")
        with pytest.raises(TypeError, match="as a string"):
            sw.ElementwiseKernel("float *x", 3)
        with pytest.raises(sw.NotSupportedError, match="texture"):
            AXPY.get_texref("x")

    def test_dtype_mismatch_raises_naming_the_argument(self, device):
        x, y = sw.ones(3, "float32", device=device), sw.ones(3, "float64", device=device)
        with pytest.raises(
            sw.DTypeError, match=r"'x'.*expected dtype float32, got float64.*astype"
        ):
            AXPY(x, 1, y, x)
        with pytest.raises(
            sw.DTypeError, match="'y': T is float64 here and float32 in argument 'x'"
        ):
            PICK(x, True, y)
        only_out = sw.ElementwiseKernel("int32 x", "T z", "z = x")
        with pytest.raises(sw.DTypeError, match="no argument determines what T is"):
            only_out(sw.ones(3, "int32", device=device))

    def test_shape_mismatch_raises_naming_the_argument(self, device):
        x, y = sw.ones(3, "float32", device=device), sw.ones((2, 2), "float32", device=device)
        with pytest.raises(ValueError, match=r"axpy.*\(3,\) and \(2, 2\)"):
            AXPY(x, 1, x, y)
        with pytest.raises(sw.LayoutError, match=r"output 'z' has shape \(3,\).*\(2, 3\)"):
            AXPY(x, 1, x, sw.ones((2, 3), "float32", device=device))
        both = sw.ElementwiseKernel("int *a, int *b", "a[i] = 1; b[i] = 2")
        row = sw.zeros(5, "int32", device=device)
        with pytest.raises(sw.LayoutError, match="share memory"):
            both(row[:-1], row[1:])
        with pytest.raises(ValueError, match="size="):
            SUM_INDEX(x, x, size=3)

    def test_numbers_that_lose_their_value_raise(self, device):
        z, x = sw.ones(3, "int32", device=device), sw.ones(3, "float32", device=device)
        count = sw.ElementwiseKernel("int *z, int a", "z[i] = a")
        for bad in (1.5, 1 << 40, 1j):
            with pytest.raises(sw.KernelArgumentError, match="without loss"):
                count(z, bad)
        with pytest.raises(sw.KernelArgumentError, match="expected an array"):
            AXPY(1.0, 1.0, x, x)
        with pytest.raises(sw.KernelArgumentError, match="expected a number, got"):
            AXPY(x, x, x, x)
        with pytest.raises(sw.KernelArgumentError, match="expected 4 arguments, got 2"):
            AXPY(x, 1.0)
        with pytest.raises(sw.ArgumentError, match="pass slices of the arrays"):
            AXPY(x, 1.0, x, x, range=slice(3))
        with pytest.raises(sw.KernelArgumentError, match="unexpected keyword argument 'grid'"):
            AXPY(x, 1.0, x, x, grid=1)

    def test_read_only_output_raises(self, device):
        frozen = np.ones(3, "float32")
        frozen.flags.writeable = False
        with pytest.raises(sw.ReadOnlyError, match="'z'"):
            AXPY(frozen, 1.0, frozen, frozen)

    def test_a_compile_error_shows_the_users_line(self, device):
        broken = sw.ElementwiseKernel("float *x", "int k = i;\nx[i] = k + yy", "broken")
        with pytest.raises(sw.CompileError) as caught:
            broken(sw.ones(3, "float32", device=device))
        message = str(caught.value)
        assert "'yy' is neither an argument" in message and "2 | x[i] = k + yy" in message
        assert "operation of broken" in message
