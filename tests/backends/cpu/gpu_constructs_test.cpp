// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Errors for CUDA C that does not compile for the CPU. Other tests of supported constructs are in
// tests/python/kernels/test_host_execution.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "backends/cpu/cpu_kernels.hpp"

namespace spanwise {
namespace {

using test::CpuKernels;

struct Refusal {
  const char* name;
  const char* source;
  std::vector<const char*> message;
};
std::ostream& operator<<(std::ostream& out, const Refusal& r) { return out << r.name; }

const Refusal refusals[] = {
    {"inline_ptx",
     "__global__ void k(int* out) {\n  asm volatile(\"wgmma.fence.sync.aligned;\");\n}",
     {"kernel.cu:2", "PTX", "asm", "SW_CPU"}},
    {"inline_ptx_under_a_condition",
     "#if __CUDA_ARCH__ >= 300\n__global__ void k(int* out) {\n  asm "
     "volatile(\"wgmma.fence.sync.aligned "
     ";\");\n}\n#endif",
     {"kernel.cu:3", "PTX", "SW_CPU"}},
    {"dynamic_parallelism",
     "__global__ void a() {}\n__global__ void k(int* out) {\n  a<<<1, 32>>>();\n}",
     {"kernel.cu:3", "<<<"}},
    {"levels_of_detail",
     "__global__ void k(float* out, cudaTextureObject_t t) {\n  out[0] = tex2DLayeredLod<float>(t, "
     "0, 0, 0, 1);\n}",
     {"kernel.cu:2", "texture fetches of levels of detail"}},
    {"cubemap_surfaces",
     "__global__ void k(unsigned long long s) {\n  surfCubemapwrite(1, s, 0, 0, 0);\n}",
     {"kernel.cu:2", "surfCubemapwrite"}},
    {"clusters",
     "#include <cooperative_groups.h>\n__global__ void __cluster_dims__(2, 1, 1) k(int* out) {\n  "
     "cooperative_groups::this_cluster().sync();\n}",
     {"kernel.cu:3", "clusters"}},
    {"syntax_error",
     "__global__ void k(int* out) {\n  int x = ;\n}",
     {"kernel.cu:2", "could not compile"}},
    {"undeclared_name",
     "__global__ void k(int* out) {\n\n  out[0] = nowhere;\n}",
     {"kernel.cu:3", "nowhere"}},
    {"undefined_function",
     "__device__ int nowhere(int);\n__global__ void k(int* out) { out[0] = nowhere(1); }",
     {"nowhere"}},
    {"error_behind_a_rewrite",
     "__global__ void k(int* out) {\n  extern __shared__\n    int s[];\n  s[0] = nowhere;\n}",
     {"kernel.cu:4"}},
    {"exceptions", "__global__ void k(int* out) { throw 1; }", {"exception"}},
};

class CpuRefusals : public testing::TestWithParam<Refusal> {};

TEST_P(CpuRefusals, NameTheConstructAndTheLine) {
  try {
    CpuKernels kernels(GetParam().source);
    FAIL() << "expected a CompileError";
  } catch (const CompileError& error) {
    for (const char* part : GetParam().message) EXPECT_THAT(error.what(), testing::HasSubstr(part));
    EXPECT_THAT(error.source(), testing::HasSubstr("    1 | "));
    EXPECT_FALSE(error.log().empty());
  }
}
INSTANTIATE_TEST_SUITE_P(All, CpuRefusals, testing::ValuesIn(refusals),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(CpuNames, MayBeThoseOfCudaFunctions) {
  CpuKernels kernels(
      "__device__ float tex2D(float x) { return x; }\n__global__ void k(float* out) { out[0] = "
      "tex2D(3); }");
  float out = 0;
  kernels.run("k", {}, &out);
  EXPECT_EQ(out, 3);
}

TEST(CpuTemplates, AreCompiledForTheRequestedNames) {
  CpuKernels kernels(
      "namespace n { template <class T, int N> __global__ void scale(T* x) { x[threadIdx.x] *= N; "
      "}\n"
      "template <class T> __global__ void sum(T* x) { __shared__ T s[4]; s[threadIdx.x] = "
      "x[threadIdx.x]; __syncthreads();\n"
      "if (threadIdx.x == 0) x[0] = s[0] + s[1] + s[2] + s[3]; } }",
      {"n::scale<float, 3>", "&n::scale<double,2>", "n::sum<int>"});
  float f[2] = {1, 2};
  kernels.run("n::scale<float, 3>", {{1}, {2}}, &f[0]);
  EXPECT_EQ(f[1], 6);
  double d[2] = {1, 2};
  kernels.run("&n::scale<double,2>", {{1}, {2}}, &d[0]);
  EXPECT_EQ(d[1], 4);
  int i[4] = {1, 2, 3, 4};
  kernels.run("n::sum<int>", {{1}, {4}}, &i[0]);
  EXPECT_EQ(i[0], 10);
  EXPECT_EQ(kernels.binary().symbols.size(), 3u);
}

TEST(CpuTemplates, OfSpecialisationsRunTheSpecialisation) {
  CpuKernels kernels(
      "template <class T> __global__ void k(int* out) { out[0] = 1; }\n"
      "template <> __global__ void k<float>(int* out) { out[0] = 2; }",
      {"k<int>", "k<float>"});
  int out = 0;
  kernels.run("k<float>", {}, &out);
  EXPECT_EQ(out, 2);
  kernels.run("k<int>", {}, &out);
  EXPECT_EQ(out, 1);
}

TEST(CpuNames, OfOverloadsCarryTheirTypes) {
  CpuKernels kernels(
      "__global__ void k(int* out) { out[0] = 1; }\n__global__ void k(int* out, float x) { out[0] "
      "= 2; }");
  int out = 0;
  kernels.run("k(int *, float)", {}, &out, 1.0f);
  EXPECT_EQ(out, 2);
  kernels.run("k(int *)", {}, &out);
  EXPECT_EQ(out, 1);
}

}  // namespace
}  // namespace spanwise
