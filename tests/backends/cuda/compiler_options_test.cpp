// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "backends/cuda/cuda_compiler.hpp"
#include "spanwise/core/error.hpp"
#include "support/message_of.hpp"

namespace spanwise::cuda {
namespace {

using runtime::CompileRequest;
using testing::Contains;
using testing::HasSubstr;
using testing::Pair;

class CompilerOptions : public CompilerTest {};

TEST_F(CompilerOptions, AnUnknownOptionIsAnArgumentErrorThatNamesIt) {
  CompileRequest request;
  request.options = {"-frobnicate"};
  EXPECT_THAT(test::message_of<ArgumentError>([&] { build(twice, request); }),
              HasSubstr("-frobnicate"));
}

TEST_F(CompilerOptions, OptionsReachTheCompiler) {
  CompileRequest request;
  request.options = {"-D", "VALUE=3", "-DOTHER=4"};
  build("static_assert(VALUE + OTHER == 7, \"\");\n__global__ void k() {}\n", request);
  request.options = {"-std=c++20"};
  build("static_assert(__cplusplus >= 202002L, \"\");\n__global__ void k() {}\n", request);
  build("static_assert(__cplusplus == 201703L, \"\");\n__global__ void k() {}\n");
}

// The headers of NVRTC and of the toolkit use these macro names for template parameters.
TEST_F(CompilerOptions, MacrosAffectOnlyTheUsersSource) {
  CompileRequest request;
  request.options = {"-DT=float", "-DN=3", "-D_Tp=int", "-DScale(x)=((x) * N)", "-DON"};
  const std::string source =
      "#ifndef ON\n#error\n#endif\n"
      "__global__ void k(T* x, _Tp i) { x[i] = Scale(x[i]); }\n";
  EXPECT_THAT(build(source, request).symbols, Contains(Pair("k", "_Z1kPfi")));
  EXPECT_THAT(compile_log(source + "__device__ int line = __LINE__, bad = nonsense;\n", request),
              HasSubstr(".cu(5)"));
  request.options.emplace_back("-D1x");
  EXPECT_THAT(compile_log(source, request), HasSubstr("options(6)"));
}

TEST_F(CompilerOptions, FirstIncludeFollowsTheMacros) {
  const auto folder = std::filesystem::path(testing::TempDir());
  std::ofstream(folder / "sw first.h") << "typedef T element;\n";
  CompileRequest request;
  request.options = {"-include", "sw first.h", "-DT=double", "-I" + folder.string()};
  EXPECT_THAT(build("__global__ void k(element* x) { *x = 1; }\n", request).symbols,
              Contains(Pair("k", "_Z1kPd")));
}

TEST_F(CompilerOptions, StandardHeadersNeedNoHostHeaders) {
  build(
      "#include <assert.h>\n#include <cfloat>\n#include <climits>\n#include <cmath>\n#include "
      "<cstddef>\n"
      "#include <cstdint>\n#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n"
      "#include <cuda_runtime.h>\n#include <device_launch_parameters.h>\n"
      "__global__ void k(float* x, uint8_t a, std::int64_t b, size_t c) {\n"
      "  assert(a < UINT8_MAX && b < INT64_MAX && c < SIZE_MAX);\n"
      "  if (std::isnan(*x)) printf(\"%f\", M_PI + INT_MAX + CHAR_BIT + DBL_MAX + FLT_EPSILON);\n"
      "  x[1] = std::exp(*x) + std::fabs(x[2]) + INFINITY + NAN + make_float4(1, 2, 3, 4).x;\n"
      "  struct S { int a, b; };\n  std::memset(x, 0, offsetof(S, b));\n  std::printf(\"\");\n}\n");
}

TEST_F(CompilerOptions, FunctionsAndConstantsWithoutDeviceAreCompiledForTheDevice) {
  build(
      "const float weights[] = {1, 2};\nfloat half(float x) { return x * weights[0]; }\n"
      "__global__ void k(float* x) { *x = half(*x); }\n");
}

TEST_F(CompilerOptions, ErrorForAMissingHeaderSuggestsIncludeDirs) {
  const auto message = [](const char* source) -> std::string {
    try {
      build(source);
    } catch (const CompileError& error) {
      return error.what();
    }
    return "it compiled";
  };
  EXPECT_THAT(message("#include <image/filters.h>\n__global__ void k() {}\n"),
              testing::AllOf(HasSubstr("no host headers"), HasSubstr("include_dirs")));
}

TEST_F(CompilerOptions, IncludeFoldersAreSearched) {
  std::string folder = (std::filesystem::temp_directory_path() / "spanwise-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::ofstream(folder + "/mine.cuh") << "#define MINE 5\n";
  CompileRequest request;
  request.include_dirs = {folder};
  build("#include \"mine.cuh\"\nstatic_assert(MINE == 5, \"\");\n__global__ void k() {}\n",
        request);
  std::filesystem::remove_all(folder);
}

TEST_F(CompilerOptions, FindsInstalledToolkitHeaders) {
  if (fingerprint("#include <x>").find("headers") == std::string::npos)
    GTEST_SKIP() << "no CUDA headers";
  build(
      "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <stdint.h>\n"
      "__global__ void k(__half* x, __nv_bfloat16* y) { *x = __hadd(*x, *x); *y = *y; }\n");
}

}  // namespace
}  // namespace spanwise::cuda
