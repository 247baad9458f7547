# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Headers of the toolkit, of libcu++ and of host libraries on the CPU, which needs none of them."""

import numpy as np
import pytest
from support.arrays import poisoned
from support.cuda_toolkit import toolkit_headers

import spanwise as sw

HEADERS = [
    "builtin_types.h",
    "channel_descriptor.h",
    "common_functions.h",
    "crt/device_functions.h",
    "crt/host_defines.h",
    "crt/math_functions.h",
    "cuComplex.h",
    "cuda.h",
    "cuda/annotated_ptr",
    "cuda/barrier",
    "cuda/pipeline",
    "cuda_awbarrier_primitives.h",
    "cuda_bf16.h",
    "cuda_device_runtime_api.h",
    "cuda_fp16.h",
    "cuda_fp4.h",
    "cuda_fp6.h",
    "cuda_fp8.h",
    "cuda_pipeline.h",
    "cuda_pipeline_primitives.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "cuda_surface_types.h",
    "cuda_texture_types.h",
    "curand_kernel.h",
    "curand_mrg32k3a.h",
    "device_atomic_functions.h",
    "device_double_functions.h",
    "device_functions.h",
    "device_launch_parameters.h",
    "device_types.h",
    "driver_types.h",
    "host_defines.h",
    "library_types.h",
    "math_constants.h",
    "math_functions.h",
    "mma.h",
    "nvfunctional",
    "sm_20_atomic_functions.h",
    "sm_20_intrinsics.h",
    "sm_30_intrinsics.h",
    "sm_32_atomic_functions.h",
    "sm_32_intrinsics.h",
    "sm_35_atomic_functions.h",
    "sm_35_intrinsics.h",
    "sm_60_atomic_functions.h",
    "sm_61_intrinsics.h",
    "surface_functions.h",
    "surface_indirect_functions.h",
    "surface_types.h",
    "texture_fetch_functions.h",
    "texture_indirect_functions.h",
    "texture_types.h",
    "vector_functions.h",
    "vector_types.h",
    "torch/extension.h",
    "ATen/cuda/CUDAContext.h",
    "c10/cuda/CUDAStream.h",
    "pybind11/pybind11.h",
]


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_all_headers_together(monkeypatch, compiler):
    monkeypatch.setenv("CXX", compiler)
    source = "".join(f"#include <{name}>\n" for name in HEADERS)
    source += "__global__ void k(float* x) { x[threadIdx.x] = rsqrtf(x[threadIdx.x]); }"
    with sw.config.change(launch_blocking=sw.config.launch_blocking):
        x = sw.array(np.full(4, 4.0, "float32"), device="cpu")
        sw.SourceModule(source, device="cpu").get_function("k")(x, block=4)
    assert x.tolist() == [0.5] * 4


@pytest.mark.parametrize("name", HEADERS)
def test_each_header_alone(name):
    source = f"#include <{name}>\n__global__ void k(int* x) {{ x[threadIdx.x] = 7; }}"
    x = poisoned(4, "int32", "cpu")
    sw.SourceModule(source, device="cpu").get_function("k")(x, block=4)
    assert x.tolist() == [7] * 4


def test_handles_of_tensor_maps_are_types():
    """Host code beside a kernel names them; copies by them exist on a GPU only."""
    source = """
#include <cuda.h>
struct Arguments { CUtensorMap map; float* out; };
__global__ void k(float* out) { out[0] = sizeof(CUtensorMap) / alignof(CUtensorMap); }
"""
    kernel = sw.SourceModule(source, device="cpu").get_function("k")
    out = sw.zeros(1, "float32", device="cpu")
    kernel(out, block=1)
    assert out.item() == 2


def compiled(source, device):
    try:
        return sw.SourceModule(source, device=device)
    except sw.CompileError as error:
        if device.kind == "cpu" or not ("could not open" in error.log or "cuda/std" in error.log):
            raise
        pytest.skip("needs CCCL's headers: pip install nvidia-cuda-cccl")


def test_producers_and_consumers_wait_at_barriers(device, compiler):
    source = """
#include <cuda/barrier>
__global__ void k(const int* in, int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> ready, filled;
  __shared__ int buffer[64];
  const int t = threadIdx.x;
  if (t == 0) {
    init(&ready, blockDim.x);
    init(&filled, blockDim.x);
  }
  __syncthreads();
  for (int step = 0; step < 4; ++step) {
    if (t >= 64) {
      ready.arrive_and_wait();
      buffer[t - 64] = in[t - 64 + 64 * step];
      auto token = filled.arrive();
      (void)token;
    } else {
      auto token = ready.arrive();
      (void)token;
      filled.arrive_and_wait();
      out[t * 4 + step] = buffer[63 - t];
    }
  }
}
"""
    x = np.arange(256, dtype="int32")
    out = poisoned(256, "int32", device)
    compiled(source, device).get_function("k")(sw.array(x, device=device), out, block=128)
    np.testing.assert_array_equal(out.get().reshape(64, 4), x.reshape(4, 64)[:, ::-1].T)


PIPELINE = """
#include <cooperative_groups.h>
#include <cuda/pipeline>
__global__ void k(const int* in, int* out) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ int stage[2][64];
  auto block = cooperative_groups::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  const int t = threadIdx.x;
  for (int s = 0; s < 9; ++s) {
    if (s < 8) {
      pipe.producer_acquire();
      cuda::memcpy_async(&stage[s % 2][t], in + 64 * s + t, cuda::aligned_size_t<4>(4), pipe);
      pipe.producer_commit();
    }
    if (s == 0) continue;
    pipe.consumer_wait();
    out[64 * (s - 1) + t] = stage[(s - 1) % 2][63 - t];
    pipe.consumer_release();
  }
}
"""


@pytest.mark.parametrize("check", ["none", "all"])
def test_stages_of_a_pipeline(device, check):
    x = np.arange(512, dtype="int32")
    out = poisoned(512, "int32", device)
    with sw.config.change(kernel_check=check if device.kind == "cpu" else "none"):
        compiled(PIPELINE, device).get_function("k")(sw.array(x, device=device), out, block=64)
        np.testing.assert_array_equal(out.get().reshape(8, 64), x.reshape(8, 64)[:, ::-1])


def test_pipeline_of_one_thread_and_barrier_primitives(device):
    source = """
#include <cuda/pipeline>
#include <cuda_awbarrier_primitives.h>
__global__ void k(const int* in, int* out) {
  __shared__ int tile[32];
  __shared__ __mbarrier_t bar;
  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
  const int t = threadIdx.x;
  if (t == 0) __mbarrier_init(&bar, 32);
  __syncthreads();
  pipe.producer_acquire();
  cuda::memcpy_async(&tile[t], &in[t], cuda::aligned_size_t<4>(4), pipe);
  pipe.producer_commit();
  cuda::pipeline_consumer_wait_prior<0>(pipe);
  __mbarrier_token_t token = __mbarrier_arrive(&bar);
  while (!__mbarrier_test_wait(&bar, token)) {}
  out[t] = tile[31 - t];
  pipe.consumer_release();
}
"""
    x = np.arange(32, dtype="int32")
    out = poisoned(32, "int32", device)
    compiled(source, device).get_function("k")(sw.array(x, device=device), out, block=32)
    assert out.tolist() == x[::-1].tolist()


def test_a_barrier_that_not_all_threads_reach_is_an_error():
    source = """
#include <cuda/barrier>
__global__ void k() {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, 64);
  __syncthreads();
  if (threadIdx.x < 32) bar.arrive_and_wait();
}
"""
    kernel = sw.SourceModule(source, device="cpu").get_function("k")
    with pytest.raises(sw.KernelFaultError, match="cuda::barrier or pipeline in line 7"):
        kernel(block=64)


def test_annotated_pointers(device):
    source = """
#include <cuda/annotated_ptr>
__global__ void k(float* x) {
  cuda::annotated_ptr<float, cuda::access_property::persisting> p{x};
  p[threadIdx.x] = p[threadIdx.x] + 1;
  float* q = cuda::associate_access_property(x, cuda::access_property::streaming{});
  q[threadIdx.x] *= 2;
}
"""
    x = sw.array(np.arange(4, dtype="float32"), device=device)
    compiled(source, device).get_function("k")(x, block=4)
    assert x.tolist() == [2, 4, 6, 8]


def test_functions_of_nvfunctional(device):
    source = """
#include <nvfunctional>
__device__ int twice(int x) { return 2 * x; }
__device__ int apply(const nvstd::function<int(int)>& f, int x) { return f ? f(x) : -1; }
__global__ void k(int* out) {
  const int t = threadIdx.x;
  nvstd::function<int(int)> f = twice, g = [t](int x) { return x + t; }, h = g, none;
  out[t] = apply(f, t) + apply(h, 1) + apply(none, 0);
  h = nullptr;
  f.swap(g);
  if (!h && g(t) != 2 * t) out[t] = 0;
}
"""
    out = poisoned(8, "int32", device)
    with toolkit_headers():
        kernel = sw.SourceModule(source, device=device).get_function("k")
    kernel(out, block=8)
    assert out.tolist() == [3 * t for t in range(8)]


def test_complex_numbers_of_cupy():
    """On a GPU the header is CuPy's own."""
    functions = ["exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "conj"]
    lines = "".join(f"  out[i * 16 + {k}] = {name}(z);\n" for k, name in enumerate(functions))
    source = f"""
#include <cupy/complex.cuh>
__global__ void k(const complex<double>* in, complex<double>* out) {{
  const int i = threadIdx.x;
  const complex<double> z = in[i], w(0.5, -2.0);
{lines}
  out[i * 16 + 11] = z * w + 2.0 * z - w / z + 1;
  out[i * 16 + 12] = complex<double>(abs(z), arg(z));
  out[i * 16 + 13] = pow(z, w);
  out[i * 16 + 14] = thrust::polar(norm(z), z.real());
  out[i * 16 + 15] = z == w || z != z ? 1.0 : complex<double>(complex<float>(z.imag(), real(z)));
}}
"""
    random = np.random.default_rng(6)
    z = random.standard_normal(64) + 1j * random.standard_normal(64)
    z[:4] = [1j, -1j, -2, -2 + 1e-9j]
    out = poisoned((64, 16), "complex128", "cpu")
    sw.SourceModule(source, device="cpu").get_function("k")(
        sw.array(z, device="cpu"), out, block=64
    )
    w = 0.5 - 2j
    swapped = (z.imag + 1j * z.real).astype("complex64").astype("complex128")
    columns = [getattr(np, name)(z) for name in functions]
    columns += [z * w + 2 * z - w / z + 1, abs(z) + 1j * np.angle(z), z**w]
    columns += [abs(z) ** 2 * np.exp(1j * z.real), swapped]
    for k, expected in enumerate(columns):
        np.testing.assert_allclose(
            out.get()[:, k], expected, rtol=1e-12, atol=1e-12, err_msg=str(k)
        )
