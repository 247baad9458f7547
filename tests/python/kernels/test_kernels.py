# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of kernels of a SourceModule: arguments, grids, streams."""

import threading

import numpy as np
import pytest
from python.kernels.simple_kernels import AXPY, random

import spanwise as sw


@pytest.fixture
def axpy(device):
    return sw.SourceModule(AXPY, device=device).get_function("axpy")


@pytest.fixture
def on_device(device):
    """Makes arrays of the device from NumPy's."""
    return lambda x, **options: sw.array(x, device=device, **options)


def test_half_bits_convert_to_floats_and_back(device):
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


def test_elements_of_types_that_c_lacks_are_read_and_written(device):
    source = """
        #include <spanwise/half_bits.cuh>
        namespace user {  // the types belong to the namespace that includes them
        #include <spanwise/elements.cuh>
        #include <spanwise/half_elements.cuh>
        __device__ float number(Half x) { return widened(x); }  // found by argument-dependent lookup
        __device__ float number(BFloat x) { return widened(x); }
        }
        __global__ void apply(const user::Half* h, const user::BFloat* b, const user::Bool* flag,
                              const user::Complex<double>* z, user::Half* halves,
                              user::BFloat* bfloats, user::Half* of_doubles) {
          int i = threadIdx.x;
          float x = flag[i].byte ? number(h[i]) : number(b[i]);
          halves[i] = user::narrow_half(x);
          bfloats[i] = user::narrow_bfloat(x);
          of_doubles[i] = user::narrow_half(z[i].re + z[i].im);
        }
    """
    apply = sw.SourceModule(source, device=device).get_function("apply")
    floats = np.float32([1.5, -3.140625, 0.25, 70144, np.inf])  # exact in bfloat16
    halves = np.float16([0.5, 2, 65504, -6e-8, 7])
    flags = np.array([1, 0, 255, 0, 0], "uint8").view("bool")
    # The first and third lie next to the middle of two halves: rounding to float first would tie.
    sums = np.complex128([1 + 2**-11 + 2**-40, 1 + 1j, 2**-25 * (1 + 2**-30), 1e300, -2])
    chosen = np.where([True, False, True, False, False], halves.astype("float32"), floats)
    inputs = [halves.view("uint16"), (floats.view("uint32") >> 16).astype("uint16"), flags, sums]
    results = [sw.zeros(5, dtype="uint16", device=device) for _ in range(3)]
    arrays = [sw.asarray(x, device=device) for x in inputs]
    apply(*arrays, *results, block=(5, 1, 1), grid=(1, 1))
    with np.errstate(over="ignore"):
        assert results[0].numpy().tolist() == chosen.astype("float16").view("uint16").tolist()
        expected = (sums.real + sums.imag).astype("float16").view("uint16")
    assert results[2].numpy().tolist() == expected.tolist()
    # 65504 is the only value that bfloat16 rounds: up, to the next power of two.
    rounded = np.where(chosen == 65504, np.float32(65536), chosen)
    assert results[1].numpy().tolist() == (rounded.view("uint32") >> 16).tolist()


class TestCalls:
    def test_first_kernel_of_the_tutorial_on_spanwise_arrays(self, device, on_device):
        """multiply_them(dest, ga, gb, ...), launched with as many threads as there are elements."""
        module = sw.SourceModule(
            """
            __global__ void multiply_them(float *dest, float *a, float *b)
            {
              const int i = threadIdx.x;
              dest[i] = a[i] * b[i];
            }
            """,
            device=device,
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
    def test_block_and_grid_are_integers_or_sequences(self, axpy, on_device, block, grid):
        x, y = random(1000), random(1000)
        out = on_device(np.full(1000, np.nan, "float32"))
        axpy(out, on_device(x), on_device(y), 2.0, 1000, block=block, grid=grid)
        np.testing.assert_allclose(out.numpy(), 2 * x + y, rtol=1e-6)

    def test_prepared_and_subscripted_calls_give_the_same_result(self, axpy, device, on_device):
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
        with pytest.raises(sw.KernelArgumentError, match="got 'y'"):
            axpy.prepare("PPPfy")

    def test_kernel_on_row_views_accesses_only_these_rows(self, axpy, on_device):
        x = random((4, 100))
        gx, out = on_device(x), on_device(np.full((4, 100), np.nan, "float32"))
        axpy(out[1], gx[2], gx[3], 1.0, 100, block=100)
        np.testing.assert_allclose(out.numpy()[1], x[2] + x[3], rtol=1e-6)
        assert np.isnan(out.numpy()[[0, 2, 3]]).all()

    def test_kernel_with_dynamic_shared_memory_reverses_a_block(self, device, on_device):
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

    def test_threads_may_launch_one_kernel_concurrently(self, axpy, on_device):
        x, y = random(1000), random(1000)
        gx, gy = on_device(x), on_device(y)
        outs = [on_device(np.full(1000, np.nan, "float32")) for _ in range(4)]

        def launch(out):
            for _ in range(50):
                axpy(out, gx, gy, 2.0, 1000, block=128, grid=8)

        threads = [threading.Thread(target=launch, args=(out,)) for out in outs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        sw.synchronize()
        for out in outs:
            np.testing.assert_allclose(out.numpy(), 2 * x + y, rtol=1e-6)


def test_gil_is_released_while_a_kernel_runs_on_the_cpu():
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
    kernel(sw.asarray(flag, device="cpu"), block=1)  # with the GIL held, flag[0] would stay 0
    timer.join()
    assert flag.tolist() == [1, 1]


def test_cpu_kernels_use_the_memory_of_numpy_arrays():
    kernel = sw.SourceModule(AXPY, device="cpu").get_function("axpy")
    x, y, out = random(100), random(100), np.full(100, np.nan, "float32")
    kernel(out, x, y, 2.0, 100, block=128)
    np.testing.assert_allclose(out, 2 * x + y, rtol=1e-6)
