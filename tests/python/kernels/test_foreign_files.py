# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""CUDA files written for nvcc, with host code, compiled unchanged and compared with NumPy."""

import numpy as np
import pytest

import spanwise as sw


@pytest.fixture
def compile_file(tmp_path, device, compiler):
    """Writes `text` and its headers, name_h= as name.h, to files and compiles them for the device."""

    def compiled(text, **headers):
        for name, contents in headers.items():
            (tmp_path / name.replace("_h", ".h")).write_text(contents)
        (tmp_path / "program.cu").write_text(text)
        return sw.wrap_cu(tmp_path / "program.cu").module(device=device)

    return compiled


@pytest.fixture
def compile_on_cpu(device, compile_file):
    """As compile_file; skips the test on a GPU."""
    if device.kind != "cpu":
        pytest.skip(
            "texture references, the C++ library and the error of grid.sync() are tested on the CPU"
        )
    return compile_file


def values():
    return np.random.default_rng(3).uniform(0.5, 2, 64).astype("float32")


PROGRAM = r"""
#include <cstdio>
#include <cublas_v2.h>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>
#define CHECK(call) { cudaError_t e = (call); if (e != cudaSuccess) { fprintf(stderr, "%d\n", e); exit(1); } }
#define BLOCK 32
using namespace std;

static vector<float> table;
cublasHandle_t handle;
struct Timer {
  cudaEvent_t start, stop;
  map<string, float> times;
  Timer() { cudaEventCreate(&start); }
};
__device__ float square(float x) { return x * x; }
float square(double x);  // the host's
__global__ void scale(float *y, const float *x, float a, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] = a * square(x[i]);
}
template <typename T>
void launch(T *y, const T *x, int n, cudaStream_t stream = 0) {
#ifdef VERBOSE
  if (n > 0) {
#else
  {
#endif
    scale<<<(n + BLOCK - 1) / BLOCK, BLOCK, 0, stream>>>(y, x, 2.0f, n);
  }
  CHECK(cudaGetLastError());
}
template void launch<float>(float *, const float *, int, cudaStream_t);
extern "C" int run(vector<float> &x) { throw runtime_error("{ not a brace"); }
int main(int argc, char **argv) {
  Timer timer;
  ifstream file(argv[1]);
  float *d;
  CHECK(cudaMalloc(&d, 4 * BLOCK));
  launch(d, d, 32);
  cout << "done \" <<< " << endl;
  return 0;
}
"""


def test_host_code_is_left_out(compile_file, device):
    module = compile_file(PROGRAM)
    x = values()
    y = sw.zeros(x.size, dtype="float32", device=device)
    scale = module.get_function("scale")
    scale(y, sw.array(x, device=device), np.float32(3), np.int32(x.size), block=32, grid=2)
    np.testing.assert_allclose(y.numpy(), 3 * x * x, rtol=1e-6)


def test_messages_name_file_and_line_of_the_original(compile_file):
    wrong = PROGRAM.replace("__global__ void scale", "__device__ Missing m;\n__global__ void scale")
    line = wrong[: wrong.index("Missing")].count("\n") + 1
    with pytest.raises(sw.CompileError, match=rf"program\.cu[:(]{line}[:)].*Missing"):
        compile_file(wrong)


def test_functions_without_specifiers_that_kernels_call_are_kept(compile_file, device):
    module = compile_file(
        """
#define HD __host__ __device__
float half_of(float x) { return x / 2; }
constexpr int twice(int n) { return 2 * n; }
HD inline float third(float x) { return half_of(x) / 1.5f; }
struct Pair { float a, b; float sum() const { return a + b; } };
Pair operator+(Pair p, float x) { return {p.a + x, p.b}; }
enum Kind { plain, shifted };
const float offsets[] = {0, 8};
__global__ void k(float *y) {
  Pair p = {half_of(y[threadIdx.x]), third(y[threadIdx.x])};
  y[threadIdx.x] = (p + 1.0f).sum() + twice(3) + offsets[shifted];
}
void unused(FILE *f, MissingType m) { k<<<1, 1>>>(nullptr); }
"""
    )
    x = values()
    y = sw.array(x, device=device)
    module.get_function("k")(y, block=64)
    np.testing.assert_allclose(y.numpy(), x / 2 + x / 3 + 15, rtol=1e-6)


def test_headers_of_the_file_folder_are_included_also_in_function_bodies(compile_file, device):
    module = compile_file(
        """
#include "params.h"
#include "host_part.h"
__global__ void k(float *y) {
  float sum = 0;
#include "body.h"
  y[threadIdx.x] = sum;
}
""",
        params_h="#pragma once\n#define FACTOR 3\nint host_only(Unknown x);\n",
        host_part_h='#include "params.h"\n#include <vector>\nstd::vector<int> make() { return {}; }\n',
        body_h="for (int i = 0; i < FACTOR; ++i) sum += i + threadIdx.x;\n",
    )
    y = sw.zeros(8, dtype="float32", device=device)
    module.get_function("k")(y, block=8)
    assert y.tolist() == [3.0 * t + 3 for t in range(8)]


STANDARD = r"""
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <complex>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <time.h>
#include <tuple>
#include <utility>
using namespace std;
__global__ void k(float *y, const float *x) {
  __shared__ float s[64];
  int i = threadIdx.x;
  array<float, 3> part = {x[i], std::sqrt(x[i]), sinf(x[i])};
  auto [a, b] = std::make_tuple(part[1], part[2]);
  std::swap(a, b);
  complex<float> z(a, b);
  s[i] = max(z.real(), min(z.imag(), 2.0f)) + norm(z) + fminf(x[i], 1.0f) + rsqrtf(x[i]);
  long long ticks = clock() - clock64();
  __syncthreads();
  y[i] = s[63 - i] + (numeric_limits<int>::max() == 2147483647 && ticks < 1e18 ? 0 : NAN);
}
"""


def test_standard_library_in_kernels(compile_on_cpu):
    x = values()
    y = np.zeros_like(x)
    compile_on_cpu(STANDARD).get_function("k")(y, x, block=64)
    a, b = np.sin(x), np.sqrt(x)
    expected = np.maximum(a, np.minimum(b, 2)) + a * a + b * b + np.minimum(x, 1) + 1 / np.sqrt(x)
    np.testing.assert_allclose(y, expected[::-1], rtol=1e-5)


def test_helper_math_of_nvidias_samples_is_replaced(compile_file, device):
    module = compile_file(
        """
#include <helper_cuda.h>
#include <helper_math.h>
__global__ void k(float *y, const float3 *x) {
  float3 v = x[threadIdx.x], w = make_float3(1.0f, 2.0f, 3.0f);
  v += 2.0f * w - v / 4.0f;
  float3 n = normalize(cross(v, w)) + lerp(v, w, 0.25f) * clamp(v, 0.0f, 1.5f);
  y[threadIdx.x] = dot(n, w) + length(v) + make_float3(make_float4(1.0f)).z + fminf(v, w).x;
}
int main() { checkCudaErrors(cudaDeviceSynchronize()); }
"""
    )
    x = np.random.default_rng(5).uniform(-1, 1, (32, 3)).astype("float32")
    y = sw.zeros(32, dtype="float32", device=device)
    module.get_function("k")(y, sw.array(x.reshape(-1), device=device), block=32)
    w = np.array([1, 2, 3.0])
    v = x + 2 * w - x / 4
    cross = np.cross(v, w)
    n = cross / np.linalg.norm(cross, axis=1)[:, None] + (v + (w - v) / 4) * np.clip(v, 0, 1.5)
    expected = n @ w + np.linalg.norm(v, axis=1) + 1 + np.minimum(v, w)[:, 0]
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-4, atol=1e-4)


def test_grid_synchronisation_of_several_blocks_is_an_error(compile_on_cpu):
    module = compile_on_cpu(
        "#include <cooperative_groups.h>\n__global__ void k(int *y) { cooperative_groups::this_grid().sync(); }"
    )
    kernel, y = module.get_function("k"), sw.zeros(4, dtype="int32", device="cpu")
    with (
        sw.config.change(launch_blocking=True),
        pytest.raises(sw.Error, match="synchronisation of a whole grid"),
    ):
        kernel(y, block=2, grid=2)


def test_a_missing_header_is_an_error_with_a_remedy(compile_file):
    with pytest.raises(sw.CompileError, match=r"absent_library\.h(.|\n)*include_dirs"):
        compile_file('#include "absent_library.h"\n__global__ void k() {}')


def test_source_module_without_a_readable_source_raises(tmp_path):
    with pytest.raises(sw.ArgumentError, match="either source, a text, or path"):
        sw.SourceModule(device="cpu")
    with pytest.raises(sw.ArgumentError, match=r"none\.cu, which cannot be read"):
        sw.SourceModule(path=tmp_path / "none.cu", device="cpu")


def test_texture_references_hold_texture_objects(compile_on_cpu):
    module = compile_on_cpu(
        """
texture<float, 2, cudaReadModeElementType> image;
static texture<unsigned char, 1, cudaReadModeNormalizedFloat> levels;
__global__ void k(float *y, int w) {
  int x = threadIdx.x, row = blockIdx.x;
  y[row * w + x] = tex2D(image, x + 0.5f, row + 0.5f) + tex1D(levels, x + 0.5f);
}
"""
    )
    x = np.random.default_rng(2).standard_normal((3, 8)).astype("float32")
    steps = np.arange(8, dtype="uint8") * 30
    y = np.zeros_like(x)
    kernel = module.get_function("k")
    with (
        sw.config.change(launch_blocking=True),
        pytest.raises(sw.Error, match="before a texture object is stored in it"),
    ):
        kernel(y, np.int32(8), block=8, grid=3)
    textures = [
        sw.Texture(sw.array(x, device="cpu")),
        sw.Texture(sw.array(steps, device="cpu"), read="normalized"),
    ]
    for name, texture in zip(("image", "levels"), textures, strict=True):
        module.get_global(name)[:8] = np.frombuffer(np.uint64(int(texture)).tobytes(), "uint8")
    kernel(y, np.int32(8), block=8, grid=3)
    np.testing.assert_allclose(y, x + steps / np.float32(255), rtol=1e-6)


@pytest.mark.parametrize(
    "name",
    [
        'a"b.cu',
        "a\nb.cu",
        "a\rb.cu",
        "a\\b.cu",
        "a\\",
        '"\n#error of a name\n".cu',
        "größe.cu",
        "\udc80.cu",
    ],
    ids=ascii,
)
def test_any_name_of_a_file_or_folder_is_compiled(tmp_path, device, compiler, name):
    """Names of files are in #line and #include directives of the compiled text."""
    folder = tmp_path / name
    folder.mkdir()
    (folder / "h.h").write_text("#define VALUE 3\n")
    (folder / name).write_text(
        '#include "h.h"\n__global__ void k(int *x) { x[threadIdx.x] = VALUE + __LINE__; }\n'
    )
    x = sw.full(4, -1, dtype="int32", device=device)
    sw.SourceModule(path=folder / name, device=device).get_function("k")(x, block=4)
    assert x.tolist() == [5, 5, 5, 5]
    (folder / name).write_text("__global__ void k(int *x) { x[0] = undeclared_name; }\n")
    with pytest.raises(sw.CompileError, match="undeclared_name"):
        sw.SourceModule(path=folder / name, device=device)
