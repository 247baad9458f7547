// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "backends/cuda/compile/cuda_compiler.hpp"
#include "backends/cuda/compile/cuda_linker.hpp"
#include "backends/cuda/compile/device_image.hpp"
#include "backends/cuda/compile/nvrtc.hpp"
#include "backends/cuda/cuda_compiler.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cuda {
namespace {

using runtime::CompileRequest;
using runtime::KernelBinary;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

class Compiler : public CompilerTest {};

TEST_F(Compiler, CompilesACubinAndFindsKernelsByPlainNames) {
  const KernelBinary binary = build(
      "namespace image { __global__ void blur(const float* x, float* y) { *y = *x; } }\n"
      "extern \"C\" __global__ void plain(int* p) { *p = 1; }\n"
      "static __global__ void hidden(int* p) { *p = 2; }\n");
  EXPECT_THAT(binary.image, StartsWith("\x7f"
                                       "ELF"));
  EXPECT_THAT(binary.symbols, Contains(Pair("blur", "_ZN5image4blurEPKfPf")));
  EXPECT_THAT(binary.symbols, Contains(Pair("image::blur", "_ZN5image4blurEPKfPf")));
  EXPECT_THAT(binary.symbols, Contains(Pair("plain", "plain")));
  EXPECT_THAT(binary.symbols, Contains(Key("hidden")));
}

TEST_F(Compiler, LeavesOutHostCodeThatNvrtcDoesNotCompile) {
  const KernelBinary binary = build(
      "#include <iostream>\n#include <sys/time.h>\n#include <cublas_v2.h>\n"
      "#include \"helper_cuda.h\"\n#include \"helper_math.h\"\n"
      "cublasHandle_t handle;\n"
      "constexpr int width = 4;\n"
      "__global__ void add(float3* x) { x[threadIdx.x] += make_float3(width); }\n"
      "int main() {\n  std::vector<float3> x(3);\n  add<<<1, 3>>>(x.data());\n"
      "  checkCudaErrors(cudaDeviceSynchronize());\n}\n");
  EXPECT_THAT(binary.symbols, Contains(Pair("add", "_Z3addP6float3")));
}

TEST_F(Compiler, LeavesOutHostCodeOfHeadersThatTheUserWrote) {
  const std::filesystem::path folder = testing::TempDir() + "host_code";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "sizes.h") << "#pragma once\n#include <vector>\n"
                                       "inline std::vector<int> sizes() { return {1}; }\n"
                                       "__device__ inline int twice(int x) { return 2 * x; }\n";
  CompileRequest request;
  request.include_dirs = {folder.string()};
  const KernelBinary binary = build(
      "#include \"sizes.h\"\n"
      "__global__ void scale(int* x) { *x = twice(*x); }\n"
      "void launch(int* x) { scale<<<sizes()[0], 1>>>(x); }\n",
      request);
  EXPECT_THAT(binary.symbols, Contains(Key("scale")));
  std::filesystem::remove_all(folder);
}

TEST_F(Compiler, ErrorsInFilesWithHostCodeNameTheirLine) {
  const std::string log = compile_log(
      "#include <vector>\n"
      "std::vector<int> sizes;\n"
      "__global__ void wrong(int* x) { *x = missing; }\n");
  EXPECT_THAT(log, HasSubstr("kernel.cu(3): error: identifier \"missing\" is undefined"));
  EXPECT_THAT(log, Not(HasSubstr("sizes")));
}

TEST_F(Compiler, CodeThatNoKernelReachesIsNoError) {
  const std::filesystem::path folder = testing::TempDir() + "unreached_code";
  std::filesystem::create_directories(folder / "a");
  std::ofstream(folder / "a" / "tree.h")
      << "#pragma once\n#include \"../a/tree.h\"\n#include <string>\n"
         "struct Tree {\n  float* p;\n  std::string name() const { return \"a\"; }\n"
         "  Missing<int> all();\n  void run() { launch(p, cudaStreamPerThread); }\n"
         "  __device__ void fence() {\n    asm volatile(\"none.such;\");\n  }\n};\n";
  CompileRequest request;
  request.include_dirs = {folder.string()};
  const std::string source =
      "#include \"a/tree.h\"\n"
      "Missing build(int n) { return Missing(n); }\n"
      "__host__ int count() { return missing(3); }\n"
      "#define KERNEL __global__\n"
      "KERNEL void grow(Tree tree) { tree.p[0] = 1; }\n";
  EXPECT_THAT(build(source, request).symbols, Contains(Key("grow")));
  EXPECT_THAT(compile_log(source + "__global__ void wrong(int* x) { *x = missing; }\n", request),
              HasSubstr("kernel.cu(6): error: identifier \"missing\" is undefined"));
  std::filesystem::remove_all(folder);
}

TEST_F(Compiler, LeavesOutUsesOfMacrosThatDefineHostFunctions) {
  EXPECT_THAT(build("#include <string>\nnamespace n {\n"
                    "__global__ void k(int* x) { *x = 1; }\n"
                    "template <int N> int run() { k<<<1, N>>>(nullptr); return N; }\n"
                    "#define DEFINE(n) int run##n() { return run<n>(); }\n"
                    "DEFINE(8)\n}\n")
                  .symbols,
              Contains(Key("n::k")));
}

TEST_F(Compiler, DeclaresOldShufflesAndOperatorsOfCub) {
  const std::string source =
      "#include <cub/cub.cuh>\n"
      "__global__ void k(int* x) { *x = __shfl(*x, 1) + __shfl_xor(*x, 2, 8) + __any(*x); }\n"
      "__global__ void most(float* x) { *x = cub::Max()(x[1], x[2]) + cub::Sum()(1, 2); }\n";
  EXPECT_THAT(build(source).symbols, Contains(Key("most")));
}

TEST_F(Compiler, TextureReferencesHoldTextureObjects) {
  const std::string source =
      "#include <alloca.h>\n"
      "texture<float, 2> image;\n"
      "static texture<unsigned int, 1, cudaReadModeElementType> table;\n"
      "texture<uchar4, 2, cudaReadModeNormalizedFloat> picture;\n"
      "void bind(float* p) { cudaBindTexture(0, image, p, 4); }\n"
      "__global__ void k(float* o, unsigned* u) {\n"
      "  o[0] = tex2D(image, 1.f, 2) + tex2D(picture, 1, 2).x;\n"
      "  u[0] = tex1Dfetch(table, threadIdx.x);\n}\n";
  EXPECT_THAT(build(source).symbols, Contains(Key("k")));
}

TEST_F(Compiler, LeavesOutOperatorsAndHeadersThatOnlyTheHostUses) {
  EXPECT_THAT(build("#include <thrust/device_vector.h>\n#include <functional>\n#include <string>\n"
                    "struct Text { std::string text; };\n"
                    "bool operator<(const Text& a, const Text& b) { return a.text < b.text; }\n"
                    "struct Twice : std::unary_function<int, int> {\n"
                    "  __device__ int operator()(int x) const { return 2 * x; }\n};\n"
                    "__global__ void k(int* x) { register int i = *x; *x = Twice()(i); }\n")
                  .symbols,
              Contains(Key("k")));
}

TEST_F(Compiler, DeclaresWhatNvccIncludesByItself) {
  EXPECT_THAT(build("__global__ void waits() { cudaGridDependencySynchronize(); "
                    "cudaTriggerProgrammaticLaunchCompletion(); }")
                  .symbols,
              Contains(Key("waits")));
  EXPECT_THAT(build("__extension__ typedef long long wide;\n"
                    "__global__ void k(double* x, wide* n) {\n"
                    "  *x = M_PI + INFINITY + NAN + HUGE_VAL;\n"
                    "  *n = INT_MAX + UINT_MAX + UCHAR_MAX + LONG_MAX + LLONG_MAX + CHAR_BIT + "
                    "RAND_MAX;\n}")
                  .symbols,
              Contains(Key("k")));
}

TEST_F(Compiler, FindsKernelsThatTheSourceScanMisses) {
  const KernelBinary binary = build(
      "#if 0\n__global__ void inactive(int* p) {}\n#endif\n"
      "#define KERNEL(n) __global__ void n(int* p) { *p = 1; }\nKERNEL(from_macro)\n"
      "__global__ void over(int* p) { *p = 1; }\n__global__ void over(float* p) { *p = 1; }\n");
  EXPECT_THAT(binary.symbols, Not(Contains(Key("inactive"))));
  EXPECT_THAT(binary.symbols, Contains(Key("from_macro")));
  EXPECT_THAT(binary.symbols, Contains(Key("over(float*)")));
}

TEST_F(Compiler, NameExpressionsInstantiateTemplates) {
  CompileRequest request;
  request.names = {"ns::scale<float>", "&ns::scale< int >"};
  const KernelBinary binary = build(
      "namespace ns { template <class T> __global__ void scale(T* x) { *x *= 2; } }\n", request);
  EXPECT_THAT(binary.symbols, Contains(Pair("ns::scale<float>", "_ZN2ns5scaleIfEEvPT_")));
  EXPECT_THAT(binary.symbols, Contains(Pair("&ns::scale< int >", "_ZN2ns5scaleIiEEvPT_")));
}

TEST_F(Compiler, BinaryContainsVariablesOfAllKinds) {
  const KernelBinary binary = build(
      "__constant__ float unused[4];\n__device__ int counter = 3;\n__managed__ int shared_one;\n"
      "namespace ns { static __device__ double hidden; }\n__global__ void k() { __shared__ int s; "
      "s = 1; }\n");
  const auto names = names_of(read_symbols(binary.image).variables);
  EXPECT_THAT(names, Contains(Key("unused")));
  EXPECT_THAT(names, Contains(Key("counter")));
  EXPECT_THAT(names, Contains(Key("shared_one")));
  EXPECT_THAT(names, Contains(Key("ns::hidden")));
  EXPECT_THAT(names, Not(Contains(Key("s"))));
}

// NVRTC defines this macro for sources that it compiles with "--minimal".
constexpr const char* minimal_only = "\n#ifndef __CUDACC_RTC_MINIMAL__\n#error all\n#endif\n";

TEST_F(Compiler, LeavesOutDeclarationsThatASourceDoesNotUse) {
  const nvrtc::Library& library = nvrtc::library();
  if (!has_minimal_option(library.major, library.minor)) GTEST_SKIP() << "NVRTC before 12.4";
  for (const std::string& source :
       {twice + std::string(minimal_only), text("// # include <cmath>", minimal_only, twice)})
    EXPECT_EQ(compile_log(source), "it compiled");
  EXPECT_THAT(compile_log(twice + std::string("#include <cstdint>") + minimal_only),
              HasSubstr("#error"));
}

TEST_F(Compiler, DeclaresWhatASourceMayUse) {
  for (const char* source :
       {"__global__ void f(float* x, cudaTextureObject_t t) { *x = tex2D<float>(t, 1, 2); }",
        "__global__ void f(float* x, cudaSurfaceObject_t s) { surf1Dread(x, s, 0); }",
        "__global__ void f(int* x) { *x = cudaSuccess; }",
        // Compiles only in the second attempt, with all declarations.
        "#define JOIN(a, b) a##b\n__global__ void f(int* x) { *x = JOIN(cu, daSuccess); }"})
    EXPECT_EQ(compile_log(source), "it compiled") << source;
  EXPECT_THAT(compile_log("#define JOIN(a, b) a##b\n"
                          "__global__ void f(int* x) { *x = JOIN(cu, daSuccess) + missing; }"),
              testing::AllOf(HasSubstr("\"missing\""), Not(HasSubstr("cudaSuccess"))));
}

TEST_F(Compiler, ErrorsCarryTheUsersLinesAndTheNumberedSource) {
  const std::string source = "__global__ void k(int* p) {\n  *p = 1;\n  *q = 2;\n}\n";
  try {
    build(source);
    FAIL() << "it compiled";
  } catch (const CompileError& error) {
    EXPECT_THAT(error.log(), HasSubstr("kernel.cu(3): error: identifier \"q\" is undefined"));
    EXPECT_THAT(error.what(), HasSubstr("kernel.cu does not compile for sm_90"));
    EXPECT_THAT(error.what(), HasSubstr(error.log()));
    EXPECT_THAT(error.source(), HasSubstr("   3 |   *q = 2;\n"));
  }
}

TEST_F(Compiler, KernelsThatLaunchKernelsAreLinkedWithTheDeviceRuntime) {
  if (device_runtime_archive(nvrtc::library().path).empty() || nvjitlink::library() == nullptr)
    GTEST_SKIP() << "the device runtime or nvJitLink is not installed";
  const std::string source =
      "__global__ void child(int* x, int n) { x[threadIdx.x] = n; }\n"
      "__global__ void parent(int* x) { child<<<1, 8>>>(x, 40); }\n";
  const KernelBinary binary = build(source);
  EXPECT_THAT(binary.symbols, Contains(Key("parent")));
  for (const auto& [name, symbol] : binary.symbols)
    EXPECT_THAT(name, Not(HasSubstr("cuda_device_runtime")))
        << "a kernel of the device runtime is listed";
  EXPECT_THAT(compile_log(source + "__device__ int bad = nonsense;\n"), HasSubstr(".cu(3)"));
  EXPECT_THAT(fingerprint(source), HasSubstr("cudadevrt"));
}

TEST_F(Compiler, HostOnlyLaunchNeedsNoDeviceRuntime) {
  const std::string source =
      "__global__ void k(int* x) { *x = 1; }\n"
      "#ifndef __CUDACC_RTC__\nvoid run(int* x) { k<<<1, 1>>>(x); }\n#endif\n";
  EXPECT_LT(build(source).image.size(), 20000u) << "bytes: the device runtime was linked";
}

TEST_F(Compiler, CompilesForAnArchitectureVariantAndToPtxOnRequest) {
  CompileRequest request;
  request.options = {"-arch=sm_90a"};
  EXPECT_THAT(build(twice, request).image, StartsWith("\x7f"
                                                      "ELF"));
  request.options = {"-arch=compute_80"};
  const KernelBinary ptx = build(twice, request);
  EXPECT_THAT(ptx.image, HasSubstr(".target sm_80"));
  EXPECT_THAT(ptx.symbols, Contains(Pair("twice", "_Z5twicePf")));
}

TEST_F(Compiler, CompilesPtxForAGpuNewerThanNvrtc) {
  const parse::KernelSource source = parse::scan_kernels(twice);
  CompileRequest request;
  request.source = &source;
  const KernelBinary binary = compile({99, 0}, request);
  EXPECT_THAT(binary.image,
              HasSubstr(".target sm_" + std::to_string(nvrtc::library().architectures.back())));
}

TEST_F(Compiler, GpuThatNvrtcNoLongerSupportsIsADeviceError) {
  const parse::KernelSource source = parse::scan_kernels(twice);
  CompileRequest request;
  request.source = &source;
  EXPECT_THROW(compile({2, 0}, request), DeviceError);
}

TEST_F(Compiler, CompilesOnManyThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> kernels{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const std::string name = "k" + std::to_string(i);
      kernels += static_cast<int>(build("__global__ void " + name + "() {}\n").symbols.count(name));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(kernels, 4);
}

TEST_F(Compiler, KeepWritesSourceAndBinaryAndNamesTheFolder) {
  CompileRequest request;
  request.keep = true;
  testing::internal::CaptureStderr();
  const KernelBinary binary = build(twice, request);
  const std::string output = testing::internal::GetCapturedStderr();
  const std::size_t at = output.find('/');
  ASSERT_NE(at, std::string::npos) << output;
  const std::filesystem::path folder = output.substr(at, output.find('\n') - at);
  std::ifstream kept(folder / "kernel.cubin", std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(kept), {}), binary.image);
  EXPECT_TRUE(std::filesystem::exists(folder / "kernel.cu"));
  std::filesystem::remove_all(folder);
}

TEST_F(Compiler, FingerprintIsStableAndBeginsWithTheCompiler) {
  const std::string before = fingerprint(twice);
  build(twice);
  EXPECT_EQ(fingerprint(twice), before);
  EXPECT_THAT(before, StartsWith("nvrtc libnvrtc.so"));
  EXPECT_THAT(before, HasSubstr("\ncuda sm_90 "));
  CompileRequest request;
  request.options = {"-arch=sm_90a"};
  EXPECT_THAT(fingerprint(twice, request), HasSubstr("\ncuda sm_90a "));
  EXPECT_THAT(before, Not(HasSubstr("headers")));
}

}  // namespace
}  // namespace spanwise::cuda
