// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spanwise/core/error.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "support/fake_devices.hpp"
#include "support/message_of.hpp"
#include "support/naive_loops.hpp"

namespace spanwise {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Complex = std::complex<double>;

class ConversionsTest : public test::RuntimeTest {
 protected:
  // 0.5, 1.5, ... in C order, on `device`.
  static Array numbers(const Shape& shape, Device device = cpu) {
    const Array host = empty(shape, float32, cpu);
    std::vector<Complex> all;
    for (std::int64_t i = 0; i < host.size(); ++i) all.emplace_back(static_cast<double>(i) + 0.5);
    test::set_values(host, all);
    return to_device(host, device);
  }
  static std::vector<Complex> values(const Array& array) {
    return test::values(to_device(array, cpu));
  }
};

TEST_F(ConversionsTest, CopyIsNewAndInCOrder) {
  for (const Device device : {cpu, test::gpu}) {
    const Array source = numbers({2, 3}, device).transpose();
    const Array result = copy(source);
    EXPECT_FALSE(result.storage() == source.storage());
    EXPECT_EQ(result.device(), device);
    EXPECT_TRUE(result.layout().is_row_major());
    EXPECT_EQ(values(result), values(source));
  }
}

TEST_F(ConversionsTest, CopyOfReadOnlyArrayIsWritable) {
  EXPECT_FALSE(copy(numbers({2}).as_readonly()).readonly());
}

TEST_F(ConversionsTest, AstypeSharesOnlyWhereAllowed) {
  const Array source = numbers({2, 3});
  EXPECT_FALSE(astype(source, float32).storage() == source.storage());
  EXPECT_EQ(astype(source, float32, CopyMode::if_needed).storage(), source.storage());
  EXPECT_EQ(astype(source, float32, CopyMode::never).storage(), source.storage());
  EXPECT_EQ(values(astype(source, int8, CopyMode::if_needed)),
            (std::vector<Complex>{0, 1, 2, 3, 4, 5}));
  EXPECT_THROW(astype(source, int8, CopyMode::never), CopyNeededError);
}

TEST_F(ConversionsTest, AstypeKeepsTheOrderOfTheAxes) {
  const Array source = numbers({2, 3}).transpose();
  const Array result = astype(source, float64);
  EXPECT_EQ(result.strides(), (Strides{1, 3}));
  EXPECT_EQ(values(result), values(source));
}

TEST_F(ConversionsTest, ToDeviceCopiesOrShares) {
  const Array host = numbers({2, 3}).transpose();
  const Array on_gpu = to_device(host, test::gpu);
  EXPECT_EQ(on_gpu.device(), test::gpu);
  EXPECT_EQ(on_gpu.strides(), host.strides()) << "to_device keeps the layout";
  EXPECT_EQ(values(on_gpu), values(host));
  EXPECT_EQ(to_device(on_gpu, test::gpu).storage(), on_gpu.storage());
  EXPECT_FALSE(to_device(on_gpu, test::gpu, CopyMode::always).storage() == on_gpu.storage());
  EXPECT_EQ(to_device(on_gpu, test::gpu, CopyMode::never).storage(), on_gpu.storage());
  EXPECT_THROW(to_device(on_gpu, cpu, CopyMode::never), CopyNeededError);
}

TEST_F(ConversionsTest, ContiguousSharesContiguousMemory) {
  const Array source = numbers({2, 3}, test::gpu);
  EXPECT_EQ(contiguous(source).storage(), source.storage());
  EXPECT_EQ(contiguous(source, CopyMode::never).storage(), source.storage());
  EXPECT_FALSE(contiguous(source, CopyMode::always).storage() == source.storage());
  const Array copied = contiguous(source.transpose());
  EXPECT_TRUE(copied.layout().is_row_major());
  EXPECT_EQ(values(copied), values(source.transpose()));
  EXPECT_THROW(contiguous(source.transpose(), CopyMode::never), CopyNeededError);
}

TEST_F(ConversionsTest, ReshapeIsAViewWhereStridesAllow) {
  const Array source = numbers({2, 3});
  EXPECT_EQ(reshape(source, {3, -1}).storage(), source.storage());
  EXPECT_FALSE(reshape(source, {6}, CopyMode::always).storage() == source.storage());
  const Array copied = reshape(source.transpose(), {6});
  EXPECT_FALSE(copied.storage() == source.storage());
  EXPECT_EQ(values(copied), values(source.transpose()));
  EXPECT_THROW(reshape(source.transpose(), {6}, CopyMode::never), CopyNeededError);
  EXPECT_THROW(reshape(source, {4}), LayoutError);
  EXPECT_EQ(reshape(numbers({0, 3}).transpose(), {7, 0}).shape(), (Shape{7, 0}));
}

TEST_F(ConversionsTest, ErrorNamesTheCopyAndTheRemedy) {
  EXPECT_THAT(test::message_of<CopyNeededError>(
                  [&] { reshape(numbers({2, 3}).transpose(), {6}, CopyMode::never); }),
              AllOf(HasSubstr("(6,)"), HasSubstr("float32 (3, 2)"), HasSubstr("24 bytes"),
                    HasSubstr("copy=None")));
}

TEST_F(ConversionsTest, ItemReadsTheOneElement) {
  for (const Device device : {cpu, test::gpu}) {
    const Array array = numbers({2, 3}, device);
    EXPECT_EQ(item(array.slice(0, {1, 2, 1}).index(1, -1)).as_double(), 5.5);
    EXPECT_EQ(item(array.index(0, 0).index(0, 1)).dtype(), float32);
    EXPECT_THROW(item(array), LayoutError);
    EXPECT_THROW(item(empty({0}, float32, device)), LayoutError);
  }
  EXPECT_THROW(item(zeros({1}, DType::parse("float64x4"), test::gpu)), DTypeError);
  EXPECT_THROW(item(zeros({1}, DType::parse("float64x4"), cpu)), DTypeError);
}

TEST_F(ConversionsTest, ItemWaitsForQueuedWork) {
  const Array array = zeros({1}, float32, test::gpu);
  const Stream other = Stream::create(test::gpu);
  {
    const StreamGuard guard(other);
    fill(array, 4.0f);
  }
  EXPECT_EQ(item(array).as_double(), 4.0);
}

}  // namespace
}  // namespace spanwise
