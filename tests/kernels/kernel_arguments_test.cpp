// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <span>
#include <string>

#include "kernels/kernel_call.hpp"

namespace spanwise::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class KernelArgumentsTest : public KernelCallTest {};

TEST_F(KernelArgumentsTest, PassWithTheirDeclaredTypes) {
  const Kernel f =
      kernel("float *x, const float *y, int n, double a, unsigned char c, bool b, long long big");
  f({.grid = {4, 5, 6}, .block = {7, 8, 9}, .shared_bytes = 10},
    {x_, y_, 3, 0.5, 255u, true, std::int64_t{-1}});
  EXPECT_EQ(last_launch().value<void*>(0), x_.data());
  EXPECT_EQ(last_launch().value<void*>(1), y_.data());
  EXPECT_EQ(last_launch().value<int>(2), 3);
  EXPECT_EQ(last_launch().value<double>(3), 0.5);
  EXPECT_EQ(last_launch().value<unsigned char>(4), 255);
  EXPECT_EQ(last_launch().value<bool>(5), true);
  EXPECT_EQ(last_launch().value<long long>(6), -1);
  EXPECT_EQ(last_launch().grid.z, 6);
  EXPECT_EQ(last_launch().block.y, 8);
  EXPECT_EQ(last_launch().shared_bytes, 10);
}

TEST_F(KernelArgumentsTest, AViewPassesTheAddressOfItsFirstElement) {
  const Array row = x_.index(0, 1);
  call(kernel("const float *x"), row);
  EXPECT_EQ(last_launch().value<void*>(0), static_cast<float*>(x_.data()) + 3);
}

TEST_F(KernelArgumentsTest, NumbersConvertWhereTheyKeepTheirValue) {
  const Kernel f = kernel("float a, double b, unsigned long long c, short d, __half h, bool e");
  call(f, 7, KernelArg::integer(1 << 30), KernelArg::integer(5), 300, KernelArg::integer(-2),
       KernelArg::integer(1));
  EXPECT_EQ(last_launch().value<float>(0), 7.0f);
  EXPECT_EQ(last_launch().value<double>(1), 1 << 30);
  EXPECT_EQ(last_launch().value<unsigned long long>(2), 5u);
  EXPECT_EQ(last_launch().value<short>(3), 300);
  EXPECT_EQ(last_launch().value<std::uint16_t>(4), 0xc000);  // -2 in binary16
  EXPECT_EQ(last_launch().value<bool>(5), true);
}

TEST_F(KernelArgumentsTest, RealsAreRoundedToTheParameter) {
  const Kernel f = kernel("float a, float b, __half c, float d");
  call(f, KernelArg::real(0.1), 0.1, 0.1f,
       KernelArg::real(std::numeric_limits<double>::infinity()));
  EXPECT_EQ(last_launch().value<float>(0), 0.1f);
  EXPECT_EQ(last_launch().value<float>(1), 0.1f);
  EXPECT_EQ(last_launch().value<std::uint16_t>(2), 0x2e66);  // 0.1 in binary16
  EXPECT_EQ(last_launch().value<float>(3), std::numeric_limits<float>::infinity());
}

TEST_F(KernelArgumentsTest, NumbersThatWouldLoseTheirValueAreRefused) {
  EXPECT_THAT(refusal(kernel("int n"), KernelArg::integer(std::int64_t{1} << 31)),
              AllOf(HasSubstr("kernel 'k', argument 1 of 1 ('int n')"), HasSubstr("int32"),
                    HasSubstr("2147483648"), HasSubstr("Remedy")));
  EXPECT_THAT(refusal(kernel("unsigned n"), -1), HasSubstr("-1"));
  EXPECT_THAT(refusal(kernel("int n"), KernelArg::real(2.0)), HasSubstr("int(x)"));
  EXPECT_THAT(refusal(kernel("int n"), 2.0f), HasSubstr("float32 value 2.0"));
  EXPECT_THAT(refusal(kernel("float a"), 16777217), HasSubstr("16777217"));
  EXPECT_THAT(refusal(kernel("float a"), 1e300), HasSubstr("range"));
  EXPECT_THAT(refusal(kernel("bool b"), 2), HasSubstr("bool"));
  EXPECT_THAT(refusal(kernel("float a"), Scalar(std::complex<double>(1, 2))),
              HasSubstr("complex128"));
}

TEST_F(KernelArgumentsTest, AWrongCountNamesTheParameters) {
  EXPECT_THAT(refusal(kernel("float *x, int n"), x_),
              AllOf(HasSubstr("expected 2 arguments ('float *x', 'int n')"), HasSubstr("got 1")));
  EXPECT_THAT(refusal(kernel(""), x_), HasSubstr("expected 0 arguments ()"));
}

TEST_F(KernelArgumentsTest, AnArrayOfAnotherDtypeIsRefused) {
  EXPECT_THAT(refusal(kernel("float *x, float *y"), x_, empty({4}, float64, gpu_)),
              AllOf(HasSubstr("argument 2 of 2 ('float *y')"),
                    HasSubstr("expected a float32 array on cuda:0"), HasSubstr("float64 (4,)"),
                    HasSubstr("astype(x, float32)")));
  EXPECT_THAT(refusal(kernel("unsigned *x"), empty({4}, int32, gpu_)), HasSubstr("uint32"));
}

TEST_F(KernelArgumentsTest, UntypedPointersAcceptEveryDtype) {
  call(kernel("void *x"), empty({4}, float64, gpu_));
  call(kernel("const Pair *x"), empty({4}, uint8, gpu_));
  call(kernel("char *x"), empty({4}, uint8, gpu_));
  EXPECT_EQ(log_->launches.size(), 3u);
  EXPECT_THAT(refusal(kernel("char *x"), x_), HasSubstr("int8"));
}

TEST_F(KernelArgumentsTest, ArrayOfAnotherKindOfDeviceIsRefused) {
  const Array host = empty({2, 3}, float32, cpu);
  EXPECT_THAT(refusal(kernel("float *x"), host),
              AllOf(HasSubstr("on cuda:0"), HasSubstr("on cpu"), HasSubstr("sw.driver.In"),
                    HasSubstr("sw.array")));
  EXPECT_THAT(refusal(kernel("float *x"), empty({2}, float32, Device(DeviceKind::cuda, 1))),
              AllOf(HasSubstr("cuda:1"), HasSubstr("x.to(\"cuda:0\")")));
}

TEST_F(KernelArgumentsTest, PinnedAndManagedMemoryIsAccepted) {
  float values[4];
  for (const DeviceKind kind : {DeviceKind::cuda_host, DeviceKind::cuda_managed}) {
    const Array array(Storage::adopt(values, sizeof values, Device(kind), nullptr, nullptr),
                      Layout::row_major({4}), float32);
    call(kernel("float *x"), array);
    EXPECT_EQ(last_launch().value<void*>(0), values);
  }
}

TEST_F(KernelArgumentsTest, ReadOnlyArrayRequiresAPointerToConst) {
  call(kernel("const float *x"), x_.as_readonly());
  call(kernel("float const * __restrict__ x"), x_.as_readonly());
  EXPECT_THAT(
      refusal<ReadOnlyError>(kernel("float *x"), x_.as_readonly()),
      AllOf(HasSubstr("argument 1"), HasSubstr("read-only"), HasSubstr("pointer to const")));
  EXPECT_THAT(refusal<ReadOnlyError>(kernel("float *const x"), x_.as_readonly()),
              HasSubstr("read-only"));
}

TEST_F(KernelArgumentsTest, StridedArrayIsRefusedForARawPointer) {
  const std::string message = refusal(kernel("const float *x"), x_.transpose());
  EXPECT_THAT(message, AllOf(HasSubstr("strides (4, 12)"), HasSubstr("contiguous(x)"),
                             HasSubstr("View<T, 2>")));
  call(kernel("const float *x"), x_.slice(0, {.start = 1}));
  call(kernel("const float *x"),
       x_.slice(0, {.start = 1}).transpose());  // (3, 1): one row is contiguous
  EXPECT_EQ(log_->launches.size(), 2u);
}

TEST_F(KernelArgumentsTest, StridedArrayIsPassedAsAView) {
  const Kernel f = kernel("spanwise::View<const float, 2> x, View<float,2> out");
  call(f, x_.as_readonly().transpose(), y_.slice(1, {.step = -1}));
  struct View {
    void* data;
    std::int64_t shape[2], strides[2];
  };
  const View x = last_launch().value<View>(0), out = last_launch().value<View>(1);
  EXPECT_EQ(x.data, x_.data());
  EXPECT_THAT(x.shape, ::testing::ElementsAre(3, 2));
  EXPECT_THAT(x.strides, ::testing::ElementsAre(1, 3));
  EXPECT_EQ(out.data, static_cast<float*>(y_.data()) + 2);
  EXPECT_THAT(out.strides, ::testing::ElementsAre(3, -1));
  EXPECT_EQ(f.parameters()[0].view_rank, 2);
  EXPECT_TRUE(f.parameters()[0].is_const);
  EXPECT_FALSE(f.parameters()[1].is_const);
}

TEST_F(KernelArgumentsTest, ViewIsCheckedForDtypeRankDeviceAndConst) {
  const Kernel f = kernel("spanwise::View<float, 2> x");
  EXPECT_THAT(refusal(f, empty({2, 3}, float64, gpu_)), HasSubstr("astype"));
  EXPECT_THAT(refusal(f, empty({6}, float32, gpu_)), HasSubstr("2 axes"));
  EXPECT_THAT(refusal(f, empty({2, 3}, float32, cpu)), HasSubstr("sw.driver.In"));
  EXPECT_THAT(refusal<ReadOnlyError>(f, x_.as_readonly()), HasSubstr("View<const T, N>"));
  EXPECT_THAT(refusal(f, 3), HasSubstr("order of the arguments"));
}

TEST_F(KernelArgumentsTest, ArrayForANumberAndNumberForAnArrayAreRefused) {
  EXPECT_THAT(refusal(kernel("int n"), x_), HasSubstr("item(x)"));
  EXPECT_THAT(refusal(kernel("float *x"), KernelArg::integer(400)),
              HasSubstr("order of the arguments"));
  EXPECT_THAT(refusal(kernel("float *x"), 1.5), HasSubstr("expected a float32 array"));
}

TEST_F(KernelArgumentsTest, AddressesPassUnchanged) {
  const Kernel f = kernel("float *x");
  call(f, KernelArg::address(0x7f0000001000));
  EXPECT_EQ(last_launch().value<std::uint64_t>(0), 0x7f0000001000u);
  call(f, KernelArg::integer(0x7f0000001000));
  EXPECT_EQ(last_launch().value<std::uint64_t>(0), 0x7f0000001000u);
  call(f, nullptr);
  EXPECT_EQ(last_launch().value<std::uint64_t>(0), 0u);
  EXPECT_THAT(refusal(kernel("int n"), nullptr), HasSubstr("int32"));
  EXPECT_THAT(refusal(kernel("float a"), KernelArg::address(1 << 20)), HasSubstr("address"));
}

TEST_F(KernelArgumentsTest, StructsPassByTheirBytes) {
  const char bytes[13] = "twelve bytes";
  const std::span<const std::byte> twelve(reinterpret_cast<const std::byte*>(bytes), 12);
  call(kernel("Pair p, int n"), KernelArg::bytes(twelve), 1);
  EXPECT_EQ(last_launch().arguments[0], "twelve bytes");
  EXPECT_THAT(refusal(kernel("Pair p"), KernelArg::bytes(twelve.first(11))),
              AllOf(HasSubstr("12 bytes"), HasSubstr("11 bytes"), HasSubstr("align=True")));
  EXPECT_THAT(refusal(kernel("float *p"), KernelArg::bytes(twelve.first(8))), HasSubstr("struct"));
}

TEST_F(KernelArgumentsTest, UntypedMemoryIsAcceptedByEveryPointer) {
  const Array memory = empty({24}, uint8, gpu_);
  call(kernel("float *x"), KernelArg::memory(memory));
  EXPECT_EQ(last_launch().value<void*>(0), memory.data());
  EXPECT_THAT(refusal(kernel("float *x"), KernelArg::memory(empty({24}, uint8, cpu))),
              HasSubstr("on cpu"));
  EXPECT_THAT(refusal<ReadOnlyError>(kernel("float *x"), KernelArg::memory(memory.as_readonly())),
              HasSubstr("read-only"));
  EXPECT_THAT(refusal(kernel("View<float, 1> x"), KernelArg::memory(memory)), HasSubstr("untyped"));
  EXPECT_THAT(refusal(kernel("int n"), KernelArg::memory(memory)), HasSubstr("pointer"));
}

TEST_F(KernelArgumentsTest, UnknownTypesAreCheckedBySize) {
  const Kernel f = kernel("Word4 a, Word8 b, Word8 c, Word8 d");
  call(f, KernelArg::integer(-1), KernelArg::real(0.5), x_, KernelArg::address(0));
  EXPECT_EQ(last_launch().value<std::int32_t>(0), -1);
  EXPECT_EQ(last_launch().value<double>(1), 0.5);
  EXPECT_EQ(last_launch().value<void*>(2), x_.data());
  call(f, 1.5f, KernelArg::integer(7), std::int64_t{8}, 0.25);
  EXPECT_EQ(last_launch().value<float>(0), 1.5f);
  EXPECT_EQ(last_launch().value<std::int64_t>(1), 7);
  EXPECT_THAT(refusal(kernel("Word4 a"), 0.5), HasSubstr("4 bytes"));
  EXPECT_THAT(refusal(kernel("Word4 a"), x_), HasSubstr("a pointer or a spanwise::View"));
  EXPECT_THAT(refusal(kernel("Word4 a"), KernelArg::integer(std::int64_t{1} << 32)),
              HasSubstr("4294967296"));
  EXPECT_THAT(refusal(kernel("Pair p"), KernelArg::integer(1)), HasSubstr("12 bytes"));
  EXPECT_THAT(refusal(kernel("Word8 a"), x_.transpose()), HasSubstr("contiguous(x)"));
}

TEST_F(KernelArgumentsTest, ManyArgumentsAreInOrder) {
  std::string parameters = "int a0";
  std::vector<KernelArg> arguments{0};
  for (int i = 1; i < 40; ++i) {
    parameters += ", double a" + std::to_string(i);
    arguments.push_back(KernelArg::integer(i));
  }
  kernel(parameters).launch({}, arguments);
  EXPECT_EQ(last_launch().value<int>(0), 0);
  for (int i = 1; i < 40; ++i)
    EXPECT_EQ(last_launch().value<double>(static_cast<std::size_t>(i)), i);
}

}  // namespace
}  // namespace spanwise::test
