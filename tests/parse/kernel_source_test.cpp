// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parse/kernel_source.hpp"

namespace spanwise::parse {
namespace {

using testing::ElementsAre;

std::vector<std::string> names(const KernelSource& source) {
  std::vector<std::string> out;
  for (const SourceKernel& kernel : source.kernels) out.push_back(kernel.qualified_name);
  return out;
}
SourceKernel only_kernel(const std::string& text) {
  const KernelSource source = scan_kernels(text);
  EXPECT_EQ(source.kernels.size(), 1u) << text;
  return source.kernels.empty() ? SourceKernel{} : source.kernels[0];
}
// The parameter of a kernel with this one parameter, in a source that starts with `preamble`.
ParameterDeclaration parameter(const std::string& declaration, const std::string& preamble = "") {
  const SourceKernel kernel = only_kernel(preamble + "\n__global__ void k(" + declaration + ") {}");
  EXPECT_EQ(kernel.parameters.size(), 1u) << declaration;
  return kernel.parameters.empty() ? ParameterDeclaration{} : kernel.parameters[0];
}

TEST(VariableScan, FindsVariablesThatOutliveALaunch) {
  for (const char* text :
       {"__device__ int n;", "__constant__ float table[3];", "static __device__ int n = 1;",
        "__device__ volatile unsigned long long a[4], b;", "namespace x { __managed__ int n; }",
        "__device__ __align__(16) float4 v;", "__device__ pair<int, int> p = {1, 2};",
        "extern __device__ int n;", "__device__ int f() { static int calls; return ++calls; }",
        "__device__ int f(int);\n__constant__ int n;"})
    EXPECT_TRUE(declares_variables(text)) << text;
  for (const char* text :
       {"__device__ int f(int x = 1) { return x; }", "__global__ void k(int* x) { *x = 1; }",
        "static __device__ __forceinline__ float f() { return 0; }",
        "template <int N = 3> __device__ pair<int, N> f();", "// __device__ int n;",
        "struct S { __device__ S& operator=(const S&); __device__ int operator[](int) const; };",
        "__device__ constexpr int n = 3;", "static __shared__ int s[3];",
        "static constexpr int n = 3;", "__device__ __attribute__((noinline)) int f();",
        "const char* s = \"static int n;\";"})
    EXPECT_FALSE(declares_variables(text)) << text;
}

TEST(KernelScan, FindsKernelsWithTheirNamespaces) {
  const KernelSource source = scan_kernels(R"(
    __global__ void plain(int n) {}
    namespace image { namespace filter { __global__ void blur() {} } }
    namespace a::b { inline namespace v1 { __global__ void c() {} } }
    namespace { static __global__ void hidden() {} }
    struct S { void method() { } };
    static inline __global__ void tail() {}
  )");
  EXPECT_THAT(names(source),
              ElementsAre("plain", "image::filter::blur", "a::b::c", "hidden", "tail"));
  EXPECT_EQ(source.kernels[0].line, 2);
  EXPECT_EQ(source.kernels[1].name, "blur");
}

TEST(KernelScan, ReadsLinkageAndTemplatesAndSkipsLaunchBounds) {
  const KernelSource source = scan_kernels(R"(
    extern "C" { __global__ void a(); }
    extern "C" __global__ void b() {}
    template <typename T, int N = (3 > 2)> __global__ void c(T* x) {}
    __global__ __launch_bounds__(256, 2) void d(float* x) {}
    __global__ void __launch_bounds__(256) e(float* x) {}
    #define BOUNDS(n) __launch_bounds__(n)
    __global__ void BOUNDS(128) f(float* x) __attribute__((cold)) {}
    template <> __global__ void c<float>(float* x) {}
    template __global__ void c<int>(int* x);
  )");
  ASSERT_THAT(names(source), ElementsAre("a", "b", "c", "d", "e", "f"));
  EXPECT_TRUE(source.kernels[0].is_extern_c);
  EXPECT_FALSE(source.kernels[0].is_definition);
  EXPECT_TRUE(source.kernels[1].is_extern_c);
  EXPECT_TRUE(source.kernels[2].is_template);
  EXPECT_FALSE(source.kernels[3].is_template);
  EXPECT_FALSE(source.kernels[3].is_extern_c);
  for (int i : {2, 3, 4, 5})
    EXPECT_EQ(source.kernels[static_cast<std::size_t>(i)].parameters.size(), 1u) << i;
}

TEST(KernelScan, JoinsDeclarationAndDefinition) {
  const SourceKernel kernel =
      only_kernel("extern \"C\" __global__ void k(float*);\n\n__global__ void k(float* x) {}");
  EXPECT_TRUE(kernel.is_definition);
  EXPECT_TRUE(kernel.is_extern_c);
  EXPECT_EQ(kernel.parameters[0].name, "x");
  EXPECT_EQ(kernel.line, 3);
}

TEST(KernelScan, IgnoresCommentsStringsAndInactiveCode) {
  EXPECT_THAT(names(scan_kernels("// __global__ void a() {}\n/* __global__ void b() {} */\n"
                                 "const char* s = \"__global__ void c() {}\";\n"
                                 "#if 0\n__global__ void d() {}\n#ifdef X\n#endif\n#else\n"
                                 "__global__ void e() {}\n#endif\n")),
              ElementsAre("e"));
}

TEST(KernelScan, FindsKernelsAfterBracesInSeveralBranches) {
  const KernelSource source = scan_kernels(R"(
    namespace n {
    #ifdef WIDE
    __global__ void k(double* x) {
    #else
    __global__ void k(float* x) {
    #endif
      x[0] = 1;
    }
    __global__ void after() {}
    }
    __global__ void outside() {}
  )");
  EXPECT_THAT(names(source), ElementsAre("n::k", "n::k", "n::after", "outside"));
}

struct ParameterCase {
  const char* text;
  const char* type;
  const char* name;
  bool is_pointer, is_const;
  std::optional<DType> dtype;
};

TEST(KernelScan, ReadsParameters) {
  const ParameterCase cases[] = {
      {"const float *x", "const float *", "x", true, true, float32},
      {"float const* __restrict__ x", "float const *", "x", true, true, float32},
      {"float* const x", "float * const", "x", true, false, float32},
      {"const double x[]", "const double *", "x", true, true, float64},
      {"unsigned long long int n", "unsigned long long int", "n", false, false, uint64},
      {"long n", "long", "n", false, false, int64},
      {"unsigned n", "unsigned", "n", false, false, uint32},
      {"unsigned", "unsigned", "", false, false, uint32},
      {"signed char c", "signed char", "c", false, false, int8},
      {"short int s", "short int", "s", false, false, int16},
      {"const bool flag", "const bool", "flag", false, false, bool_},
      {"size_t n", "size_t", "n", false, false, uint64},
      {"std::uint8_t* p", "std::uint8_t *", "p", true, false, uint8},
      {"const int64_t*", "const int64_t *", "", true, true, int64},
      {"__half* h", "__half *", "h", true, false, float16},
      {"const __nv_bfloat16* b", "const __nv_bfloat16 *", "b", true, true, bfloat16},
      {"cuFloatComplex z", "cuFloatComplex", "z", false, false, complex64},
      {"thrust::complex<double>* z", "thrust::complex<double> *", "z", true, false, complex128},
      {"float2 v", "float2", "v", false, false, std::nullopt},
      {"float4* v", "float4 *", "v", true, false, std::nullopt},
      {"long double d", "long double", "d", false, false, std::nullopt},
      {"const void* p", "const void *", "p", true, true, std::nullopt},
      {"float** p", "float **", "p", true, false, std::nullopt},
      {"float* const* p", "float * const *", "p", true, true, std::nullopt},
      {"const __grid_constant__ Params p", "const __grid_constant__ Params", "p", false, false,
       std::nullopt},
      {"struct Params p", "struct Params", "p", false, false, std::nullopt},
      {"ns::Params", "ns::Params", "", false, false, std::nullopt},
      {"View<float, 2> v", "View<float, 2>", "v", false, false, std::nullopt},
      {"int n = 4", "int", "n", false, false, int32},
  };
  for (const ParameterCase& c : cases) {
    const ParameterDeclaration p = parameter(c.text);
    EXPECT_EQ(p.type, c.type) << c.text;
    EXPECT_EQ(p.name, c.name) << c.text;
    EXPECT_EQ(p.is_pointer, c.is_pointer) << c.text;
    EXPECT_EQ(p.is_const, c.is_const) << c.text;
    EXPECT_EQ(p.dtype, c.dtype) << c.text;
  }
}

TEST(KernelScan, SplitsParametersAtTopLevelCommasOnly) {
  const SourceKernel kernel =
      only_kernel("__global__ void k(View<float, 2> v, int (*f)(int, int), float* x) {}");
  ASSERT_EQ(kernel.parameters.size(), 3u);
  EXPECT_EQ(kernel.parameters[2].name, "x");
  EXPECT_EQ(only_kernel("__global__ void k(void) {}").parameters.size(), 0u);
}

TEST(KernelScan, ResolvesTypeNamesThatAreTheSameInEveryCompilation) {
  EXPECT_EQ(parameter("const real* x", "typedef float real;").dtype, float32);
  EXPECT_EQ(parameter("real* x", "using base = unsigned char; using real = base;").dtype, uint8);
  EXPECT_EQ(parameter("REAL* x", "#define REAL double").dtype, float64);
  const ParameterDeclaration pointer = parameter("const buffer x", "typedef float* buffer;");
  EXPECT_TRUE(pointer.is_pointer);
  EXPECT_FALSE(pointer.is_const);
  EXPECT_EQ(pointer.type, "const buffer");
  // The dtype is unknown where an option or a branch may change it, or a name has two meanings.
  EXPECT_EQ(parameter("REAL* x", "#ifndef REAL\n#define REAL float\n#endif").dtype, std::nullopt);
  EXPECT_EQ(parameter("real* x", "typedef float real; namespace n { typedef double real; }").dtype,
            std::nullopt);
  EXPECT_EQ(parameter("loop x", "typedef loop loop;").dtype, std::nullopt);
}

struct BarrierCase {
  const char* text;
  bool has_barrier;
};

TEST(KernelScan, FollowsCallsToBarriers) {
  const BarrierCase cases[] = {
      {"__global__ void k(float* x) { x[threadIdx.x] = 0; }", false},
      {"__global__ void k() { __syncthreads(); }", true},
      {"__device__ float f(float v) { return __shfl_down_sync(~0u, v, 1); } __global__ void k() { "
       "f(1); }",
       true},
      {"__device__ void f() { __syncthreads(); } __global__ void k() { }", false},
      {"__device__ void g() { __syncwarp(); } __device__ void f() { g(); } __global__ void k() { "
       "f(); }",
       true},
      {"#define WAIT() __syncthreads()\n__global__ void k() { WAIT(); }", true},
      {"#define WAIT __syncthreads();\n__global__ void k() { }", false},
      {"struct S { __device__ void m() { __syncthreads(); } }; __global__ void k() { S s; s.m(); }",
       true},
      {"struct S { __device__ S() { __syncthreads(); } }; __global__ void k() { S s; }", true},
      {"struct S { __device__ void operator()() { __syncthreads(); } }; __global__ void k() { "
       "S{}(); }",
       true},
      {"template <class T> __device__ T f(T v) { return __reduce_add_sync(~0u, v); }\n"
       "__global__ void k() { f<int>(2); }",
       true},
      {"__global__ void k() { auto f = [] { __syncthreads(); }; f(); }", true},
      {"__device__ const auto f = [] __device__ () { __syncthreads(); }; __global__ void k() { "
       "f(); }",
       true},
      {"[[nodiscard]] __device__ int f() { return __ballot_sync(1, 1); } __global__ void k() { }",
       false},
      {"__device__ void f(); __global__ void k() { f(); } __device__ void f() { __syncthreads(); }",
       true},
      {"__global__ void k() { /* __syncthreads(); */ const char* s = \"__syncthreads\"; }", false},
      {"__device__ void f() { f(); } __global__ void k() { f(); }", false},
      {"namespace cg = cooperative_groups; __global__ void k() { cg::this_thread_block().sync(); }",
       true},
  };
  for (const BarrierCase& c : cases)
    EXPECT_EQ(only_kernel(c.text).has_barrier, c.has_barrier) << c.text;
}

TEST(KernelScan, ReportsBarriersOfEachKernel) {
  const KernelSource source = scan_kernels(
      "__global__ void quick(int* x) { x[0] = 1; }\n__global__ void slow(int* x) { "
      "__syncthreads(); x[0] = 1; }");
  ASSERT_EQ(source.kernels.size(), 2u);
  EXPECT_FALSE(source.kernels[0].has_barrier);
  EXPECT_TRUE(source.kernels[1].has_barrier);
}

struct RecursionCase {
  const char* text;
  bool recurses;
};

TEST(KernelScan, FindsRecursionWithAndWithoutNames) {
  const RecursionCase cases[] = {
      {"__device__ int f(int n) { return f(n - 1); } __global__ void k() { f(3); }", true},
      {"__device__ int f(int n) { return g(n); } __device__ int g(int n) { return f(n); } "
       "__global__ void k() { f(3); }",
       true},
      {"struct F { __device__ int operator()(int n) { return (*this)(n - 1); } }; __global__ void "
       "k() { F{}(3); }",
       true},
      {"__global__ void k() { auto f = [](auto self, int n) -> int { return self(self, n - 1); }; "
       "f(f, 3); }",
       true},
      {"__device__ int f(int n, int (*g)(int, int)) { return g(n, n); } __global__ void k() { }",
       false},
      {"__global__ void k(float* x) { x[0] = max(max(x[1], x[2]), x[3]); }", false},
      {"__global__ void k(P p) { size(p.size, p->size); }", false},
      {"struct P { __device__ P& operator=(P p) { return *this; } }; __global__ void k() { P p; }",
       false},
  };
  for (const RecursionCase& c : cases)
    EXPECT_EQ(scan_source(c.text).uses.recurses("k"), c.recurses) << c.text;
}

TEST(KernelScan, ReadsSpecifiersAndTemplateParameters) {
  const auto specifiers = [](const std::string& text) {
    const SourceScan scan = scan_source(text);
    return scan.sites.empty() ? std::string("no kernel")
                              : std::string(scan.sites[0].specifiers) + "|" +
                                    std::string(scan.sites[0].template_parameters);
  };
  EXPECT_EQ(specifiers("int x; static __global__ void __launch_bounds__(64) k(int* x) {}"),
            "static __global__ void __launch_bounds__(64)|");
  EXPECT_EQ(specifiers("#define N 3\nextern \"C\" __global__ void k() {}"),
            "extern \"C\" __global__ void|");
  EXPECT_EQ(specifiers("template <class T, int N = 3> __global__ void A(N) k(T* x) {}"),
            "__global__ void A(N)|class T, int N = 3");
  EXPECT_EQ(specifiers("__global__\n#if 1\nvoid\n#endif\nk() {}"), "|");
}

TEST(KernelScan, EndsOnMalformedText) {
  for (const char* text :
       {"__global__", "__global__ void", "__global__ void k(", "}}} __global__ void k() {", "#",
        "template <", "namespace {", "#else\n#endif\n", "#define\n", "struct {"}) {
    EXPECT_LE(scan_kernels(text).kernels.size(), 1u) << text;
  }
}

}  // namespace
}  // namespace spanwise::parse
