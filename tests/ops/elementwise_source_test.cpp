// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The CUDA text of the elementwise operations, compiled for an H200 without one.
#include <gtest/gtest.h>

#include "../../ops/elementwise/elementwise_body.hpp"
#include "spanwise/core/error.hpp"
#include "support/compiled_source.hpp"
#include "support/nvrtc_fixture.hpp"

namespace spanwise::ops {
namespace {

std::optional<OpSignature> signature_for(OpId op, std::span<const DType> dtypes) {
  try {
    return resolve(op, dtypes);
  } catch (const DTypeError&) {
    return {};
  }
}

using strided::AccessPattern;
using strided::PlanShape;

OperationKey key_for(const OpSignature& signature, std::span<const DType> dtypes) {
  OperationKey key(signature, {}, signature.result, false);
  key.inputs = static_cast<std::uint8_t>(dtypes.size());
  std::copy(dtypes.begin(), dtypes.end(), key.operands.begin());
  if (signature.swapped) std::swap(key.operands[0], key.operands[1]);
  return key;
}

PlanShape dense_shape(const OperationKey& key) {
  int widest = key.result.itemsize();
  for (int i = 0; i < key.inputs; ++i)
    widest = std::max(widest, key.operands[static_cast<std::size_t>(i)].itemsize());
  PlanShape shape;
  shape.width = static_cast<std::uint8_t>(std::max(1, 16 / widest));
  shape.packs = 2;
  return shape;
}

void expect_compiles(const OperationKey& key, const PlanShape& shape) {
  SCOPED_TRACE(testing::Message() << traits_of(key.op).name << " of " << key.operands[0]);
  test::expect_compiles(strided::cuda_source(operation_body(key), shape), {"run"},
                        {.options = {"--fmad=false"}});
}
void expect_compiles(const OperationKey& key) { expect_compiles(key, dense_shape(key)); }

class ElementwiseSource : public test::NvrtcTest<testing::TestWithParam<int>> {
 protected:
  OpId op() const { return static_cast<OpId>(GetParam()); }
  std::vector<DType> operands(DType dtype) const {
    return std::vector<DType>(static_cast<std::size_t>(traits_of(op()).inputs), dtype);
  }
};

TEST_P(ElementwiseSource, CompilesForEveryKindOfDtype) {
  for (const DType dtype : {bool_, int16, float16, complex64}) {
    const auto dtypes = operands(dtype);
    const auto signature = signature_for(op(), dtypes);
    // Operations computed in another dtype are tested with that dtype.
    if (signature && signature->compute == dtype) expect_compiles(key_for(*signature, dtypes));
  }
}

class ElementwiseLayouts : public ElementwiseSource {};

// Strides, a mask, a scalar operand and another result dtype in one kernel.
TEST_P(ElementwiseLayouts, CompileForAnyOfThem) {
  for (const DType dtype : {uint64, bfloat16, float64}) {
    const auto dtypes = operands(dtype);
    const auto signature = signature_for(op(), dtypes);
    if (!signature) continue;
    OperationKey key = key_for(*signature, dtypes);
    key.has_mask = true;
    key.numbers = static_cast<std::uint8_t>(1u << (key.inputs - 1));
    key.result = complex64;
    PlanShape shape{.kind = PlanShape::Kind::rows, .rank = 3};
    shape.patterns.fill(AccessPattern::strided);
    expect_compiles(key, shape);
    shape.width = 2;
    shape.patterns = {key.inputs > 1 ? AccessPattern::constant : AccessPattern::contiguous,
                      AccessPattern::reversed, AccessPattern::strided};
    shape.has_tail = true;
    key.has_mask = dtype != uint64;
    expect_compiles(key, shape);
    shape.kind = PlanShape::Kind::tiles;
    shape.tile_rows = 64;
    shape.tile_columns = 16;
    shape.patterns = {key.inputs > 1 ? AccessPattern::transposed : AccessPattern::contiguous,
                      AccessPattern::contiguous};
    expect_compiles(key, shape);
    break;
  }
}

INSTANTIATE_TEST_SUITE_P(, ElementwiseSource, testing::Range(0, op_count),
                         [](const auto& test_info) {
                           return display_name(static_cast<OpId>(test_info.param));
                         });

INSTANTIATE_TEST_SUITE_P(, ElementwiseLayouts, testing::Range(0, op_count, 5),
                         [](const auto& test_info) {
                           return display_name(static_cast<OpId>(test_info.param));
                         });

class ElementwiseMixed : public ElementwiseSource {};

TEST_P(ElementwiseMixed, ComparesSignedWithUnsigned) {
  ASSERT_NE(traits_of(op()).traits & compares, 0u);
  const DType crossed[] = {uint64, int64};
  const auto signature = signature_for(op(), crossed);
  ASSERT_TRUE(signature && signature->mixed && signature->swapped);
  expect_compiles(key_for(*signature, crossed));
}

INSTANTIATE_TEST_SUITE_P(, ElementwiseMixed,
                         testing::Values(static_cast<int>(OpId::less),
                                         static_cast<int>(OpId::equal)));

class ElementwiseSourceText : public test::NvrtcTest<> {};

TEST_F(ElementwiseSourceText, ChecksExponents) {
  const DType dtypes[] = {int64, int64};
  OperationKey key = key_for({OpId::power, int64, int64}, dtypes);
  key.has_mask = true;
  key.checks_exponent = true;
  expect_compiles(key);
  expect_compiles(key, {.kind = PlanShape::Kind::rows});
}

TEST_F(ElementwiseSourceText, ConvertsBetweenAllDtypes) {
  for (const DType from : dtypes_in_order) {
    for (const DType to : {bool_, float16, bfloat16}) {
      const DType dtypes[] = {from};
      OperationKey key = key_for({OpId::positive, from, from}, dtypes);
      key.result = to;
      key.has_mask = to == bool_;
      expect_compiles(key);
    }
  }
}

}  // namespace
}  // namespace spanwise::ops
