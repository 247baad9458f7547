// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

#include "backends/cpu/cpu_kernels.hpp"

namespace spanwise {
namespace {

using test::CpuKernels;

// Kernels that are compiled or run in different ways: a loop, vector types, library calls, a
// barrier, warp shuffles, a tile, atomics, two dimensions.
const char* const source = R"(
extern "C" __global__ void add(const float* x, const float* y, float* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}
__global__ void add4(const float4* x, const float4* y, float4* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 a = x[i], b = y[i];
  z[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
__global__ void transcendental(const float* x, float* z, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = expf(x[i]) * rsqrtf(x[i] + 2.0f);
}
__global__ void block_sum(const float* x, float* sums, int n) {
  __shared__ float part[256];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = part[0];
}
__device__ float warp_sum(float v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  return v;
}
__global__ void shuffle_sum(const float* x, float* sums, int n) {
  __shared__ float part[32];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  float v = warp_sum(i < n ? x[i] : 0.0f);
  if (t % 32 == 0) part[t / 32] = v;
  __syncthreads();
  if (t < 32) {
    v = warp_sum(t < blockDim.x / 32 ? part[t] : 0.0f);
    if (t == 0) sums[blockIdx.x] = v;
  }
}
__global__ void transpose(const float* x, float* y, int width, int height) {
  __shared__ float tile[32][33];
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (c < width && r + j < height) tile[threadIdx.y + j][threadIdx.x] = x[(r + j) * width + c];
  __syncthreads();
  c = blockIdx.y * 32 + threadIdx.x;
  r = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (c < height && r + j < width) y[(r + j) * height + c] = tile[threadIdx.x][threadIdx.y + j];
}
__global__ void histogram(const unsigned char* x, unsigned* bins, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[x[i]], 1u);
}
__global__ void volume(int* out, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < nx && y < ny && z < nz) out[(z * ny + y) * nx + x] = x + 100 * y + 10000 * z;
}
)";

using Settings = std::tuple<const char*, int, const char*>;  // compiler, threads, thread order

class CpuKernelKinds : public testing::TestWithParam<Settings> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(std::string("/usr/bin/") + std::get<0>(GetParam())))
      GTEST_SKIP() << std::get<0>(GetParam()) << " is not installed";
  }
  std::vector<float> random_numbers(std::size_t count) {
    std::uniform_real_distribution<float> between(-1.0f, 1.0f);
    std::vector<float> numbers(count);
    for (float& x : numbers) x = between(random_);
    return numbers;
  }
  static constexpr float poison = std::numeric_limits<float>::quiet_NaN();

  std::mt19937 random_{7};
  test::EnvironmentVariable compiler_{"CXX", std::get<0>(GetParam())};
  test::SettingGuard threads_{"cpu_threads", std::to_string(std::get<1>(GetParam()))};
  test::SettingGuard order_{"cpu_thread_order", std::get<2>(GetParam())};
};

TEST_P(CpuKernelKinds, ComputeTheExpectedValues) {
  CpuKernels kernels(source);
  const int n = 100003;
  const auto x = random_numbers(static_cast<std::size_t>(n)),
             y = random_numbers(static_cast<std::size_t>(n));
  const std::int64_t blocks = (n + 255) / 256;

  std::vector<float> z(static_cast<std::size_t>(n) + 1, poison);
  kernels.run("add", {{blocks}, {256}}, x.data(), y.data(), z.data(), n);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(z[i], x[i] + y[i]) << i;
  EXPECT_TRUE(std::isnan(z.back())) << "add wrote behind the end";

  std::fill(z.begin(), z.end(), poison);
  kernels.run("add4", {{(n / 4 + 63) / 64}, {64}}, x.data(), y.data(), z.data(), n / 4);
  for (std::size_t i = 0; i < x.size() / 4 * 4; ++i) ASSERT_EQ(z[i], x[i] + y[i]) << i;

  std::fill(z.begin(), z.end(), poison);
  kernels.run("transcendental", {{blocks}, {256}}, x.data(), z.data(), static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_NEAR(z[i], std::exp(double{x[i]}) / std::sqrt(double{x[i]} + 2.0), 2e-6) << i;

  double total = 0;
  for (const float v : x) total += v;
  for (const char* name : {"block_sum", "shuffle_sum"}) {
    std::vector<float> sums(static_cast<std::size_t>(blocks), poison);
    kernels.run(name, {{blocks}, {256}}, x.data(), sums.data(), n);
    double sum = 0;
    for (const float v : sums) sum += v;
    EXPECT_NEAR(sum, total, 1e-2) << name;
  }
}

TEST_P(CpuKernelKinds, WriteEveryElementOfATiledTranspose) {
  CpuKernels kernels(source);
  const int width = 301, height = 187;
  const auto x = random_numbers(static_cast<std::size_t>(width * height));
  std::vector<float> y(x.size(), poison);
  kernels.run("transpose", {{(width + 31) / 32, (height + 31) / 32}, {32, 8}}, x.data(), y.data(),
              width, height);
  for (int r = 0; r < height; ++r)
    for (int c = 0; c < width; ++c)
      ASSERT_EQ(y[static_cast<std::size_t>(c * height + r)],
                x[static_cast<std::size_t>(r * width + c)]);
}

TEST_P(CpuKernelKinds, CountEveryByteOnce) {
  CpuKernels kernels(source);
  std::vector<unsigned char> bytes(200001);
  std::vector<unsigned> expected(256, 0), bins(256, 0);
  for (unsigned char& byte : bytes) {
    byte = static_cast<unsigned char>(random_());
    ++expected[byte];
  }
  kernels.run("histogram", {{40}, {128}}, bytes.data(), bins.data(),
              static_cast<int>(bytes.size()));
  EXPECT_EQ(bins, expected);
}

TEST_P(CpuKernelKinds, ReachEveryElementOfAThreeDimensionalGrid) {
  CpuKernels kernels(source);
  const int nx = 37, ny = 21, nz = 11;
  std::vector<int> out(static_cast<std::size_t>(nx * ny * nz), -1);
  kernels.run("volume", {{5, 6, 3}, {8, 4, 4}}, out.data(), nx, ny, nz);
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x)
        ASSERT_EQ(out[static_cast<std::size_t>((z * ny + y) * nx + x)], x + 100 * y + 10000 * z);
}

TEST(CpuKernelThreads, FreeTheirSignalStackWhenTheyEnd) {
  const test::SettingGuard workers("cpu_threads", "1");
  CpuKernels kernels("__global__ void k(int* out) { *out = 1; }");
  stack_t stack{};
  int out = 0;
  std::thread([&] {
    kernels.run("k", {{1}, {1}}, &out);
    ASSERT_EQ(sigaltstack(nullptr, &stack), 0);
  }).join();
  EXPECT_EQ(out, 1);
  ASSERT_EQ(stack.ss_flags & SS_DISABLE, 0);
  std::vector<unsigned char> pages(stack.ss_size / 4096);
  EXPECT_EQ(mincore(stack.ss_sp, stack.ss_size, pages.data()), -1);
  EXPECT_EQ(errno, ENOMEM);  // not mapped
}

INSTANTIATE_TEST_SUITE_P(AllSettings, CpuKernelKinds,
                         testing::Combine(testing::Values("g++", "clang++"), testing::Values(1, 2),
                                          testing::Values("forward", "reverse")),
                         [](const auto& test) {
                           const std::string compiler = std::get<0>(test.param);
                           return compiler.substr(0, compiler.size() - 2) + "_" +
                                  std::to_string(std::get<1>(test.param)) + "_" +
                                  std::get<2>(test.param);
                         });

}  // namespace
}  // namespace spanwise
