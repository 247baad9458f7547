// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Which thunks of views are asynchronous: not those that read a number on a GPU, since
// they wait for it.
#include <gtest/gtest.h>

#include <vector>

#include "spanwise/op_sdk.hpp"
#include "support/fake_devices.hpp"

namespace spanwise::ops {
namespace {

class ViewThunks : public test::RuntimeTest {
 protected:
  static Variable matrix() {
    return Variable(TensorType(float32, {TensorType::any, TensorType::any}, test::gpu));
  }
  static Variable number(std::optional<Device> device) {
    return Variable(TensorType(int64, {}, device));
  }

  static bool is_async(const Ref<const Op>& op, std::vector<Variable> inputs) {
    const Ref<Apply> node = op->make_node(inputs);
    std::vector<Ref<Cell>> cells(inputs.size());
    for (Ref<Cell>& cell : cells) cell = make_ref<Cell>();
    return op
        ->make_thunk(ThunkContext(*node, test::gpu, std::move(cells), {make_ref<Cell>()}, {false}))
        ->is_async();
  }
};

TEST_F(ViewThunks, AreAsyncUnlessANumberMayBeOnAGpu) {
  const Ref<const Op> views[] = {
      make_op("subtensor", {{"index", "?"}}),
      make_op("subtensor", {{"index", ":, 1:?"}}),
      make_op("reshape", {{"shape", std::vector<std::int64_t>{-2, -1}}}),
      make_op("broadcast_to", {{"shape", std::vector<std::int64_t>{-2, 3, 4}}}),
  };
  for (const Ref<const Op>& view : views) {
    EXPECT_TRUE(is_async(view, {matrix(), number(cpu)})) << view->name();
    EXPECT_FALSE(is_async(view, {matrix(), number(test::gpu)})) << view->name();
    EXPECT_FALSE(is_async(view, {matrix(), number(std::nullopt)})) << view->name();
  }
}

TEST_F(ViewThunks, AreNotAsyncIfOneOfSeveralNumbersIsOnAGpu) {
  const Ref<const Op> slice = make_op("subtensor", {{"index", "?:?"}});
  EXPECT_TRUE(is_async(slice, {matrix(), number(cpu), number(cpu)}));
  EXPECT_FALSE(is_async(slice, {matrix(), number(cpu), number(test::gpu)}));
}

TEST_F(ViewThunks, WithoutNumbersAreAsync) {
  EXPECT_TRUE(is_async(make_op("subtensor", {{"index", "1:, ::-1"}}), {matrix()}));
  EXPECT_TRUE(is_async(make_op("reshape", {{"shape", std::vector<std::int64_t>{-1}}}), {matrix()}));
}

}  // namespace
}  // namespace spanwise::ops
