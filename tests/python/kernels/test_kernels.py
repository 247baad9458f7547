# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels from source: compiling, finding, calling, and every error of a call."""

import ctypes
import os
import re
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from support.sanitizers import skip_under_asan

import spanwise as sw

AXPY = r"""
__global__ void axpy(float *out, const float *x, const float *y, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
}
"""

# Writes each scalar as the kernel received it.
SCALARS = r"""
struct Pair { signed char key; float value; };
__global__ void scalars(double *out, int i, long long l, unsigned char c, float f, double d, bool b)
{
    out[0] = i; out[1] = (double)l; out[2] = c; out[3] = f; out[4] = d; out[5] = b;
}
__global__ void pair(double *out, Pair p) { out[0] = p.key; out[1] = p.value; }
__global__ void small(double *out, short s, unsigned long long u) { out[0] = s; out[1] = (double)u; }
__global__ void pointer(double *out, const float *p) { out[0] = p == 0 ? -1 : p[0]; }
"""


@pytest.fixture
def axpy(device):
    return sw.SourceModule(AXPY, device=device).get_function("axpy")


@pytest.fixture
def scalars(device):
    return sw.SourceModule(SCALARS, device=device)


@pytest.fixture
def on_device(device):
    """Makes arrays of the device from NumPy's."""
    return lambda x, **options: sw.array(x, device=device, **options)


@pytest.fixture
def poisoned(on_device):
    """An output filled with a value that no kernel writes."""
    return lambda n, dtype="float64": on_device(np.full(n, 77, dtype))


def random(n, dtype="float32"):
    return np.random.default_rng().standard_normal(n).astype(dtype)


def test_half_bits_are_numbers_on_both_devices(device):
    source = """
        #include <spanwise/half_bits.cuh>
        __global__ void halve(const unsigned short* x, unsigned short* y, int n) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i < n) y[i] = spanwise::half_bits(spanwise::half_to_float(x[i]) * 0.5f);
        }
    """
    halve = sw.SourceModule(source, device=device).get_function("halve")
    values = np.float16([1, 3, 65504, 6e-8, -2.5, np.inf, 0.1])
    x = sw.asarray(values.view("uint16"), device=device)
    y = sw.empty_like(x)
    halve(x, y, np.int32(x.size), block=(32, 1, 1), grid=(1, 1))
    assert y.numpy().view("float16").tolist() == (values * np.float16(0.5)).tolist()


def test_elements_that_c_has_no_type_for_are_read_and_written_on_both_devices(device):
    source = """
        #include <spanwise/half_bits.cuh>
        namespace mine {
        #include <spanwise/elements.cuh>
        #include <spanwise/half_elements.cuh>
        __device__ float number(Half x) { return widened(x); }  // found by the type's namespace
        __device__ float number(BFloat x) { return widened(x); }
        }
        __global__ void apply(const mine::Half* h, const mine::BFloat* b, const mine::Bool* flag,
                              const mine::Complex<double>* z, mine::Half* halves,
                              mine::BFloat* bfloats, mine::Half* of_doubles) {
          int i = threadIdx.x;
          float x = flag[i].byte ? number(h[i]) : number(b[i]);
          halves[i] = mine::narrow_half(x);
          bfloats[i] = mine::narrow_bfloat(x);
          of_doubles[i] = mine::narrow_half(z[i].re + z[i].im);
        }
    """
    apply = sw.SourceModule(source, device=device).get_function("apply")
    floats = np.float32([1.5, -3.140625, 0.25, 70144, np.inf])  # of as many bits as bfloat16 has
    halves = np.float16([0.5, 2, 65504, -6e-8, 7])
    flags = np.array([1, 0, 255, 0, 0], "uint8").view("bool")
    # A double between two halves that a float's rounding would have put in the middle.
    sums = np.complex128([1 + 2**-11 + 2**-40, 1 + 1j, 2**-25 * (1 + 2**-30), 1e300, -2])
    chosen = np.where([True, False, True, False, False], halves.astype("float32"), floats)
    given = [halves.view("uint16"), (floats.view("uint32") >> 16).astype("uint16"), flags, sums]
    results = [sw.zeros(5, dtype="uint16", device=device) for _ in range(3)]
    arrays = [sw.asarray(x, device=device) for x in given]
    apply(*arrays, *results, block=(5, 1, 1), grid=(1, 1))
    with np.errstate(over="ignore"):
        assert results[0].numpy().tolist() == chosen.astype("float16").view("uint16").tolist()
        wanted = (sums.real + sums.imag).astype("float16").view("uint16")
    assert results[2].numpy().tolist() == wanted.tolist()
    # 65504 is the only one that bfloat16 has to round: up, to the next power of two.
    wide = np.where(chosen == 65504, np.float32(65536), chosen)
    assert results[1].numpy().tolist() == (wide.view("uint32") >> 16).tolist()


class TestCalls:
    def test_the_seeds_first_kernel_on_our_arrays(self, on_device):
        """multiply_them(dest, ga, gb, ...); guarded to as many threads as there are elements."""
        module = sw.SourceModule(
            """
            __global__ void multiply_them(float *dest, float *a, float *b)
            {
              const int i = threadIdx.x;
              dest[i] = a[i] * b[i];
            }
            """,
            device=on_device([0.0]).device,
        )
        multiply_them = module.get_function("multiply_them")
        a, b = random(100), random(100)
        ga, gb = on_device(a), on_device(b)
        dest = on_device(np.full(100, np.nan, "float32"))
        multiply_them(dest, ga, gb, block=(100, 1, 1), grid=(1, 1))
        assert (np.asarray(dest) == a * b).all()

    @pytest.mark.parametrize(
        "block",
        [
            128,
            (128,),
            [128, 1],
            (128, 1, 1),
            np.int32(128),
            (np.int64(128), 1),
            np.array([128, 1, 1]),
        ],
    )
    @pytest.mark.parametrize("grid", [8, (8, 1), np.uint8(8)])
    def test_block_and_grid_take_every_spelling(self, axpy, on_device, block, grid):
        x, y = random(1000), random(1000)
        out = on_device(np.full(1000, np.nan, "float32"))
        axpy(out, on_device(x), on_device(y), 2.0, 1000, block=block, grid=grid)
        np.testing.assert_allclose(out.numpy(), 2 * x + y, rtol=1e-6)

    def test_prepared_and_subscripted_calls_do_the_same(self, axpy, device, on_device):
        x, y = random(1000), random(1000)
        stream = sw.Stream(device)
        calls = [
            lambda out, *args: axpy[8, 128](out, *args),
            lambda out, *args: axpy[(8, 1), (128, 1, 1), stream](out, *args),
            lambda out, *args: axpy[8, 128, None, 0](out, *args),
            lambda out, *args: axpy.prepare("PPPfi").prepared_call((8, 1), (128, 1, 1), out, *args),
            lambda out, *args: axpy.prepared_call(8, 128, out, *args, shared_size=16),
            lambda out, *args: axpy.prepared_async_call((8, 1), (128, 1, 1), stream, out, *args),
            lambda out, *args: axpy(out, *args, block=128, grid=8, stream=stream, shared=16),
        ]
        for call in calls:
            out = on_device(np.full(1000, np.nan, "float32"))
            call(out, on_device(x), on_device(y), np.float32(3), np.intc(1000))
            np.testing.assert_allclose(out.numpy(), 3 * x + y, rtol=1e-6, atol=1e-6)

    def test_prepare_checks_types(self, axpy):
        assert axpy.prepare([np.intp, "P", "P", np.float32, np.int32]) is axpy
        with pytest.raises(sw.KernelArgumentError, match="5 argument types, got 2"):
            axpy.prepare("PP")
        with pytest.raises(sw.KernelArgumentError, match="4 bytes for argument 4"):
            axpy.prepare("PPPdi")
        with pytest.raises(sw.KernelArgumentError, match="'!'|'y'"):
            axpy.prepare("PPPfy")

    def test_a_view_passes_its_own_window(self, axpy, on_device):
        x = random((4, 100))
        gx, out = on_device(x), on_device(np.full((4, 100), np.nan, "float32"))
        axpy(out[1], gx[2], gx[3], 1.0, 100, block=100)
        np.testing.assert_allclose(out.numpy()[1], x[2] + x[3], rtol=1e-6)
        assert np.isnan(out.numpy()[[0, 2, 3]]).all()

    def test_shared_memory_and_barriers(self, device, on_device):
        module = sw.SourceModule(
            r"""
            extern __shared__ float tile[];
            __global__ void reverse(float *x)
            {
                tile[threadIdx.x] = x[threadIdx.x];
                __syncthreads();
                x[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
            }
            """,
            device=device,
        )
        x = random(256)
        gx = on_device(x)
        module.get_function("reverse")(gx, block=256, shared=4 * 256)
        np.testing.assert_array_equal(gx.numpy(), x[::-1])

    def test_view_parameter_accepts_any_strides(self, device, on_device):
        module = sw.SourceModule(
            r"""
            #include <spanwise/view.cuh>
            __global__ void twice(spanwise::View<const float, 2> x, spanwise::View<float, 2> out)
            {
                int row = blockIdx.x, column = threadIdx.x;
                out(row, column) = 2 * x(row, column);
            }
            """,
            device=device,
        )
        twice = module.get_function("twice")
        x = random((6, 8))
        gx, out = on_device(x), on_device(np.full((8, 6), np.nan, "float32"))
        twice(gx[::-1, ::2], out.T[:, 1::2], grid=6, block=4)
        np.testing.assert_array_equal(out.numpy().T[:, 1::2], 2 * x[::-1, ::2])
        assert np.isnan(out.numpy().T[:, ::2]).all()
        assert [p.view_rank for p in twice.parameters] == [2, 2]
        with pytest.raises(sw.KernelArgumentError, match="2 axes"):
            twice(gx[0], out, block=1)

    def test_threads_may_call_concurrently(self, axpy, on_device):
        x, y = random(1000), random(1000)
        gx, gy = on_device(x), on_device(y)
        outs = [on_device(np.full(1000, np.nan, "float32")) for _ in range(4)]

        def work(out):
            for _ in range(50):
                axpy(out, gx, gy, 2.0, 1000, block=128, grid=8)

        threads = [threading.Thread(target=work, args=(out,)) for out in outs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        sw.synchronize()
        for out in outs:
            np.testing.assert_allclose(out.numpy(), 2 * x + y, rtol=1e-6)


class TestScalars:
    def check(self, scalars, poisoned, args, expected, kernel="scalars"):
        out = poisoned(6)
        scalars.get_function(kernel)(out, *args, block=1)
        np.testing.assert_array_equal(out.numpy()[: len(expected)], expected)

    def test_python_numbers_are_converted_to_the_parameters_types(self, scalars, poisoned):
        self.check(
            scalars, poisoned, (-5, 2**40, 200, 0.5, 0.1, True), [-5, 2**40, 200, 0.5, 0.1, 1]
        )
        self.check(scalars, poisoned, (True, -1, 0, 3, 7, False), [1, -1, 0, 3, 7, 0])

    def test_numpy_scalars_are_converted_to_the_parameters_types(self, scalars, poisoned):
        args = (
            np.int32(-5),
            np.int64(2**40),
            np.uint8(200),
            np.float16(0.5),
            np.float32(0.25),
            np.bool_(True),
        )
        self.check(scalars, poisoned, args, [-5, 2**40, 200, 0.5, 0.25, 1])
        self.check(
            scalars,
            poisoned,
            (np.int8(3), 4, 5, np.float64(0.5), np.float64(0.1), False),
            [3, 4, 5, 0.5, 0.1, 0],
        )
        self.check(scalars, poisoned, (np.int16(-300), np.uint64(2**63)), [-300, 2.0**63], "small")
        self.check(scalars, poisoned, (-300, 2**64 - 1), [-300, 2.0**64], "small")

    def test_numpy_scalars_met_before(self, scalars, poisoned):
        """The second scalar of a type is read without asking it; so it must be this one's value."""
        for value in (3, 250, 17):
            args = (
                np.int32(-value),
                np.int64(value << 33),
                np.uint8(value),
                np.float16(value / 4),
                np.float32(value / 8),
                np.bool_(value > 9),
            )
            expected = [-value, value << 33, value, value / 4, value / 8, value > 9]
            self.check(scalars, poisoned, args, expected)

    def test_ctypes_values_are_passed(self, scalars, poisoned):
        args = (
            ctypes.c_int(-5),
            ctypes.c_longlong(9),
            ctypes.c_ubyte(7),
            ctypes.c_float(0.5),
            ctypes.c_double(0.1),
            ctypes.c_bool(True),
        )
        self.check(scalars, poisoned, args, [-5, 9, 7, 0.5, 0.1, 1])

    def test_structs_are_passed_if_their_size_matches(self, scalars, poisoned):
        aligned = np.dtype([("key", "i1"), ("value", "f4")], align=True)

        class Pair(ctypes.Structure):
            _fields_ = [("key", ctypes.c_byte), ("value", ctypes.c_float)]

        array = np.zeros(2, aligned)
        array[1] = (-3, 1.5)
        for struct in (array[1], Pair(-3, 1.5), bytes(Pair(-3, 1.5))):
            self.check(scalars, poisoned, (struct,), [-3, 1.5], "pair")
        packed = np.zeros(1, np.dtype([("key", "i1"), ("value", "f4")]))[0]
        with pytest.raises(sw.KernelArgumentError, match="8 bytes.*5 bytes.*align=True"):
            scalars.get_function("pair")(poisoned(6), packed, block=1)

    def test_none_and_addresses_are_passed_as_pointers(self, scalars, poisoned, on_device):
        self.check(scalars, poisoned, (None,), [-1], "pointer")
        self.check(scalars, poisoned, (0,), [-1], "pointer")
        self.check(scalars, poisoned, (ctypes.c_void_p(None),), [-1], "pointer")
        x = on_device(np.float32([0.5, 0.25]))
        for address in (
            x.ptr,
            np.uintp(x.ptr),
            np.intp(x.ptr),
            ctypes.c_void_p(x.ptr),
            ctypes.c_uint64(x.ptr),
        ):
            self.check(scalars, poisoned, (address,), [0.5], "pointer")
        self.check(scalars, poisoned, (x[1:].ptr,), [0.25], "pointer")

    @pytest.mark.parametrize(
        ("args", "text"),
        [
            ((2**31, 0, 0, 0.0, 0.0, True), "argument 2 of 7.*int32.*2147483648"),
            ((-(2**31) - 1, 0, 0, 0.0, 0.0, True), "argument 2"),
            ((1.0, 0, 0, 0.0, 0.0, True), r"argument 2.*real number 1.0.*int\(x\)"),
            ((np.float32(1), 0, 0, 0.0, 0.0, True), "argument 2.*float32"),
            ((0, 2**63, 0, 0.0, 0.0, True), "argument 3.*int64"),
            ((0, 2**64, 0, 0.0, 0.0, True), "argument 3.*64 bits"),
            ((0, 0, 256, 0.0, 0.0, True), "argument 4.*uint8"),
            ((0, 0, -1, 0.0, 0.0, True), "argument 4.*uint8"),
            ((0, 0, 0, 2**24 + 1, 0.0, True), "argument 5.*float32.*16777217"),
            ((0, 0, 0, 1e39, 0.0, True), "argument 5.*float32"),
            ((0, 0, 0, 1j, 0.0, True), "argument 5.*complex128"),
            ((0, 0, 0, 0.0, "1", True), "argument 6.*str"),
            ((0, 0, 0, 0.0, 0.0, 2), "argument 7.*bool"),
            ((0, 0, 0, 0.0, 0.0, None), "argument 7.*bool"),
        ],
    )
    def test_scalars_that_lose_their_value_raise(self, scalars, poisoned, args, text):
        out = poisoned(6)
        with pytest.raises(sw.KernelArgumentError, match=text) as error:
            scalars.get_function("scalars")(out, *args, block=1)
        assert isinstance(error.value, TypeError)
        assert "kernel 'scalars'" in str(error.value)
        assert (out.numpy() == 77).all(), "a refused kernel ran"


class TestRefusals:
    @pytest.fixture
    def args(self, on_device):
        return [on_device(random(8)) for _ in range(3)] + [1.0, 8]

    def refused(self, axpy, args, text, error=sw.KernelArgumentError, **options):
        with pytest.raises(error, match=text) as caught:
            axpy(*args, **{"block": 8, **options})
        assert isinstance(caught.value, sw.Error)
        return str(caught.value)

    def test_wrong_argument_count_raises(self, axpy, args):
        self.refused(axpy, args[:4], r"expected 5 arguments \('float \*out', .*'int n'\), got 4")
        self.refused(axpy, [*args, 1], "got 6")

    def test_wrong_dtype_raises_naming_the_argument(self, axpy, args, on_device):
        args[1] = on_device(random(8, "float64"))
        self.refused(
            axpy,
            args,
            r"argument 2 of 5 \('const float \*x'\): expected a float32 array.*float64 \(8,\).*astype",
        )

    def test_strided_array_for_a_pointer_raises(self, axpy, args, on_device):
        args[1] = on_device(random(16))[::2]
        message = self.refused(axpy, args, r"strides are \(2,\) elements")
        assert "contiguous float32*" in message and "View<T, 1>" in message
        assert "raw, its address x.ptr" in message
        args[1] = on_device(random(8))[::-1]
        self.refused(axpy, args, r"strides are \(-1,\)")

    def test_read_only_array_is_accepted_for_a_pointer_to_const(self, axpy, args, device):
        if device_kind(device) != "cpu":
            pytest.skip("NumPy's read-only arrays are the host's")
        frozen = random(8)
        frozen.flags.writeable = False
        args[1] = frozen
        axpy(*args, block=8)
        args[0] = frozen
        self.refused(axpy, args, "argument 1.*read-only", sw.ReadOnlyError)

    def test_host_array_for_a_device_kernel_and_the_reverse(self, axpy, args, device):
        if device_kind(device) == "cpu":
            gpus = [d for d in sw.devices() if d.kind == "cuda"]
            if not gpus:
                pytest.skip("needs a GPU")
            args[1] = sw.array(random(8), device=gpus[0])
            self.refused(axpy, args, r"argument 2.*on cpu.*on cuda:0")
        else:
            args[1] = random(8)
            message = self.refused(axpy, args, r"argument 2.*on cuda:0.*on cpu")
            assert "sw.driver.In" in message and "sw.array" in message

    def test_invalid_arguments_raise(self, axpy, args):
        for thing in ([1.0] * 8, "text", {}, object()):
            self.refused(axpy, [args[0], thing, *args[2:]], "argument 2 of 5")
        self.refused(axpy, [args[0], 400, *args[2:]], "order of the arguments")

    def test_invalid_block_or_grid_raises(self, axpy, args):
        self.refused(axpy, args, "1024", block=2048)
        self.refused(axpy, args, r"grid.*\(0, 1, 1\).*skip the call", grid=0)
        self.refused(axpy, args, r"block.*\(8, -1, 1\)", block=(8, -1))
        self.refused(axpy, args, r"2\.5.*float.*round", grid=2.5)
        self.refused(axpy, args, "up to three", grid=(1, 1, 1, 1))
        self.refused(axpy, args, "up to three", grid="1")
        self.refused(axpy, args, "up to three", grid=())
        self.refused(axpy, args, r"shared=.*'many'", shared="many")
        with pytest.raises(sw.KernelArgumentError, match="block="):
            axpy(*args)
        self.refused(
            axpy, args, "'blocks'.*block, grid, shared, stream, cooperative and cluster", blocks=8
        )
        with pytest.raises(sw.KernelArgumentError, match=r"f\[grid, block\]"):
            axpy[8]

    def test_shared_memory_beyond_the_devices_limit_raises(self, axpy, args):
        self.refused(axpy, args, "shared", shared=1 << 30)

    def test_stream_of_another_device_raises(self, axpy, args, device):
        others = [d for d in sw.devices() if d != sw.device(device)]
        if not others:
            pytest.skip("needs a second device")
        with pytest.raises(sw.Error, match="stream") as error:
            axpy(*args, block=8, stream=sw.Stream(others[0]))
        assert str(sw.device(device)) in str(error.value)

    def test_unknown_kernel_name_raises_with_suggestions(self, device):
        module = sw.SourceModule(
            AXPY + "template <class T> __global__ void scale(T *x) { x[0] *= 2; }", device=device
        )
        with pytest.raises(sw.ArgumentError, match="'axpi'.*'axpy'"):
            module.get_function("axpi")
        with pytest.raises(sw.ArgumentError, match="template.*names="):
            module.get_function("scale")

    def test_options_that_are_no_lists_raise(self, device):
        for options in ({"options": "-DN=1"}, {"names": "k"}, {"include_dirs": [1]}):
            with pytest.raises(sw.ArgumentError, match="list of strings"):
                sw.SourceModule(AXPY, device=device, **options)


def device_kind(device):
    return sw.device(device).kind


class TestModules:
    def test_templates_by_name_expression(self, device, on_device):
        source = "template <class T, int N> __global__ void add(T *x) { x[threadIdx.x] += N; }"
        module = sw.SourceModule(source, names=["add<float, 3>", "add<double, 4>"], device=device)
        x, y = on_device(np.zeros(4, "float32")), on_device(np.zeros(4, "float64"))
        module.get_function("add<float, 3>")(x, block=4)
        module.get_function("add<double,4>")(y, block=4)
        assert x.tolist() == [3] * 4
        assert y.tolist() == [4] * 4

    def test_parameters_of_an_instance_have_its_types(self, device, on_device):
        source = """
        #include <spanwise/view.cuh>
        typedef double real;
        template <class T, int N> __global__ void put(spanwise::View<T, N> out, const T *x, T a, real r)
        { out(0) = a + x[0] + (T)r; }
        """
        module = sw.SourceModule(
            source, names=["put<float, 1>", "put<long long, 1>"], device=device
        )
        put = module.get_function("put<float, 1>")
        assert [p.dtype.name for p in put.parameters] == [
            "float32",
            "float32",
            "float32",
            "float64",
        ]
        assert put.parameters[0].view_rank == 1 and put.parameters[1].is_const
        for name, dtype in (("put<float, 1>", "float32"), ("put<long long, 1>", "int64")):
            out, x = on_device(np.zeros(2, dtype)), on_device(np.ones(1, dtype))
            module.get_function(name)(out[::-1], x, 3, 2, block=1)  # a Python int, whatever T is
            assert out.tolist() == [0, 6]
        with pytest.raises(sw.KernelArgumentError, match="argument 2.*float32.*float64"):
            put(on_device(np.zeros(2, "float32")), on_device(np.zeros(1)), 3, 2, block=1)

    def test_types_that_a_header_names(self, device, on_device, tmp_path):
        """A Python int for a `real` arrives as a real, whatever file says what that is."""
        (tmp_path / "types.h").write_text("typedef float real;\ntypedef const real *input;\n")
        source = '#include "types.h"\n__global__ void put(real *out, input x, real a, int n) { out[0] = x[0] + a + n; }'
        module = sw.SourceModule(source, include_dirs=[tmp_path], device=device)
        put = module.get_function("put")
        assert [p.type for p in put.parameters] == ["real *", "input", "real", "int"]
        assert [p.dtype.name for p in put.parameters] == ["float32"] * 3 + ["int32"]
        assert [p.is_const for p in put.parameters] == [False, True, False, False]
        out, x = on_device(np.zeros(1, "float32")), on_device(np.ones(1, "float32"))
        put(out, x, 3, 2, block=1)
        assert out.tolist() == [6]
        with pytest.raises(sw.KernelArgumentError, match="argument 2.*float32.*float64"):
            put(out, on_device(np.ones(1)), 3, 2, block=1)

    def test_options_and_include_dirs(self, device, on_device, tmp_path):
        (tmp_path / "amount.cuh").write_text("#define AMOUNT (FACTOR * 2)\n")
        source = '#include "amount.cuh"\n__global__ void fill(int *x) { x[threadIdx.x] = AMOUNT; }'
        for factor in (3, 5):
            module = sw.SourceModule(
                source, options=[f"-DFACTOR={factor}"], include_dirs=[tmp_path], device=device
            )
            x = on_device(np.zeros(4, "int32"))
            module.get_function("fill")(x, block=4)
            assert x.tolist() == [2 * factor] * 4

    def test_a_changed_header_is_noticed(self, device, on_device, tmp_path):
        header = tmp_path / "amount.cuh"
        source = '#include "amount.cuh"\n__global__ void fill(int *x) { x[threadIdx.x] = AMOUNT; }'
        for amount in (1, 22, 1):
            header.write_text(f"#define AMOUNT {amount}\n")
            x = on_device(np.zeros(2, "int32"))
            sw.SourceModule(source, include_dirs=[tmp_path], device=device).get_function("fill")(
                x, block=2
            )
            assert x.tolist() == [amount] * 2

    def test_global_variables_are_views_of_device_memory(self, device, on_device):
        module = sw.SourceModule(
            """
            __constant__ float table[3];
            __device__ int counter;
            __global__ void use(float *out) { out[threadIdx.x] = table[threadIdx.x]; if (threadIdx.x == 0) counter += 1; }
            """,
            device=device,
        )
        table = module.get_global("table")
        assert (table.dtype, table.shape, table.device) == ("uint8", (12,), sw.device(device))
        table.view("float32")[...] = np.float32([1, 2, 3])
        module.get_global("counter").view("int32")[...] = 41
        out = on_device(np.zeros(3, "float32"))
        module.get_function("use")(out, block=3)
        assert out.tolist() == [1, 2, 3]
        assert module.get_global("counter").view("int32").tolist() == [42]
        with pytest.raises(sw.ArgumentError, match="'tabel'"):
            module.get_global("tabel")

    @pytest.mark.parametrize("where", ["source", "header", "linked"])
    def test_modules_have_separate_variables(self, device, on_device, tmp_path, where):
        variables = "__device__ int counter = 10;\n"
        kernel = "__global__ void next(int *out) { *out = ++counter; }"
        options = {"device": device}
        source = variables + kernel
        if where == "header":
            (tmp_path / "variables.cuh").write_text(variables)
            source = '#include "variables.cuh"\n' + kernel
            options["include_dirs"] = [tmp_path]
        elif where == "linked":
            source = "__device__ int bump();\n__global__ void next(int *out) { *out = bump(); }"
            options["link"] = [variables + "__device__ int bump() { return ++counter; }"]
        out = on_device(np.zeros((), "int32"))

        def calls(module, count):
            for _ in range(count):
                module.get_function("next")(out, block=1)
            return out.item()

        first, second = (sw.SourceModule(source, **options) for _ in range(2))
        assert (calls(first, 3), calls(second, 1), calls(first, 1)) == (13, 11, 14)
        if where != "linked" or device.kind == "cpu":
            first.get_global("counter").view("int32")[...] = 100
        assert calls(second, 1) == 12
        del first
        third = sw.SourceModule(source, **options)
        assert (calls(third, 1), calls(second, 1)) == (11, 13)

    @skip_under_asan("UBSan opens a pipe to find out whether an address is valid")
    def test_error_names_missing_file_descriptors(self, tmp_path):
        program = """
import os, resource
import spanwise as sw

resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
sw.ones(3, device="cpu")
taken = []
try:
    while True:
        taken.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
refusals = 0
for number in range(20):
    try:
        sw.SourceModule(f"__global__ void k(int* x) {{ *x = {number}; }}", device="cpu")
        break
    except sw.Error as error:
        assert "Too many open files" in str(error), error
        refusals += 1
    os.close(taken.pop())
print("refused first" if 0 < refusals < 20 else refusals)
"""
        folder = tmp_path / "temporary"
        folder.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"TMPDIR": str(folder), "SPANWISE_CACHE_DIR": str(tmp_path / "cache")},
            text=True,
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, "refused first\n"), done.stderr
        assert list(folder.iterdir()) == []

    def test_modules_without_variables_are_loaded_once(self, device):
        source = "__device__ int f(int x) { return x; }\n__global__ void k(int *x) { *x = f(1); }"
        first, second = (sw.SourceModule(source, device=device) for _ in range(2))
        assert first.handle == second.handle

    def test_a_function_outlives_its_module(self, device, on_device):
        kernel = sw.SourceModule(
            "__global__ void one(int *x) { x[0] = 1; }", device=device
        ).get_function("one")
        x = on_device(np.zeros(1, "int32"))
        kernel(x, block=1)
        assert x.tolist() == [1]

    def test_attributes_of_a_kernel(self, axpy, device):
        assert axpy.name == axpy.__name__ == "axpy"
        assert axpy.device == sw.device(device)
        assert [(p.name, p.type, p.size, p.offset) for p in axpy.parameters] == [
            ("out", "float *", 8, 0),
            ("x", "const float *", 8, 8),
            ("y", "const float *", 8, 16),
            ("a", "float", 4, 24),
            ("n", "int", 4, 28),
        ]
        assert [p.is_const for p in axpy.parameters] == [False, True, True, False, False]
        assert axpy.parameters[0].dtype == "float32" and axpy.parameters[4].dtype == "int32"
        assert axpy.attributes.max_threads_per_block == axpy.max_threads_per_block >= 256
        assert axpy.attributes.registers == axpy.num_regs
        assert (axpy.shared_size_bytes, axpy.local_size_bytes, axpy.const_size_bytes) >= (0, 0, 0)
        assert axpy.attributes.architecture == sw.device(device).properties.architecture
        assert re.fullmatch(r"<kernel axpy\(float \*out, .*int n\) on .*>", repr(axpy))
        with pytest.raises(TypeError):
            type(axpy)()


class TestCompileErrors:
    SOURCE = "__global__ void broken(float *x)\n{\n    x[0] = undeclared_name;\n}\n"

    def test_show_the_log_and_the_users_lines(self, device):
        with pytest.raises(sw.CompileError) as caught:
            sw.SourceModule(self.SOURCE, device=device)
        error = caught.value
        assert "undeclared_name" in error.log and "3" in error.log
        numbered = [line for line in error.source.splitlines() if "undeclared_name" in line]
        assert len(numbered) == 1 and re.match(r"\W*3\W", numbered[0]), error.source
        assert error.log.strip() in str(error)
        assert numbered[0].strip() in str(error)

    def test_a_failure_is_not_remembered(self, device, tmp_path):
        header = tmp_path / "fixed_later.cuh"
        source = '#include "fixed_later.cuh"\n__global__ void k(int *x) { x[0] = VALUE; }'
        header.write_text("#define VALUE nonsense\n")
        with pytest.raises(sw.CompileError):
            sw.SourceModule(source, include_dirs=[tmp_path], device=device)
        header.write_text("#define VALUE 1\n")
        assert sw.SourceModule(source, include_dirs=[tmp_path], device=device).function_names == [
            "k"
        ]


class TestCache:
    """Each in a new process, as in a user's program."""

    PROGRAM = textwrap.dedent(
        """
        import sys
        import spanwise as sw
        module = sw.SourceModule("__global__ void k(int *x) { x[0] = 42; }", device=sys.argv[1])
        x = sw.zeros(1, "int32", device=sys.argv[1])
        module.get_function("k")(x, block=1)
        assert x.tolist() == [42]
        info = sw.kernel_cache.info()
        print(module.from_cache, info.hits, info.misses, info.entries, info.problem)
        """
    )

    def run(self, device, folder, **environment):
        process = subprocess.run(
            [sys.executable, "-c", self.PROGRAM, str(sw.device(device))],
            env={**os.environ, "SPANWISE_CACHE_DIR": str(folder), **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert process.returncode == 0, process.stderr
        assert process.stderr == "", process.stderr
        return process.stdout.split()

    def test_second_process_uses_the_disk_cache(self, device, tmp_path):
        assert self.run(device, tmp_path / "c") == ["False", "0", "1", "1"]
        assert self.run(device, tmp_path / "c") == ["True", "1", "0", "1"]

    def test_a_hit_needs_no_compiler(self, device, tmp_path):
        self.run(device, tmp_path / "c")
        if device_kind(device) != "cpu":
            pytest.skip(
                "NVRTC is found where the driver's toolkit is; the C++ tests cover its absence"
            )
        assert (
            self.run(device, tmp_path / "c", PATH="/nonexistent", CXX="/nonexistent/c++")[0]
            == "True"
        )

    def test_broken_files_are_replaced_quietly(self, device, tmp_path):
        self.run(device, tmp_path / "c")
        for file in (tmp_path / "c" / "kernels").iterdir():
            file.write_bytes(b"broken" + file.read_bytes()[10:])
        assert self.run(device, tmp_path / "c")[0] == "False"
        assert self.run(device, tmp_path / "c")[0] == "True"

    def test_a_folder_that_cannot_be_used_costs_only_speed(self, device, tmp_path):
        (tmp_path / "file").write_text("")
        for _ in range(2):
            answer = self.run(device, tmp_path / "file")
            assert answer[:4] == ["False", "0", "1", "0"] and len(answer) > 4

    def test_processes_may_compile_the_same_source_concurrently(self, device, tmp_path):
        answers = []
        threads = [
            threading.Thread(target=lambda: answers.append(self.run(device, tmp_path / "c")))
            for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(answers) == 3
        assert self.run(device, tmp_path / "c")[0] == "True"

    def test_clear_and_path(self, device, tmp_path):
        with sw.config.change(cache_dir=str(tmp_path / "c")):
            sw.SourceModule(f"__global__ void k() {{}} // {os.getpid()} {tmp_path}", device=device)
            info = sw.kernel_cache.info()
            assert info.entries == 1 and info.bytes > 0 and info.problem == ""
            assert sw.kernel_cache.path == info.path == str(tmp_path / "c" / "kernels")
            assert os.stat(info.path).st_mode & 0o777 == 0o700
            sw.kernel_cache.clear()
            assert sw.kernel_cache.info().entries == 0

    def test_no_compiler_names_the_package(self, device, tmp_path):
        if device_kind(device) != "cpu":
            pytest.skip("the toolkit cannot be hidden from a GPU process")
        program = 'import spanwise as sw; sw.SourceModule("__global__ void k() {}", device="cpu")'
        process = subprocess.run(
            [sys.executable, "-c", program],
            env={
                **os.environ,
                "SPANWISE_CACHE_DIR": str(tmp_path),
                "PATH": "/nonexistent",
                "CXX": "",
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert process.returncode != 0
        assert "DeviceError" in process.stderr
        assert "g++" in process.stderr and re.search(r"apt|package", process.stderr), process.stderr


def test_the_gil_is_free_while_a_kernel_runs_on_the_cpu():
    kernel = sw.SourceModule(
        r"""
        __global__ void spin(volatile int *flag)
        {
            for (long long i = 0; i < 3000000000LL && flag[0] == 0; ++i) { }
            flag[1] = flag[0];
        }
        """,
        device="cpu",
    ).get_function("spin")
    flag = np.zeros(2, "int32")
    timer = threading.Timer(0.05, lambda: flag.__setitem__(0, 1))
    timer.start()
    kernel(sw.asarray(flag, device="cpu"), block=1)  # would deadlock if it held the GIL
    timer.join()
    assert flag.tolist() == [1, 1]


def test_numpy_arrays_go_to_cpu_kernels_in_place():
    kernel = sw.SourceModule(AXPY, device="cpu").get_function("axpy")
    x, y, out = random(100), random(100), np.full(100, np.nan, "float32")
    kernel(out, x, y, 2.0, 100, block=128)
    np.testing.assert_allclose(out, 2 * x + y, rtol=1e-6)
