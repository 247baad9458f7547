// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The CUDA text of elementwise programs, compiled for an H200 without one.
#include <gtest/gtest.h>

#include "../../ops/elementwise/elementwise_body.hpp"
#include "spanwise/core/error.hpp"
#include "support/compiled_source.hpp"
#include "support/nvrtc_fixture.hpp"

namespace spanwise::ops {
namespace {

using strided::AccessPattern;
using strided::PlanShape;
using Kind = PlanShape::Kind;

// Every operation that NumPy has for `dtype`: on two inputs of `dtype`, or with the bool input as
// condition.
ElementProgram program_of(DType dtype) {
  ElementProgram program{{dtype, dtype, bool_}, {}, {}};
  for (int i = 0; i < op_count; ++i) {
    const auto op = static_cast<OpId>(i);
    ProgramStep step;
    const bool is_choice = (traits_of(op).traits & first_is_condition) != 0;
    if (is_choice) step.arguments = {2, 0, 1};
    if (!is_choice) step.arguments = {0, 1, 0};
    std::array<DType, max_inputs> dtypes;
    for (int k = 0; k < traits_of(op).inputs; ++k)
      dtypes[static_cast<std::size_t>(k)] =
          program.inputs[static_cast<std::size_t>(step.arguments[static_cast<std::size_t>(k)])];
    try {
      step.signature =
          resolve(op, std::span(dtypes.data(), static_cast<std::size_t>(traits_of(op).inputs)));
    } catch (const DTypeError&) {
      continue;
    }
    if (step.signature.swapped) std::swap(step.arguments[0], step.arguments[1]);
    step.signature.swapped = false;
    program.steps.push_back(step);
  }
  program.outputs = {program.value_count() - 1, 3, program.value_count() / 2};
  return program;
}

PlanShape shape_of(Kind kind, AccessPattern pattern, int width = 2) {
  PlanShape shape{.kind = kind, .width = static_cast<std::uint8_t>(width), .packs = 2, .rank = 3};
  shape.tile_rows = shape.tile_columns = shape.cell_chunks = 32;
  shape.patterns = {AccessPattern::contiguous, pattern, AccessPattern::constant};
  return shape;
}

void expect_compiles(const ElementProgram& program, const PlanShape& shape,
                     std::uint64_t numbers = 0) {
  test::expect_compiles(strided::cuda_source(program_body(program, numbers), shape), {"run"},
                        {.options = {"--fmad=false"}});
}

class ProgramSource : public test::NvrtcTest<testing::TestWithParam<DType>> {};

TEST_P(ProgramSource, OfAllOperationsCompilesForEachLayout) {
  const ElementProgram program = program_of(GetParam());
  ASSERT_GT(program.steps.size(), 10u);
  expect_compiles(program, shape_of(Kind::dense, AccessPattern::contiguous));
  expect_compiles(program, shape_of(Kind::rows, AccessPattern::reversed));
  expect_compiles(program, shape_of(Kind::rows, AccessPattern::strided));
  expect_compiles(program, shape_of(Kind::tiles, AccessPattern::transposed));
  expect_compiles(program, shape_of(Kind::tiles, AccessPattern::transposed_in_packs));
  expect_compiles(program, shape_of(Kind::rows, AccessPattern::strided, 1));
  PlanShape cells = shape_of(Kind::cells, AccessPattern::planes);
  cells.inner = 1;
  expect_compiles(program, cells);
  cells = shape_of(Kind::cells, AccessPattern::cells);
  cells.inner = 2;
  expect_compiles(program, cells);
  cells.has_planes = true;
  expect_compiles(program, cells);
  for (const AccessPattern pattern : {AccessPattern::merged, AccessPattern::merged_in_words}) {
    PlanShape merged = shape_of(Kind::merged, pattern);
    merged.inner = 2;
    expect_compiles(program, merged);
  }
  PlanShape shifted = shape_of(Kind::rows, AccessPattern::unaligned);
  shifted.is_shifted = true;
  expect_compiles(program, shifted);
}

TEST_P(ProgramSource, TakesNumbersByValue) {
  PlanShape shape = shape_of(Kind::dense, AccessPattern::constant);
  shape.patterns[2] = AccessPattern::contiguous;
  expect_compiles(program_of(GetParam()), shape, 2);
}

// Users' bodies beside operations: functions and headers of a preamble, return, several outputs.
ElementProgram program_of_bodies(DType dtype) {
  auto body = std::make_shared<ElementBody>();
  body->op = "scaled";
  body->inputs = {{"x", dtype}, {"flag", bool_}, {"h", float16}};
  body->outputs = {{"z", dtype}, {"less", bool_}};
  body->operation = "z = twice(x) + (T)h; if (flag) return; less = x < (T)h;";
  body->preamble = "__device__ T twice(T x) { return x + x; }";
  body->types = {{"T", dtype}};
  ElementProgram program{{dtype, bool_, float16}, {}, {}};
  for (const int output : {0, 1}) {
    ProgramStep step;
    step.signature = body_signature(body->outputs[static_cast<std::size_t>(output)].dtype);
    step.body = {body, output};
    step.arguments = {0, 1, 2};
    program.steps.push_back(step);
  }
  program.steps.push_back({resolve(OpId::add, std::array{dtype, dtype}), {3, 0}});
  program.outputs = {3, 4, 5};
  return program;
}

TEST_P(ProgramSource, OfUsersBodiesCompilesForEachLayout) {
  if (GetParam().is_complex()) GTEST_SKIP() << "bodies have real dtypes";
  const ElementProgram program = program_of_bodies(GetParam());
  expect_compiles(program, shape_of(Kind::dense, AccessPattern::contiguous));
  expect_compiles(program, shape_of(Kind::rows, AccessPattern::reversed));
  expect_compiles(program, shape_of(Kind::tiles, AccessPattern::transposed));
  PlanShape shape = shape_of(Kind::dense, AccessPattern::constant);
  shape.patterns[2] = AccessPattern::contiguous;
  expect_compiles(program, shape, 2);
}

INSTANTIATE_TEST_SUITE_P(DTypes, ProgramSource,
                         testing::Values(float32, float16, bfloat16, int32, uint8, complex64,
                                         bool_));

TEST(ElementProgramText, NamesValuesUsedSeveralTimes) {
  const OpSignature add = resolve(OpId::add, std::array{float32, float32});
  const OpSignature exp = resolve(OpId::exp, std::array{float32});
  const OpSignature negative = resolve(OpId::negative, std::array{float32});
  const ElementProgram program{{float32, float32},
                               {{add, {0, 1}},
                                {exp, {2}},
                                {negative, {2}},
                                {add, {3, 4}},
                                {cast_signature(float32, float64), {5}}},
                               {6, 3}};
  EXPECT_EQ(program.text(), "t0 = (i0 + i1); t1 = exp(t0); cast{float64}((t1 + (-t0))); t1");
}

}  // namespace
}  // namespace spanwise::ops
