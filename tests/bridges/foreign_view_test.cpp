// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "bridges/release_counter.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/runtime/copy.hpp"

namespace spanwise {
namespace {

using test::ReleaseCounter;

template <class T>
ForeignView view_of(ReleaseCounter& owner, T* data, DType dtype, Shape shape,
                    Strides byte_strides) {
  ForeignView view;
  view.owner = owner.owner();
  view.memory.data = data;
  view.memory.dtype = dtype;
  view.memory.shape = std::move(shape);
  view.memory.byte_strides = std::move(byte_strides);
  return view;
}

template <class T>
T at(const Array& array, std::int64_t i) {
  T value;
  const Array element = array.index(0, i);
  std::memcpy(&value, element.data(), sizeof value);
  return value;
}

TEST(ForeignView, NegativeStridesStartInsideTheStorage) {
  std::vector<float> values{0, 1, 2, 3, 4, 5};
  ReleaseCounter owner;
  ForeignView view = view_of(owner, &values[5], float32, {2, 3}, {-12, -4});
  const Array array = share(view).value();
  EXPECT_EQ(array.data(), &values[5]);
  EXPECT_EQ(array.storage().data(), values.data());
  EXPECT_EQ(array.storage().bytes(), 24u);
  EXPECT_EQ(array.layout(), (Layout{{2, 3}, {-3, -1}, 5}));
}

TEST(ForeignView, ReleaseIsCalledOnceWithTheLastArray) {
  std::vector<float> values(6);
  ReleaseCounter owner;
  {
    ForeignView view = view_of(owner, values.data(), float32, {6}, {4});
    Array array = share(view).value();
    Array window = array.slice(0, {.start = 2});
    array = Array();
    EXPECT_EQ(owner.releases, 0);
  }
  EXPECT_EQ(owner.releases, 1);
}

TEST(ForeignView, ReleaseIsCalledWhenTheImportFails) {
  ReleaseCounter owner;
  {
    ForeignView view = view_of(owner, &owner, float32, {1}, {4});
  }
  EXPECT_EQ(owner.releases, 1);
}

TEST(ForeignView, ReleaseIsCalledOnceForAnInvalidDescription) {
  ReleaseCounter owner;
  {
    ForeignView view = view_of(owner, &owner, float32, {-1}, {4});
    EXPECT_THROW(share(view), BridgeError);
  }
  EXPECT_EQ(owner.releases, 1);
}

TEST(ForeignView, DescriptionsThatOverflowAreRefused) {
  ReleaseCounter owner;
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  const std::vector<std::pair<Shape, Strides>> wrong{
      {{huge, 4}, {4, 4}}, {{huge}, {4}}, {{2, 2}, {huge, huge}}, {{3}, {huge}},
      {{2}, {-huge}},      {{2, 3}, {4}}, {{3}, {-huge}}};
  for (const auto& [shape, strides] : wrong) {
    ForeignView view = view_of(owner, &owner, float32, shape, strides);
    EXPECT_THROW(share(view), BridgeError) << shape << strides;
    EXPECT_THROW(find_share_blocker(view.memory), BridgeError) << shape << strides;
  }
  EXPECT_EQ(owner.releases, static_cast<int>(wrong.size()));
}

TEST(ForeignView, ANullAddressIsRightWithoutElementsOnly) {
  ReleaseCounter owner;
  ForeignView empty = view_of<float>(owner, nullptr, float32, {0, 3}, {7, 5});
  EXPECT_EQ(share(empty).value().shape(), (Shape{0, 3}));
  ForeignView full = view_of<float>(owner, nullptr, float32, {1, 3}, {12, 4});
  EXPECT_THROW(share(full), BridgeError);
}

TEST(ForeignView, MisalignedStridesAreCopied) {
  // Records of one byte and one float: a stride of 5 bytes.
  std::vector<unsigned char> records(5 * 4);
  for (int i = 0; i < 4; ++i) {
    const auto value = static_cast<float>(i * 10);
    std::memcpy(&records[static_cast<std::size_t>(5 * i + 1)], &value, sizeof value);
  }
  ReleaseCounter owner;
  ForeignView view = view_of(owner, &records[1], float32, {4}, {5});
  EXPECT_FALSE(share(view).has_value());
  EXPECT_NE(find_share_blocker(view.memory)->reason.find("stride of 5 bytes"), std::string::npos);
  const Array copied = take(view, CopyMode::if_needed, "test");
  EXPECT_TRUE(view.copied);
  EXPECT_EQ(owner.releases, 1);
  EXPECT_FALSE(copied.readonly());
  for (int i = 0; i < 4; ++i) EXPECT_EQ(at<float>(copied, i), static_cast<float>(i * 10));
}

TEST(ForeignView, SwapsBytes) {
  const double value = 1.5;
  std::vector<unsigned char> bytes(16);
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = reinterpret_cast<const unsigned char*>(&value)[7 - i];
    bytes[8 + i] = bytes[i];
  }
  ReleaseCounter owner;
  ForeignView real = view_of(owner, bytes.data(), float64, {2}, {8});
  real.memory.byte_swapped = true;
  EXPECT_EQ(at<double>(take(real, CopyMode::if_needed, "test"), 1), value);
  ForeignView complex = view_of(owner, bytes.data(), complex128, {1}, {16});
  complex.memory.byte_swapped = true;
  EXPECT_EQ(at<std::complex<double>>(take(complex, CopyMode::if_needed, "test"), 0),
            std::complex<double>(value, value));
  // C order without strides.
  ForeignView dense = view_of(owner, bytes.data(), float64, {2}, {});
  dense.memory.byte_strides = Strides{};
  dense.memory.row_major = true;
  dense.memory.byte_swapped = true;
  EXPECT_EQ(at<double>(take(dense, CopyMode::if_needed, "test"), 0), value);
}

TEST(ForeignView, CopyNeverRefusesACopy) {
  std::vector<float> values(2);
  ReleaseCounter owner;
  ForeignView swapped = view_of(owner, values.data(), float32, {2}, {4});
  swapped.memory.byte_swapped = true;
  try {
    take(swapped, CopyMode::never, "test");
    FAIL();
  } catch (const SharingError& error) {
    EXPECT_EQ(std::string(error.what()).find("test: "), 0u);
    EXPECT_NE(error.blocker().reason.find("byte order"), std::string::npos);
  }
}

TEST(ForeignView, CopyAlwaysMakesAPrivateCopy) {
  std::vector<float> values{1, 2};
  ReleaseCounter owner;
  ForeignView view = view_of(owner, values.data(), float32, {2}, {4});
  const Array copied = take(view, CopyMode::always, "test");
  EXPECT_NE(copied.data(), values.data());
  EXPECT_EQ(at<float>(copied, 1), 2);
  EXPECT_EQ(owner.releases, 1);
}

TEST(ForeignView, SubByteElementsAreCopiedAsWholeBytes) {
  std::vector<unsigned char> values{1, 2, 3, 4, 5, 6};
  const DType pair(static_cast<DTypeCode>(17), 4, 2);  // two four-bit floats
  ReleaseCounter owner;
  ForeignView view = view_of(owner, values.data(), pair, {3}, {2});
  EXPECT_EQ(share(view).value().strides(), (Strides{2}));
  const DType triple(static_cast<DTypeCode>(15), 6, 4);  // four six-bit floats in three bytes
  ForeignView odd = view_of(owner, values.data() + 1, triple, {1}, {3});
  EXPECT_TRUE(share(odd).has_value());
}

}  // namespace
}  // namespace spanwise
