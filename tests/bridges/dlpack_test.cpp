// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/bridge/dlpack.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "../../bridges/dlpack/dlpack_abi.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise {
namespace {

int released = 0;

// An array of `values` whose release increments `released`, which starts at 0.
Array watched(std::vector<float>& values, bool readonly = false) {
  released = 0;
  Storage storage = Storage::adopt(
      values.data(), values.size() * sizeof(float), cpu,
      [](void*, void*, std::size_t, StreamUses&) noexcept { ++released; }, nullptr, readonly);
  return Array(std::move(storage), Layout::row_major({static_cast<std::int64_t>(values.size())}),
               float32);
}

dlpack::ManagedTensorVersioned& fields(DLManagedTensorVersioned* tensor) {
  return *reinterpret_cast<dlpack::ManagedTensorVersioned*>(tensor);
}

TEST(Dlpack, TensorKeepsTheMemoryUntilItsDeleterRuns) {
  std::vector<float> values(4);
  DLManagedTensorVersioned* tensor = to_dlpack(watched(values));
  EXPECT_EQ(released, 0);
  EXPECT_EQ(fields(tensor).tensor.data, values.data());
  // A consumer may run the deleter on any thread.
  std::thread([&] { fields(tensor).deleter(&fields(tensor)); }).join();
  EXPECT_EQ(released, 1);
}

TEST(Dlpack, RoundTripSharesMemoryAndLayout) {
  std::vector<float> values{0, 1, 2, 3, 4, 5};
  const Array array = watched(values).with_layout(Layout{{3, 2}, {-2, 1}, 4});
  const Array again = from_dlpack(to_dlpack(array));
  EXPECT_EQ(again.data(), array.data());
  EXPECT_EQ(again.shape(), array.shape());
  EXPECT_EQ(again.strides(), array.strides());
}

TEST(Dlpack, StridesOfExtentOneAreWrittenAsCOrderHasThem) {
  std::vector<float> values(6);
  const Array array = watched(values).with_layout(Layout{{1, 3}, {-7, 1}, 0});
  DLManagedTensorVersioned* tensor = to_dlpack(array);
  EXPECT_EQ(fields(tensor).tensor.strides[0], 3);
  EXPECT_EQ(fields(tensor).tensor.strides[1], 1);
  fields(tensor).deleter(&fields(tensor));
}

TEST(Dlpack, ReadOnlyMemoryIsFlaggedOrRefused) {
  std::vector<float> values(4);
  const Array array = watched(values, /*readonly=*/true);
  DLManagedTensorVersioned* tensor = to_dlpack(array);
  EXPECT_EQ(fields(tensor).flags, dlpack::flag_read_only);
  EXPECT_TRUE(from_dlpack(tensor).readonly());
  EXPECT_THROW(to_dlpack_unversioned(array), SharingError);
  EXPECT_NO_THROW(from_dlpack(to_dlpack_unversioned(watched(values))));
}

TEST(Dlpack, ACopyIsMarked) {
  std::vector<float> values(4);
  DLManagedTensorVersioned* tensor = to_dlpack(watched(values), /*copied=*/true);
  EXPECT_EQ(fields(tensor).flags, dlpack::flag_is_copied);
  // CopyMode::never refuses copies of this import, not one that the producer made before the call.
  EXPECT_NO_THROW(from_dlpack(tensor, CopyMode::never));
  EXPECT_EQ(released, 1);
}

TEST(Dlpack, TensorOfAnotherMajorVersionIsReleasedUnread) {
  std::vector<float> values(4);
  DLManagedTensorVersioned* tensor = to_dlpack(watched(values));
  fields(tensor).version.major = 2;
  EXPECT_THROW(from_dlpack(tensor), BridgeError);
  EXPECT_EQ(released, 1);
}

TEST(Dlpack, ANullTensorIsRefused) {
  EXPECT_THROW(from_dlpack(static_cast<DLManagedTensorVersioned*>(nullptr)), BridgeError);
  EXPECT_THROW(from_dlpack(static_cast<DLManagedTensor*>(nullptr)), BridgeError);
}

}  // namespace
}  // namespace spanwise
