// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// Output buffers, the registry of ops, and views as kernel arguments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "spanwise/core/error.hpp"
#include "spanwise/core/view.hpp"
#include "spanwise/op_sdk.hpp"
#include "spanwise/runtime/creation.hpp"
#include "support/message_of.hpp"

namespace spanwise {
namespace {

using test::message_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(OutputArray, IsReusedOnlyWhenUnreferenced) {
  Cell cell;
  const void* first = output_array(cell, {2, 3}, float32, cpu).data();
  EXPECT_EQ(output_array(cell, {2, 3}, float32, cpu).data(), first);
  const Array reference = *cell.value;
  EXPECT_NE(output_array(cell, {2, 3}, float32, cpu).data(), first);
  EXPECT_EQ(output_array(cell, {3, 2}, float32, cpu).shape(), (Shape{3, 2}));
  EXPECT_EQ(output_array(cell, {3, 2}, int32, cpu).dtype(), int32);
  cell.value = cell.value->transpose();
  EXPECT_TRUE(output_array(cell, {2, 3}, int32, cpu).layout().is_row_major());
  cell.value = cell.value->as_readonly();
  EXPECT_FALSE(output_array(cell, {2, 3}, int32, cpu).readonly());
}

TEST(Registry, MakesOpsByNameAndRefusesUnknownNamesAndProperties) {
  EXPECT_EQ(make_op("add")->name(), "Add");
  EXPECT_EQ(make_op("transfer", {{"device", std::string("cpu")}})->name(), "Transfer{cpu}");
  EXPECT_THAT(message_of<ArgumentError>([] { make_op("no_such_op"); }),
              HasSubstr("there is no op named no_such_op; the registered ops are absolute, add, "));
  EXPECT_THAT(message_of<ArgumentError>([] { make_op("add", {{"axis", std::int64_t{1}}}); }),
              HasSubstr("add: takes no property, got axis"));
  EXPECT_THAT(message_of<ArgumentError>([] { make_op("transfer"); }),
              HasSubstr("transfer: expected a property device"));
  EXPECT_THAT(message_of<ArgumentError>([] { make_op("transfer", {{"device", true}}); }),
              HasSubstr("property device is of the wrong type"));
  EXPECT_THROW(register_op("add", [] { return make_op("add"); }), ArgumentError);
  EXPECT_THAT(op_names(), ::testing::IsSupersetOf({"add", "contiguous", "multiply", "transfer"}));
}

TEST(PackedView, HasAddressExtentsAndStrides) {
  const Array x = empty({4, 5}, float32, cpu);
  const Array view = x.slice(0, {3, 0, -2}).transpose();
  const PackedView packed = pack_view(view);
  std::int64_t words[5];  // the address, two extents, two strides
  ASSERT_EQ(packed.bytes().size(), sizeof words);
  std::copy_n(packed.bytes().data(), sizeof words, reinterpret_cast<std::byte*>(words));
  EXPECT_EQ(words[0], reinterpret_cast<std::intptr_t>(view.data()));
  EXPECT_THAT(std::vector(words + 1, words + 5), ElementsAre(5, 2, 1, -10));
}

}  // namespace
}  // namespace spanwise
