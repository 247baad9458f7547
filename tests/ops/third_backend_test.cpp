// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// A worked example of a third back end, for a kind of device that is not part of the library: what
// CONTRIBUTING.md lists under "add a back end", and nothing else. Its memory is the host's, and its
// kernels are compiled by the CPU's compiler.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "../../ops/elementwise/elementwise_compute.hpp"
#include "../../ops/indexing/cuda/cuda_indexing.hpp"
#include "../../ops/indexing/selection.hpp"
#include "../../ops/linalg/product.hpp"
#include "../../ops/linalg/product_problem.hpp"
#include "../../ops/random/draw.hpp"
#include "../../ops/reduce/reduce.hpp"
#include "runtime/backend.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "support/naive_cpu.hpp"

namespace spanwise::ops {
namespace {

// Extension devices of DLPack (kDLExtDev).
constexpr Device third{DeviceKind{12}, 0};

// 1. The device: memory, streams, transfers, and, for kernels, a compiler.
class ThirdBackend final : public test::NaiveCpu {
 public:
  ThirdBackend() : NaiveCpu(third) {}

  void upload(const void* host, void* device, std::size_t bytes, runtime::StreamState&) override {
    std::memcpy(device, host, bytes);
  }
  void download(const void* device, void* host, std::size_t bytes, runtime::StreamState&) override {
    std::memcpy(host, device, bytes);
  }
  std::string compiler_fingerprint(int, const runtime::CompileRequest& request) override {
    return host().compiler_fingerprint(0, request);
  }
  runtime::KernelBinary compile(int, const runtime::CompileRequest& request) override {
    return host().compile(0, request);
  }
  Ref<runtime::LoadedModule> load(int, const runtime::KernelBinary& binary) override {
    return host().load(0, binary);
  }

 private:
  static runtime::Backend& host() { return runtime::backend_for(cpu); }
};

// 2. The families: those whose kernels are bodies of strided loops run on each device that compiles
// CUDA C, so their functions are registered again. Products are this device's own.
constexpr ElementwiseBackend elementwise{&compute_on_cuda};
constexpr IndexingBackend indexing{.takes_masks = false,
                                   .needs_aligned = true,
                                   .move = &move_on_gpu,
                                   .accumulate = &accumulate_on_gpu,
                                   .find_outside = &outside_on_gpu,
                                   .apply_bounds = &apply_bounds_on_gpu,
                                   .count_true = &count_true_on_gpu,
                                   .positions_of_true = &positions_of_true_on_gpu,
                                   .search = &search_by_kernel};

int product_calls = 0;
constexpr linalg::ProductBackend product{
    .has_halves = false,
    .small = INT64_MAX,
    .has_sums = false,
    .gemv = [](const linalg::ProductProblem&, Device) { return false; },
    .product =
        [](const linalg::ProductProblem& problem, Device device) {
          EXPECT_EQ(device, third);
          ++product_calls;
          linalg::own_product_on_cpu(problem);
        }};

class ThirdDevice : public testing::Test {
 protected:
  void SetUp() override {
    runtime::exchange_backend(third.kind(), std::make_unique<ThirdBackend>());
    runtime::register_element_loops(third.kind(), &test::NaiveCpu::loops);
    elementwise_backends.set(third.kind(), &elementwise);
    indexing_backends.set(third.kind(), &indexing);
    linalg::product_backends.set(third.kind(), &product);
    random::random_backends.set(third.kind(), &random::random_backends[Device(DeviceKind::cuda)]);
  }
  void TearDown() override {
    elementwise_backends.set(third.kind(), nullptr);
    indexing_backends.set(third.kind(), nullptr);
    linalg::product_backends.set(third.kind(), nullptr);
    random::random_backends.set(third.kind(), nullptr);
    runtime::register_element_loops(third.kind(), nullptr);
    runtime::exchange_backend(third.kind(), nullptr);
  }
};

Array numbers(const Shape& shape) {
  const Array array = empty(shape, int32, cpu);
  auto* values = static_cast<std::int32_t*>(array.data());
  std::iota(values, values + array.size(), 0);
  return astype(array, float32);
}
// Compares an array on the third device with one on the CPU.
void expect_same(const Array& ours, const Array& expected) {
  EXPECT_EQ(ours.device(), third);
  const Array host = contiguous(to_device(ours, cpu)), dense = contiguous(expected);
  ASSERT_EQ(host.shape(), dense.shape());
  EXPECT_EQ(0, std::memcmp(host.data(), dense.data(), static_cast<std::size_t>(host.nbytes())));
}

TEST_F(ThirdDevice, MovesCopiesAndCasts) {
  const Array host = numbers({6, 4}).transpose().slice(1, {{}, {}, -2});
  const Array on_third = to_device(host, third);
  expect_same(on_third, host);
  expect_same(astype(on_third.transpose(), int16), astype(host.transpose(), int16));
  expect_same(full({3}, 7, int32, third), full({3}, 7, int32, cpu));
}

TEST_F(ThirdDevice, ComputesElementwise) {
  const Array a = numbers({5, 7}), b = numbers({7, 5}).transpose();
  const std::array dtypes{float32, float32};
  const OpSignature sum = resolve(OpId::add, dtypes);
  const Array host = empty({5, 7}, float32, cpu), on_third = empty({5, 7}, float32, third);
  const Array a_on_third = to_device(a, third), b_on_third = to_device(b, third);
  const auto add = [&](const Array& x, const Array& y, const Array& z) {
    const std::array operands{Operand{&x}, Operand{&y}};
    compute(sum, operands, z);
  };
  add(a, b, host);
  add(a_on_third, b_on_third, on_third);
  expect_same(on_third, host);
  EXPECT_THROW(add(a, b_on_third, on_third), DeviceError);
}

TEST_F(ThirdDevice, IndexesByArraysAndMasks) {
  const Array host = numbers({6, 5}), on_third = to_device(host, third);
  const Array indices = empty({3}, int64, cpu);
  std::int64_t positions[] = {4, -6, 4};
  std::memcpy(indices.data(), positions, sizeof positions);
  const std::vector<IndexPart> key{Slice{1, 5, 1}, to_device(indices.slice(0, {0, 2, 1}), third)};
  const std::vector<IndexPart> rows{indices};
  expect_same(index_by(on_third, rows), index_by(host, rows));
  EXPECT_THROW((void)index_by(on_third, key), BoundsError);  // -6 of 5
  assign_by(on_third, rows, numbers({3, 5}));
  assign_by(host, rows, numbers({3, 5}));
  expect_same(on_third, host);
  accumulate_by(on_third, rows, full({}, 2.5, float32, cpu), Accumulation::add);
  accumulate_by(host, rows, full({}, 2.5, float32, cpu), Accumulation::add);
  expect_same(on_third, host);
  const Array mask = astype(host, bool_);
  expect_same(positions_of_true(to_device(mask, third)), positions_of_true(mask));
}

TEST_F(ThirdDevice, DrawsTheSameNumbers) {
  const Array host = empty({1001}, float32, cpu), on_third = empty({1001}, float32, third);
  for (const Array& out : {host, on_third}) {
    random::Counter counter({.key = 7});
    random::DrawSpec normal;
    normal.kind = random::Distribution::normal;
    random::draw(counter, normal, out);
  }
  expect_same(on_third, host);
}

TEST_F(ThirdDevice, UsesItsOwnProducts) {
  const Array a = numbers({4, 3}), b = numbers({3, 5});
  product_calls = 0;
  const Array on_third =
      linalg::multiply(linalg::ProductKind::matmul, to_device(a, third), to_device(b, third));
  EXPECT_EQ(product_calls, 1);
  expect_same(on_third, linalg::multiply(linalg::ProductKind::matmul, a, b));
}

TEST_F(ThirdDevice, NamesUnsupportedOperationsInErrors) {
  const Array on_third = to_device(numbers({4}), third);
  try {
    (void)reduce::reduce(reduce::Operation::sum, on_third, {});
    FAIL() << "reduced without an implementation";
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(),
                 "reduce: not implemented for device device12:0; move the arrays to the CPU: "
                 "a.to(\"cpu\")");
  }
}

}  // namespace
}  // namespace spanwise::ops
