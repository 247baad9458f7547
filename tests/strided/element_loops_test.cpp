// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The GPU's copies, casts and fills, whose kernels are run on the CPU.
#include "runtime/element_loops.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "spanwise/stream.hpp"
#include "support/layouts.hpp"
#include "support/naive_loops.hpp"

namespace spanwise::strided {
namespace {

using test::between;
using test::Random;
using Bytes = std::vector<unsigned char>;

constexpr DType all_dtypes[] = {bool_,    int8,    int16,   int32,     int64,
                                uint8,    uint16,  uint32,  uint64,    float16,
                                bfloat16, float32, float64, complex64, complex128};

const runtime::ElementLoops& loops() { return runtime::element_loops(Device(DeviceKind::cuda, 0)); }
runtime::StreamState& stream() { return Stream::current(cpu).state(); }

/// Host memory that the layout's elements lie in, `shift` bytes from a multiple of 16.
class Memory {
 public:
  Memory(const Layout& layout, DType dtype, int shift, unsigned char byte)
      : layout_(layout), dtype_(dtype), bytes_(size_of(layout, dtype), byte) {
    const auto at = reinterpret_cast<std::uintptr_t>(bytes_.data());
    skip_ = static_cast<std::size_t>((16 - at % 16) % 16) + static_cast<std::size_t>(shift);
  }
  Array array() {
    return Array(
        Storage::adopt(bytes_.data() + skip_, bytes_.size() - skip_, cpu, nullptr, nullptr),
        layout_, dtype_);
  }
  /// From the first byte of the array's memory on.
  Bytes bytes() const {
    return {bytes_.begin() + static_cast<std::ptrdiff_t>(skip_), bytes_.end() - 32};
  }

 private:
  static std::size_t size_of(const Layout& layout, DType dtype) {
    return static_cast<std::size_t>((layout.extent().second + 1 + layout.offset) *
                                    dtype.itemsize()) +
           64;
  }

  Layout layout_;
  DType dtype_;
  Bytes bytes_;
  std::size_t skip_;
};

void put_values(const Array& array, Random& random) {
  for (const std::int64_t at : test::offsets(array.layout())) {
    const Scalar value =
        Scalar(static_cast<double>(between(random, -300, 300)) / 4).cast(array.dtype());
    std::memcpy(static_cast<std::byte*>(array.storage().data()) + at * array.dtype().itemsize(),
                value.data(), static_cast<std::size_t>(array.dtype().itemsize()));
  }
}

// Both vectors end in bytes that nothing writes, of which one may have more.
bool prefix(const Bytes& a, const Bytes& b) {
  return std::equal(
      a.begin(), a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())), b.begin());
}

// Copies by the GPU's kernels and by naive loops into equal memory, of which no other byte changes.
void check_copy(Random& random, const Layout& source, DType from, const Layout& target, DType to,
                int source_shift = 0, int target_shift = 0) {
  Memory given(source, from, source_shift, 0);
  put_values(given.array(), random);
  Memory got(target, to, target_shift, 0xa5), wanted(target, to, target_shift, 0xa5);
  loops().copy(given.array(), got.array(), stream());
  test::naive_copy(test::Window(given.array()), test::Window(wanted.array()));
  ASSERT_TRUE(prefix(got.bytes(), wanted.bytes()))
      << from << ' ' << source << " + " << source_shift << " -> " << to << ' ' << target << " + "
      << target_shift;
}

TEST(GpuCopies, MoveElementsOfEveryWidthBetweenRandomLayouts) {
  Random random(20260601);
  for (int round = 0; round < 150 && !testing::Test::HasFailure(); ++round) {
    const DType dtype = std::array{uint8, float16, int32, float64,
                                   complex128}[static_cast<std::size_t>(between(random, 0, 4))];
    const Shape shape = test::random_shape(random, 4, 40);
    check_copy(random, test::with_random_strides(random, shape, 30), dtype,
               test::with_disjoint_strides(random, shape), dtype);
  }
}

TEST(GpuCopies, CastBetweenEveryPairOfDtypes) {
  Random random(20260602);
  for (const DType from : all_dtypes)
    for (const DType to : all_dtypes) {
      const Layout dense = Layout::row_major({5, 37});
      check_copy(random, dense, from, dense, to);
      if (testing::Test::HasFailure()) return;
    }
}

}  // namespace
}  // namespace spanwise::strided
