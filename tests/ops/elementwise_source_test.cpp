// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The CUDA text of the elementwise operations, compiled for an H200 without one.
#include <gtest/gtest.h>

#include "../../ops/elementwise/cuda/cuda_source.hpp"
#include "backends/cuda/compile/compiler.hpp"
#include "backends/cuda/compile/nvrtc.hpp"
#include "spanwise/error.hpp"

namespace spanwise::ops {
namespace {

std::optional<Signature> signature_for(OpId op, std::span<const DType> dtypes) {
  try {
    return resolve(op, dtypes);
  } catch (const DTypeError&) {
    return {};
  }
}

KernelShape shape_for(const Signature& signature, std::span<const DType> dtypes) {
  KernelShape shape{};
  shape.signature = signature;
  shape.inputs = static_cast<int>(dtypes.size());
  std::copy(dtypes.begin(), dtypes.end(), shape.operands.begin());
  if (signature.swapped) std::swap(shape.operands[0], shape.operands[1]);
  shape.result = signature.result;
  shape.kind = KernelShape::Kind::dense;
  int widest = shape.result.itemsize();
  for (const DType dtype : dtypes) widest = std::max(widest, dtype.itemsize());
  shape.width = std::max(1, 16 / widest);
  return shape;
}

void expect_compiles(const KernelShape& shape) {
  const std::string text = cuda_source(shape);
  const source::KernelSource source = source::scan_kernels(text);
  runtime::CompileRequest request;
  request.source = &source;
  request.options = {"--fmad=false"};
  try {
    EXPECT_TRUE(cuda::compile({9, 0}, request).symbols.contains("run"));
  } catch (const CompileError& error) {
    ADD_FAILURE() << facts(shape.signature.op).name << " of " << shape.operands[0] << ":\n"
                  << error.log() << text.substr(text.rfind("typedef"));
  }
}

class ElementwiseSource : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (cuda::nvrtc::installation()->library.empty()) GTEST_SKIP() << "NVRTC is not installed";
  }
  OpId op() const { return static_cast<OpId>(GetParam()); }
  std::vector<DType> operands(DType dtype) const {
    return std::vector<DType>(static_cast<std::size_t>(facts(op()).inputs), dtype);
  }
};

TEST_P(ElementwiseSource, CompilesForEveryKindOfDtype) {
  for (const DType dtype : {bool_, int16, float16, complex64}) {
    const auto dtypes = operands(dtype);
    const auto signature = signature_for(op(), dtypes);
    // Operations computed in another dtype are tested with that dtype.
    if (signature && signature->compute == dtype) expect_compiles(shape_for(*signature, dtypes));
  }
}

class ElementwiseLayouts : public ElementwiseSource {};

// Strides, a mask, a scalar operand and another result dtype in one kernel.
TEST_P(ElementwiseLayouts, CompileForAnyOfThem) {
  for (const DType dtype : {uint64, bfloat16, float64}) {
    const auto dtypes = operands(dtype);
    const auto signature = signature_for(op(), dtypes);
    if (!signature) continue;
    KernelShape shape = shape_for(*signature, dtypes);
    shape.kind = KernelShape::Kind::strided;
    shape.width = 1;
    shape.rank = 3;
    shape.has_mask = true;
    shape.is_number[static_cast<std::size_t>(shape.inputs - 1)] = true;
    shape.result = complex64;
    expect_compiles(shape);
    shape.kind = KernelShape::Kind::rows;
    shape.width = 2;
    shape.patterns = {shape.inputs > 1 ? AccessPattern::constant : AccessPattern::reversed,
                      AccessPattern::strided};
    shape.has_tail = true;
    shape.has_mask = dtype != uint64;
    expect_compiles(shape);
    shape.kind = KernelShape::Kind::tiles;
    shape.side_s = 64;
    shape.side_t = 16;
    shape.patterns = {AccessPattern::transposed, AccessPattern::contiguous,
                      AccessPattern::transposed_in_packs, AccessPattern::transposed_in_packs};
    expect_compiles(shape);
    break;
  }
}

INSTANTIATE_TEST_SUITE_P(, ElementwiseSource, testing::Range(0, op_count), [](const auto& given) {
  return display_name(static_cast<OpId>(given.param));
});

INSTANTIATE_TEST_SUITE_P(, ElementwiseLayouts, testing::Range(0, op_count, 5),
                         [](const auto& given) {
                           return display_name(static_cast<OpId>(given.param));
                         });

class ElementwiseMixed : public ElementwiseSource {};

TEST_P(ElementwiseMixed, ComparesSignedWithUnsigned) {
  ASSERT_NE(facts(op()).traits & compares, 0u);
  const DType crossed[] = {uint64, int64};
  const auto signature = signature_for(op(), crossed);
  ASSERT_TRUE(signature && signature->mixed && signature->swapped);
  expect_compiles(shape_for(*signature, crossed));
}

INSTANTIATE_TEST_SUITE_P(, ElementwiseMixed,
                         testing::Values(static_cast<int>(OpId::less),
                                         static_cast<int>(OpId::equal)));

TEST(ElementwiseSourceText, ChecksExponents) {
  if (cuda::nvrtc::installation()->library.empty()) GTEST_SKIP() << "NVRTC is not installed";
  for (const auto kind : {KernelShape::Kind::dense, KernelShape::Kind::strided}) {
    const DType dtypes[] = {int64, int64};
    KernelShape shape = shape_for({OpId::power, int64, int64}, dtypes);
    shape.kind = kind;
    shape.width = kind == KernelShape::Kind::dense ? 2 : 1;
    shape.has_mask = true;
    shape.checks_exponent = true;
    expect_compiles(shape);
  }
}

TEST(ElementwiseSourceText, ConvertsBetweenAllDtypes) {
  if (cuda::nvrtc::installation()->library.empty()) GTEST_SKIP() << "NVRTC is not installed";
  for (const DType from : dtypes_in_order) {
    for (const DType to : {bool_, float16, bfloat16}) {
      const DType dtypes[] = {from};
      KernelShape shape = shape_for({OpId::positive, from, from}, dtypes);
      shape.result = to;
      shape.has_mask = to == bool_;
      expect_compiles(shape);
    }
  }
}

}  // namespace
}  // namespace spanwise::ops
