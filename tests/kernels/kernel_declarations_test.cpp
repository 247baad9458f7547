// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "kernels/fake_device.hpp"
#include "kernels/signature.hpp"
#include "parse/kernel_source.hpp"
#include "spanwise/kernels/source_outline.hpp"

namespace spanwise::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class KernelDeclarationsTest : public KernelsTest {
 protected:
  Kernel kernel(const std::string& parameters) {
    return SourceModule("__global__ void k(" + parameters + ") {}").get_function("k");
  }
  static Kernel bind(const Kernel& function, const std::vector<std::string>& declarations) {
    return function.bind(declarations);
  }
};

TEST_F(KernelDeclarationsTest, ExtendTheParametersReadFromTheSource) {
  const Kernel f = kernel("float *x, const float *y, spanwise::View<int, 2> v, int n");
  EXPECT_EQ(f.parameters()[0].layout, ParameterLayout::raw);
  EXPECT_EQ(f.parameters()[2].layout, ParameterLayout::strided);
  EXPECT_EQ(f.parameters()[3].layout, ParameterLayout::none);
  const Kernel bound =
      bind(f, {"contiguous const float*", "contiguous", "strided int32[2]", "int"});
  EXPECT_EQ(bound.parameters()[0].layout, ParameterLayout::contiguous);
  EXPECT_TRUE(bound.parameters()[0].is_const);
  EXPECT_TRUE(bound.parameters()[1].is_const);
  EXPECT_FALSE(f.parameters()[0].is_const) << "the function itself was changed";
}

TEST_F(KernelDeclarationsTest, GiveTypesToParametersThatHaveNone) {
  const Kernel f = kernel("Handle8 x, Handle4 a, Handle8 y");
  const Kernel bound = bind(f, {"raw const float32*", "float32", "contiguous double*"});
  EXPECT_TRUE(bound.parameters()[0].is_pointer && bound.parameters()[0].is_const);
  EXPECT_EQ(bound.parameters()[2].dtype, float64);
  const Array x = empty({3}, float32, gpu_), y = empty({3}, float64, gpu_);
  bound({}, {KernelArg(x), KernelArg::integer(2), KernelArg(y)});
  EXPECT_EQ(last_launch().value<void*>(0), x.data());
  EXPECT_EQ(last_launch().value<float>(1), 2.0f);
  EXPECT_THROW(bound({}, {KernelArg(y), KernelArg::integer(2), KernelArg(y)}), KernelArgumentError);
}

TEST_F(KernelDeclarationsTest, ThatContradictTheSourceAreRefused) {
  const Kernel f = kernel("float *x, int n");
  for (const std::vector<std::string>& declarations : std::vector<std::vector<std::string>>{
           {"contiguous"}, {"strided", "int"}, {"raw", "double"}, {"raw int*", "int"}, {"", "int"}})
    EXPECT_THROW(bind(f, declarations), KernelArgumentError)
        << ::testing::PrintToString(declarations);
}

TEST_F(KernelDeclarationsTest, CopyOtherLayoutsAroundTheLaunch) {
  const Kernel f = bind(kernel("float *out, const float *x"), {"contiguous", "contiguous"});
  const Array x = empty({2, 3}, float32, gpu_), out = empty({2, 3}, float32, gpu_);
  f({}, {KernelArg(out), KernelArg(x)});
  EXPECT_EQ(last_launch().value<void*>(1), x.data()) << "copied without need";
  f({}, {KernelArg(out), KernelArg(x.transpose())});
  EXPECT_EQ(last_launch().value<void*>(0), out.data());
  EXPECT_NE(last_launch().value<void*>(1), x.data());
  const Array both = x.transpose();
  f({}, {KernelArg(both), KernelArg(both)});
  EXPECT_EQ(last_launch().value<void*>(0), last_launch().value<void*>(1)) << "one array became two";
}

TEST_F(KernelDeclarationsTest, OfATemplateMatchTheInstance) {
  const char* source =
      "typedef double real;\n"
      "template <class T, int N = 2, typename U = float>\n"
      "__global__ void scale(T *x, const U *y, spanwise::View<T, 2> v, T by, real r) {}";
  // Named with all template arguments, and with the first alone.
  const SourceModule module(source, {.names = {"scale<int, 2, real>", "scale<float>"}});
  const Kernel all_named = module.get_function("scale<int, 2, real>");
  EXPECT_EQ(all_named.parameters()[0].dtype, int32);
  EXPECT_EQ(all_named.parameters()[1].dtype, float64);
  EXPECT_TRUE(all_named.parameters()[1].is_const);
  EXPECT_EQ(all_named.parameters()[4].dtype, float64);
  const Kernel one_named = module.get_function("scale<float>");
  EXPECT_EQ(one_named.parameters()[0].dtype, float32);
  EXPECT_FALSE(one_named.parameters()[1].dtype) << "default template arguments are not evaluated";
}

TEST(Signatures, UseTheBinaryForUnknownTypes) {
  const std::vector<runtime::LoadedKernel::ParameterInfo> parameter_info{
      {0, 8}, {8, 8}, {16, 4}, {20, 4}, {24, 12}};
  const char* types = "float*, float const*, float, int, Vec";
  const parse::KernelSource source =
      parse::scan_kernels("__global__ void k(real *out, input x, real a, int n, Vec v) {}");
  const kernels::Signature from_both =
      kernels::make_signature(&source.kernels.at(0), parameter_info, types);
  EXPECT_EQ(from_both.parameters[0].dtype, float32);
  EXPECT_EQ(from_both.parameters[0].type, "real *");
  EXPECT_TRUE(from_both.parameters[1].is_pointer && from_both.parameters[1].is_const);
  EXPECT_EQ(from_both.rules[2].kind, kernels::ParameterRule::Kind::scalar);
  EXPECT_EQ(from_both.rules[4].kind, kernels::ParameterRule::Kind::opaque);

  const kernels::Signature from_binary = kernels::make_signature(nullptr, parameter_info, types);
  EXPECT_EQ(from_binary.parameters[1].type, "float const *");
  EXPECT_EQ(from_binary.parameters[3].dtype, int32);
  // If the count or a size differs from the source's, only the binary's parameter_info are used.
  EXPECT_EQ(kernels::make_signature(nullptr, parameter_info, "float*").parameters[0].type, "");
  EXPECT_EQ(kernels::make_signature(nullptr, parameter_info, "int, float*, int, int, Vec")
                .parameters[0]
                .type,
            "");
}

TEST(KernelTexts, ListTheirKernels) {
  const auto kernels = declared_kernels(
      "namespace n {\ntemplate <class T> __global__ void a(const T *x, int n) { __syncthreads(); "
      "}\n}\n"
      "extern \"C\" __global__ void b() {}");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "n::a");
  EXPECT_EQ(kernels[0].line, 2);
  EXPECT_TRUE(kernels[0].is_template);
  EXPECT_TRUE(kernels[0].has_barrier);
  EXPECT_TRUE(kernels[0].parameters.at(0).is_const);
  EXPECT_EQ(kernels[0].parameters.at(1).dtype, int32);
  EXPECT_TRUE(kernels[1].parameters.empty());
  EXPECT_TRUE(declared_kernels("int main() {}").empty());
}

TEST_F(KernelDeclarationsTest, OccupancyChecksTheBlock) {
  const Kernel f = kernel("int n");
  EXPECT_EQ(f.max_active_blocks(128), 1);
  EXPECT_THROW(f.max_active_blocks(0), KernelArgumentError);
  EXPECT_THROW(f.max_active_blocks(2048), KernelArgumentError);
  EXPECT_THROW(f.max_active_blocks(32, -1), KernelArgumentError);
  EXPECT_EQ(f.occupancy_block_size().threads, 1024);
}

TEST_F(KernelDeclarationsTest, ParametersOfABinaryHaveNoTypes) {
  const std::string image = "__global__ void k(Handle8 x, Handle4 n) {}";
  const Module module = Module::load(std::as_bytes(std::span(image)), gpu_);
  const Kernel f = module.get_function("k");
  EXPECT_EQ(f.parameters()[0].type, "");
  EXPECT_EQ(f.parameters()[1].size, 4);
  EXPECT_THAT(
      message_of<ArgumentError>([&] { Module::load(std::as_bytes(std::span(image)), cpu); }),
      AllOf(HasSubstr("CUDA device"), HasSubstr("SourceModule")));
  EXPECT_THAT(message_of<ArgumentError>(
                  [&] { Module::load_file((folder_.path() / "absent").string(), gpu_); }),
              HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace spanwise::test
