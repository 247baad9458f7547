// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "op_sdk/kernel_declaration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace spanwise::op_sdk {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

KernelOpSpec scale() {
  KernelOpSpec spec;
  spec.name = "scale";
  spec.source = "__global__ void scale(const float *x, float *z, float factor, int n) {}";
  spec.inputs = {"x: contiguous float32[n]"};
  spec.outputs = {"z: contiguous float32[n]"};
  spec.scalars = {{"factor", Scalar(2.0)}};
  return spec;
}

// The error for scale() after `change`.
template <class Change>
std::string error_of(Change&& change) {
  KernelOpSpec spec = scale();
  change(spec);
  try {
    const KernelDeclaration declaration(spec);
  } catch (const ArgumentError& e) {
    return e.what();
  } catch (const DTypeError& e) {
    return e.what();
  }
  return "no error";
}

std::vector<KernelArgument::Kind> kinds(const KernelDeclaration& declaration) {
  std::vector<KernelArgument::Kind> out;
  for (const KernelArgument& argument : declaration.arguments) out.push_back(argument.kind);
  return out;
}

using Kind = KernelArgument::Kind;

TEST(KernelDeclaration, MatchesParametersToDeclaredNames) {
  EXPECT_THAT(kinds(KernelDeclaration(scale())),
              ElementsAre(Kind::input, Kind::output, Kind::scalar, Kind::expression));
  KernelOpSpec spec = scale();
  spec.source = "__global__ void scale(int n, float *z, const float *x) {}";
  EXPECT_THAT(kinds(KernelDeclaration(spec)),
              ElementsAre(Kind::expression, Kind::output, Kind::input));
}

TEST(KernelDeclaration, ParametersWithUndeclaredNamesAreInputsOutputsExtentsInOrder) {
  KernelOpSpec spec = scale();
  spec.scalars.clear();
  spec.source = "__global__ void scale(const float *i0, float *o0, int size) {}";
  EXPECT_THAT(kinds(KernelDeclaration(spec)),
              ElementsAre(Kind::input, Kind::output, Kind::expression));
  EXPECT_THAT(error_of([](KernelOpSpec& s) {
                s.source = "__global__ void scale(const float *x, float *out, int n) {}";
              }),
              HasSubstr("only some parameters of scale(const float * x, float * out, int n)"));
}

TEST(KernelDeclaration, ChoosesTheKernelByNameOrAsTheOnlyOne) {
  KernelOpSpec spec = scale();
  spec.name = "another_name";
  EXPECT_EQ(KernelDeclaration(spec).kernel.name, "scale");
  spec.source += "\n__global__ void other(int n) {}";
  EXPECT_THAT(error_of([&](KernelOpSpec& s) { s = spec; }),
              HasSubstr("the source has no kernel another_name; its kernels are scale, other"));
  spec.kernel = "scale";
  EXPECT_EQ(KernelDeclaration(spec).kernel.name, "scale");
}

TEST(KernelDeclaration, ErrorQuotesTheInvalidText) {
  const auto error_of_input = [](const char* text) {
    return error_of([&](KernelOpSpec& s) { s.inputs = {text}; });
  };
  EXPECT_THAT(error_of_input("x contiguous float32[n]"),
              HasSubstr("expected \"name: layout dtype[extents]\""));
  EXPECT_THAT(error_of_input("2x: contiguous float32[n]"), HasSubstr("\"2x\" is no name"));
  EXPECT_THAT(error_of_input("x: packed float32[n]"), HasSubstr("unknown layout \"packed\""));
  EXPECT_THAT(error_of_input("x: contiguous float33[n]"), HasSubstr("float33"));
  EXPECT_THAT(error_of_input("x: contiguous float32[n"), HasSubstr("\"[\" without \"]\""));
  EXPECT_THAT(error_of_input("x: contiguous float32[n +]"), HasSubstr("at character 4"));
  EXPECT_THAT(error_of_input("x: strided float32"), HasSubstr("at least one axis"));
}

TEST(KernelDeclaration, ResolvesEachName) {
  EXPECT_THAT(error_of([](KernelOpSpec& s) { s.outputs = {"z: contiguous float32[m]"}; }),
              HasSubstr("\"m\" in \"m\" has no value"));
  EXPECT_THAT(error_of([](KernelOpSpec& s) { s.inputs = {"x: contiguous float32[2 * n]"}; }),
              HasSubstr("\"n\" in \"2 * n\" has no value"));
  EXPECT_THAT(error_of([](KernelOpSpec& s) { s.grid = {"cdiv(k, 2)"}; }), HasSubstr("grid"));
  EXPECT_THAT(error_of([](KernelOpSpec& s) { s.shared = "4 * k"; }), HasSubstr("shared"));
  KernelOpSpec spec = scale();
  spec.inputs = {"x: contiguous float32[2 * n, n]"};
  spec.scalars.emplace("k", Scalar(3));
  spec.block = {"k", "n"};
  const KernelDeclaration declaration(spec);
  EXPECT_EQ(declaration.binding.size(), 1u);
  EXPECT_EQ(declaration.binding[0].axis, 1);
  EXPECT_EQ(declaration.checked.size(), 1u);
}

TEST(KernelDeclaration, RefusesNamesWithTwoMeanings) {
  EXPECT_THAT(error_of([](KernelOpSpec& s) { s.outputs = {"x: contiguous float32[n]"}; }),
              HasSubstr("the name x is used twice"));
  EXPECT_THAT(error_of([](KernelOpSpec& s) { s.inputs = {"n: contiguous float32[n]"}; }),
              HasSubstr("n is both an array and an extent"));
}

TEST(KernelDeclaration, ChecksArraysAgainstTheParameters) {
  const auto error_of_parameters = [](const char* parameters) {
    return error_of([&](KernelOpSpec& s) {
      s.source = std::string("__global__ void scale(") + parameters + ") {}";
    });
  };
  EXPECT_THAT(error_of_parameters("const double *x, float *z, float factor, int n"),
              HasSubstr("the array is declared float32, the parameter points to float64"));
  EXPECT_THAT(error_of_parameters("const float *x, const float *z, float factor, int n"),
              HasSubstr("which is const; an output is written"));
  EXPECT_THAT(error_of_parameters("float x, float *z, float factor, int n"),
              HasSubstr("expected a pointer"));
  EXPECT_THAT(error_of_parameters("const float *x, float *z, float *factor, int n"),
              HasSubstr("factor is passed to parameter \"float * factor\""));
  EXPECT_THAT(
      error_of_parameters("spanwise::View<const float, 1> x, float *z, float factor, int n"),
      HasSubstr("declare the array strided"));
  EXPECT_THAT(error_of([](KernelOpSpec& s) { s.inputs = {"x: strided float32[n]"}; }),
              HasSubstr("a pointer cannot carry strides"));
  EXPECT_THAT(error_of([](KernelOpSpec& s) { s.arguments = {"x", "z", "n"}; }),
              HasSubstr("arguments has 3 entries; the kernel is scale(const float * x"));
}

TEST(KernelDeclaration, DtypeLettersAndTemplateParametersNeedAnInput) {
  EXPECT_THAT(error_of([](KernelOpSpec& s) { s.outputs = {"z: contiguous T[n]"}; }),
              HasSubstr("no input has the dtype T"));
  EXPECT_THAT(
      error_of([](KernelOpSpec& s) {
        s.source =
            "template <class U> __global__ void scale(const U *x, U *z, float factor, int n) {}";
      }),
      HasSubstr("no input or scalar determines the template parameter U of scale;"));
}

TEST(KernelDeclaration, ReadsTemplateParameters) {
  const auto names = [](const std::string& source) {
    return template_parameter_names(source, parse::scan_kernels(source).kernels.at(0));
  };
  EXPECT_THAT(names("template <class A> struct S {};\n"
                    "template <typename T, int N, class U = T>\n__global__ void k(T *x) {}"),
              ElementsAre("T", "N"));
  EXPECT_THAT(names("__global__ void k(int *x) {}"), ElementsAre());
}

TEST(KernelDeclaration, LaunchesNeedOneToThreeExtents) {
  EXPECT_THAT(error_of([](KernelOpSpec& s) { s.block = {"1", "1", "1", "1"}; }),
              HasSubstr("block has 4 extents"));
  EXPECT_THAT(error_of([](KernelOpSpec& s) { s.block = {}; }), HasSubstr("got none"));
}

TEST(KernelDeclaration, NeedsAnOutputAndAName) {
  EXPECT_THAT(error_of([](KernelOpSpec& s) { s.outputs = {}; }), HasSubstr("at least one output"));
  EXPECT_THAT(error_of([](KernelOpSpec& s) { s.name = ""; }), HasSubstr("a name for the op"));
}

}  // namespace
}  // namespace spanwise::op_sdk
