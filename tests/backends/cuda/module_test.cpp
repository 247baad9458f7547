// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <numeric>

#include "cuda_device.hpp"
#include "support/message_of.hpp"

namespace spanwise::cuda {
namespace {

using runtime::CompileRequest;
using runtime::KernelBinary;
using runtime::LoadedKernel;
using runtime::LoadedModule;
using testing::HasSubstr;

class CudaModules : public CudaTest {};

TEST_F(CudaModules, AKernelRunsWithItsArguments) {
  const Ref<LoadedKernel> scale = load_kernel(
      "__global__ void scale(const float* x, float* y, float a, int n) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = a * x[i];\n}\n",
      "scale");
  std::vector<float> x(1000);
  std::iota(x.begin(), x.end(), 0.5f);
  DeviceBytes from(4000), to(4000);
  from.put(x.data());
  void *p = from.data(), *q = to.data();
  float a = 3;
  int n = 1000;
  void* arguments[] = {&p, &q, &a, &n};
  scale->launch({8}, {128}, 0, *default_stream(), arguments);
  const std::vector<float> y = to.get<float>();
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], 3 * x[i]) << i;
}

TEST_F(CudaModules, SlotsAreThoseOfTheBinary) {
  const Ref<LoadedKernel> kernel = load_kernel(
      "struct S { char c; double d; };\n"
      "__global__ void k(char a, short b, double c, S d, float* e, char f) { *e = a + b + c + d.d "
      "+ f; }\n",
      "k");
  const auto parameter_info = kernel->parameter_info();
  const std::vector<std::pair<int, int>> expected{{0, 1},   {2, 2},  {8, 8},
                                                  {16, 16}, {32, 8}, {40, 1}};
  ASSERT_EQ(parameter_info.size(), expected.size());
  for (std::size_t i = 0; i < parameter_info.size(); ++i) {
    EXPECT_EQ(parameter_info[i].offset, expected[i].first) << i;
    EXPECT_EQ(parameter_info[i].size, expected[i].second) << i;
  }
  EXPECT_TRUE(load_kernel("__global__ void none() {}\n", "none")->parameter_info().empty());
}

TEST_F(CudaModules, AttributesAreThoseOfTheCompiler) {
  const Ref<LoadedKernel> kernel = load_kernel(
      "__global__ void __launch_bounds__(256) k(float* x) {\n"
      "  __shared__ float tile[100];\n  tile[threadIdx.x % 100] = x[threadIdx.x];\n  "
      "__syncthreads();\n"
      "  x[threadIdx.x] = tile[(threadIdx.x + 1) % 100];\n}\n",
      "k");
  const KernelAttributes attributes = kernel->attributes();
  EXPECT_GE(attributes.static_shared_bytes, 400);
  EXPECT_GT(attributes.registers, 0);
  EXPECT_LE(attributes.max_threads_per_block, 256);
  EXPECT_EQ(attributes.architecture, backend().properties(0).architecture);
}

TEST_F(CudaModules, KernelsAreFoundByPlainQualifiedAndMangledName) {
  const Ref<LoadedModule> module = load_module(
      "namespace image { __global__ void blur(float* x) { *x = 1; } }\n"
      "extern \"C\" __global__ void plain(float* x) { *x = 2; }\n"
      "static __global__ void hidden(float* x) { *x = 3; }\n");
  DeviceBytes memory(4);
  const std::vector<std::pair<const char*, float>> names{{"blur", 1.f},
                                                         {"image::blur", 1.f},
                                                         {"_ZN5image4blurEPf", 1.f},
                                                         {"plain", 2.f},
                                                         {"hidden", 3.f}};
  for (const auto& [name, value] : names) {
    launch(*module->kernel(name), 1, *default_stream(), static_cast<float*>(memory.data()));
    EXPECT_EQ(memory.get<float>()[0], value) << name;
  }
  EXPECT_THAT(test::message_of<ArgumentError>([&] { module->kernel("blurr"); }),
              ::testing::AllOf(HasSubstr("blurr"), HasSubstr("image::blur")));
}

TEST_F(CudaModules, VariablesAreFoundReadAndWritten) {
  const Ref<LoadedModule> module = load_module(
      "__constant__ float weights[4];\n__device__ int counter = 3;\n__managed__ int shared_one = "
      "4;\n"
      "namespace ns { static __device__ double hidden = 2.5; }\n"
      "__global__ void k(float* out) { *out = weights[2] + counter + shared_one + ns::hidden; }\n");
  const LoadedModule::Global weights = module->global("weights"),
                             counter = module->global("counter");
  ASSERT_NE(weights.data, nullptr);
  EXPECT_EQ(weights.bytes, 16u);
  EXPECT_EQ(counter.bytes, 4u);
  EXPECT_EQ(module->global("ns::hidden").bytes, 8u);
  EXPECT_EQ(module->global("hidden").data, module->global("ns::hidden").data);
  EXPECT_EQ(module->global("shared_one").bytes, 4u);
  EXPECT_EQ(module->global("missing").data, nullptr);

  const float values[] = {1, 2, 30, 4};
  backend().upload(values, weights.data, sizeof values, *default_stream());
  int count = 0;
  backend().download(counter.data, &count, sizeof count, *default_stream());
  EXPECT_EQ(count, 3);
  DeviceBytes out(4);
  launch(*module->kernel("k"), 1, *default_stream(), static_cast<float*>(out.data()));
  EXPECT_EQ(out.get<float>()[0], 30 + 3 + 4 + 2.5f);
}

TEST_F(CudaModules, TemplatesAreFoundByTheirNameExpressions) {
  CompileRequest request;
  request.names = {"fill<float>", "fill<int>"};
  const std::string text = "template <class T> __global__ void fill(T* p) { *p = T(2.75); }\n";
  const parse::KernelSource source = parse::scan_kernels(text);
  request.source = &source;
  const KernelBinary binary = backend().compile(0, request);
  const Ref<LoadedModule> module = backend().load(0, binary);
  DeviceBytes memory(4);
  launch(*module->kernel(binary.symbols.at("fill<float>")), 1, *default_stream(), memory.data());
  EXPECT_EQ(memory.get<float>()[0], 2.75f);
  launch(*module->kernel(binary.symbols.at("fill<int>")), 1, *default_stream(), memory.data());
  EXPECT_EQ(memory.get<int>()[0], 2);
}

TEST_F(CudaModules, AKernelKeepsItsModuleLoaded) {
  Ref<LoadedModule> module = load_module("__global__ void k(int* p) { *p = 77; }\n");
  const Ref<LoadedKernel> kernel = module->kernel("k");
  module = nullptr;
  DeviceBytes memory(4);
  launch(*kernel, 1, *default_stream(), static_cast<int*>(memory.data()));
  EXPECT_EQ(memory.get<int>()[0], 77);
}

TEST_F(CudaModules, AKernelThatStillRunsSurvivesItsModule) {
  DeviceBytes memory(4);
  {
    const Ref<LoadedKernel> kernel = load_kernel(
        "__global__ void slow(int* p) {\n  for (int i = 0; i < 200; ++i) __nanosleep(100000);\n  "
        "*p = 88;\n}\n",
        "slow");
    launch(*kernel, 1, *default_stream(), static_cast<int*>(memory.data()));
  }
  EXPECT_EQ(memory.get<int>()[0], 88);
}

TEST_F(CudaModules, PtxIsCompiledByTheDriver) {
  CompileRequest request;
  request.options = {"-arch=compute_80"};
  const Ref<LoadedModule> module = load_module("__global__ void k(int* p) { *p = 55; }\n", request);
  DeviceBytes memory(4);
  launch(*module->kernel("k"), 1, *default_stream(), static_cast<int*>(memory.data()));
  EXPECT_EQ(memory.get<int>()[0], 55);
}

TEST_F(CudaModules, DynamicSharedMemoryMayUseTheDevicesMaximum) {
  const Ref<LoadedKernel> kernel = load_kernel(
      "__global__ void k(int* out, int n) {\n  extern __shared__ int s[];\n"
      "  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = i;\n  __syncthreads();\n"
      "  int sum = 0;\n  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += s[n - 1 - i];\n"
      "  atomicAdd(out, sum);\n}\n",
      "k");
  const std::int64_t max_shared = backend().properties(0).max_shared_bytes_optin;
  ASSERT_GT(max_shared, 49152);
  for (const std::int64_t bytes : {std::int64_t{1024}, std::int64_t{49152} + 1024, max_shared}) {
    DeviceBytes out(4);
    const int zero = 0;
    out.put(&zero);
    int n = static_cast<int>(bytes / 4);
    void* p = out.data();
    void* arguments[] = {&p, &n};
    kernel->launch({}, {256}, bytes, *default_stream(), arguments);
    EXPECT_EQ(out.get<int>()[0], static_cast<int>((std::int64_t{n} * (n - 1) / 2) & 0xffffffff))
        << bytes;
  }
  EXPECT_THROW(kernel->launch({}, {256}, max_shared + 1, *default_stream(), nullptr),
               KernelArgumentError);
}

TEST_F(CudaModules, LaunchesOverALimitAreRefusedBeforeTheyAreQueued) {
  const Ref<LoadedKernel> kernel = copy_int();
  runtime::StreamState& stream = *default_stream();
  EXPECT_THROW(kernel->launch({1}, {2048}, 0, stream, nullptr), KernelArgumentError);
  EXPECT_THROW(kernel->launch({1}, {1, 1, 65}, 0, stream, nullptr), KernelArgumentError);
  EXPECT_THROW(kernel->launch({0}, {1}, 0, stream, nullptr), KernelArgumentError);
  EXPECT_THROW(kernel->launch({1, 65536}, {1}, 0, stream, nullptr), KernelArgumentError);
  EXPECT_THAT(test::message_of<KernelArgumentError>(
                  [&] { kernel->launch({1}, {33, 32}, 0, stream, nullptr); }),
              ::testing::AllOf(HasSubstr("copy_int"), HasSubstr("1056 threads")));
}

TEST_F(CudaModules, ADamagedBinaryIsADeviceErrorWithTheDriversCode) {
  KernelBinary binary;
  for (const char* image : {"\x7f"
                            "ELF nonsense",
                            ".version 9.0\n.target sm_90\nnonsense\n"}) {
    binary.image = image;
    binary.image.resize(4096, '\0');
    try {
      backend().load(0, binary)->kernel("k");
      FAIL() << "loaded";
    } catch (const DeviceError& error) {
      EXPECT_NE(error.code(), 0);
      EXPECT_THAT(error.name(), HasSubstr("CUDA_ERROR_"));
    }
  }
}

TEST_F(CudaModules, PropertiesAreThoseOfTheDevice) {
  const DeviceProperties properties = backend().properties(0);
  EXPECT_FALSE(properties.name.empty());
  EXPECT_THAT(properties.architecture, HasSubstr("sm_"));
  EXPECT_GT(properties.multiprocessors, 0);
  EXPECT_EQ(properties.warp_size, 32);
  EXPECT_GE(properties.max_shared_bytes_optin, properties.max_shared_bytes);
  EXPECT_GT(properties.total_memory, properties.free_memory);
  EXPECT_GT(properties.free_memory, 0);
  EXPECT_THAT(properties.driver, HasSubstr("."));
  EXPECT_THROW(backend().properties(-1), DeviceError);
  EXPECT_THROW(backend().properties(backend().device_count()), DeviceError);
}

}  // namespace
}  // namespace spanwise::cuda
