// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <complex>
#include <numeric>

#include "core/element_conversion.hpp"
#include "cuda_device.hpp"
#include "runtime/copy_steps.hpp"
#include "spanwise/core/element_types.hpp"
#include "support/layouts.hpp"

namespace spanwise::cuda {
namespace {

using test::between;
using test::Random;
using Bytes = std::vector<unsigned char>;

constexpr DType copied_dtypes[] = {bool_,    int8,    int16,   int32,     int64,
                                   uint8,    uint16,  uint32,  uint64,    float16,
                                   bfloat16, float32, float64, complex64, complex128};

// The bytes of a block that holds the layout, and 64 unused ones behind it.
std::size_t span_bytes(const Layout& layout, DType dtype) {
  return static_cast<std::size_t>((layout.offset_range().second + 1 + layout.offset) *
                                  dtype.itemsize()) +
         64;
}

// Random elements; for computable dtypes some at the limits of narrower dtypes, infinite or NaN.
Bytes random_elements(Random& random, DType dtype, std::size_t bytes) {
  const double special[] = {0,
                            1,
                            -1,
                            0.5,
                            -2.75,
                            127.5,
                            255,
                            -129,
                            65504,
                            65520,
                            70000,
                            3e9,
                            -3e9,
                            1e19,
                            1e300,
                            1e-7,
                            6.1e-5,
                            1.00048828125,
                            2049,
                            std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()};
  Bytes all(bytes);
  if (!dtype.is_computable()) {
    for (unsigned char& byte : all) byte = static_cast<unsigned char>(random());
    return all;
  }
  const auto width = static_cast<std::size_t>(dtype.itemsize());
  for (std::size_t at = 0; at + width <= bytes; at += width) {
    const double value =
        between(random, 0, 2) == 0
            ? special[static_cast<std::size_t>(between(random, 0, std::size(special) - 1))]
            : std::ldexp(static_cast<double>(between(random, -1 << 20, 1 << 20)),
                         static_cast<int>(between(random, -24, 20)));
    std::memcpy(&all[at], Scalar(value).cast(dtype).data(), width);
  }
  return all;
}

template <class T>
bool same_value(T a, T b) {
  if constexpr (core::is_complex_type<T>) {
    return same_value(a.real(), b.real()) && same_value(a.imag(), b.imag());
  } else if constexpr (core::is_half_type<T>) {
    return same_value(static_cast<float>(a), static_cast<float>(b));
  } else if constexpr (std::is_same_v<T, bool>) {
    return a == b;
  } else {
    return std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
  }
}

class CudaCopies : public CudaTest {
 protected:
  // Copies on the device, and compares every byte of the target's storage with a copy by the host.
  void check_copy(Random& random, const Layout& source, DType from, const Layout& target,
                  DType to) {
    const Bytes source_bytes = random_elements(random, from, span_bytes(source, from));
    Bytes expected(span_bytes(target, to));
    for (unsigned char& byte : expected) byte = static_cast<unsigned char>(random());
    DeviceBytes a(source_bytes.size()), b(expected.size());
    a.put(source_bytes.data());
    b.put(expected.data());
    const auto [sources, targets] =
        runtime::as_computable(a.array(source, from), b.array(target, to));
    loops().copy(sources, targets, *default_stream());
    const Bytes actual = b.get<unsigned char>();
    compare(source, from, source_bytes, target, to, expected, actual);
  }

 private:
  void compare(const Layout& source, DType from, const Bytes& source_bytes, const Layout& target,
               DType to, Bytes& expected, const Bytes& actual) {
    const auto from_width = static_cast<std::size_t>(from.itemsize()),
               to_width = static_cast<std::size_t>(to.itemsize());
    const auto source_at = test::offsets(source), target_at = test::offsets(target);
    for (std::size_t i = 0; i < source_at.size(); ++i) {
      const unsigned char* element =
          &source_bytes[static_cast<std::size_t>(source_at[i]) * from_width];
      const auto at = static_cast<std::size_t>(target_at[i]) * to_width;
      if (from == to) {
        std::memcpy(&expected[at], element, to_width);
        continue;
      }
      const Scalar expected_value = Scalar(from, element).cast(to);
      core::visit(to, "test", [&]<class T>(std::type_identity<T>) {
        const T host_value = core::load<T>(expected_value.data()),
                device_value = core::load<T>(&actual[at]);
        EXPECT_TRUE(same_value(host_value, device_value))
            << Scalar(from, element) << " (" << from << ") to " << expected_value << " (" << to
            << "), got " << Scalar(to, &actual[at]);
      });
      std::memcpy(&expected[at], &actual[at], to_width);
    }
    EXPECT_TRUE(expected == actual)
        << from << ' ' << source << " -> " << to << ' ' << target
        << ": bytes outside of the target changed, or elements were not copied";
  }
};

TEST_F(CudaCopies, MoveElementsOfEveryWidthBetweenRandomLayouts) {
  Random random(20260601);
  const DType dtypes[] = {uint8, float16, int32, float64, complex128, DType(DTypeCode::uint, 24)};
  for (int round = 0; round < 300 && !HasFailure(); ++round) {
    const DType dtype = dtypes[between(random, 0, 5)];
    const Shape shape = test::random_shape(random, 5, 12);
    check_copy(random, test::with_random_strides(random, shape, 30), dtype,
               test::with_disjoint_strides(random, shape), dtype);
  }
}

TEST_F(CudaCopies, CastBetweenEveryPairOfDtypes) {
  Random random(20260602);
  for (const DType from : copied_dtypes) {
    for (const DType to : copied_dtypes) {
      const Shape shape{between(random, 1, 9), between(random, 20, 70)};
      const Layout dense = Layout::row_major(shape);
      check_copy(random,
                 between(random, 0, 1) == 0 ? dense : test::with_random_strides(random, shape, 9),
                 from, test::with_disjoint_strides(random, shape), to);
    }
  }
}

TEST_F(CudaCopies, TransposeEveryWidthAtSizesThatDoNotFillTheTiles) {
  Random random(20260603);
  for (const DType dtype : {uint8, int16, float32, float64, complex128}) {
    const Shape shape{257, 129};
    check_copy(random, Layout::column_major(shape), dtype, Layout::row_major(shape), dtype);
    const Shape batch{3, 65, 2, 100};
    const int axes[] = {0, 3, 2, 1};
    check_copy(random, Layout::row_major(batch).permute(axes), dtype,
               Layout::row_major({3, 100, 2, 65}), dtype);
  }
  const Shape shape{300, 200};
  check_copy(random, Layout::column_major(shape), float64, Layout::row_major(shape), float16);
}

TEST_F(CudaCopies, MoveLongRunsRowsAndReversals) {
  Random random(20260604);
  const Layout dense = Layout::row_major({1000, 1000});
  const Layout rows = Layout::row_major({1000, 1500}).slice(1, {.start = 3, .stop = 1003});
  const Layout reversed = dense.slice(0, {.step = -1}).slice(1, {.step = -1});
  for (const Layout& layout : {dense, rows, reversed}) {
    check_copy(random, layout, float32, dense, float32);
    check_copy(random, dense, int16, layout, int16);
  }
  check_copy(random, Layout::row_major({1, 1000}).broadcast_to({300, 1000}), float32,
             Layout::row_major({300, 1000}), float32);
}

TEST_F(CudaCopies, EmptyArraysAreAccepted) {
  DeviceBytes a(16);
  loops().copy(a.array(Layout::row_major({0, 3}), float32),
               a.array(Layout::row_major({0, 3}), float32), *default_stream());
  loops().fill(a.array(Layout::row_major({0}), float32), Scalar(1.0f), *default_stream());
}

TEST_F(CudaCopies, OffsetsBeyond31BitsAreReached) {
  if (backend().memory(0).free < (std::int64_t{12} << 30))
    GTEST_SKIP() << "less than 12 GiB are free";
  const std::int64_t step = (std::int64_t{1} << 32) + 5;
  const Layout far{{3, 2}, {step, 3}, 1};
  DeviceBytes large(static_cast<std::size_t>(far.offset_range().second + 1)), small(6);
  const unsigned char values[] = {1, 2, 3, 4, 5, 6};
  small.put(values);
  const Array target = large.array(far, uint8),
              packed = small.array(Layout::row_major({3, 2}), uint8);
  loops().copy(packed, target, *default_stream());
  loops().fill(packed, Scalar(uint8, "\x63"), *default_stream());
  loops().copy(target, packed, *default_stream());
  EXPECT_EQ(small.get<unsigned char>(), Bytes(std::begin(values), std::end(values)));
}

TEST_F(CudaCopies, FillWritesOnlyTheElements) {
  Random random(20260605);
  for (const DType dtype : copied_dtypes) {
    for (int round = 0; round < 6 && !HasFailure(); ++round) {
      const Shape shape = test::random_shape(random, 3, 30);
      const Layout layout =
          round == 0 ? Layout::row_major(shape) : test::with_disjoint_strides(random, shape);
      // Values with equal bytes, equal 16-bit or 32-bit halves, and different bytes.
      const double values[] = {0, 1, -1, 257, 3.140625, 1e-3};
      const Scalar value = Scalar(values[round]).cast(dtype);
      Bytes expected(span_bytes(layout, dtype));
      for (unsigned char& byte : expected) byte = static_cast<unsigned char>(random());
      DeviceBytes block(expected.size());
      block.put(expected.data());
      const auto width = static_cast<std::size_t>(dtype.itemsize());
      for (const std::int64_t at : test::offsets(layout))
        std::memcpy(&expected[static_cast<std::size_t>(at) * width], value.data(), width);
      loops().fill(block.array(layout, dtype), value, *default_stream());
      ASSERT_TRUE(block.get<unsigned char>() == expected)
          << dtype << ' ' << layout << " = " << value;
    }
  }
}

TEST_F(CudaCopies, FillOfAComplexPatternRepeatsIt) {
  DeviceBytes block(16 * 1000);
  const std::complex<double> value(1.25, -3.5);
  loops().fill(block.array(Layout::row_major({1000}), complex128), Scalar(value),
               *default_stream());
  EXPECT_EQ(block.get<std::complex<double>>(), std::vector<std::complex<double>>(1000, value));
}

TEST_F(CudaCopies, AreQueuedOnTheirStream) {
  const Ref<runtime::StreamState> stream = backend().create_stream(0);
  DeviceBytes a(400), b(400);
  const Layout layout = Layout::row_major({10, 10});
  loops().copy(a.array(layout.transpose(), float32), b.array(layout, float32),
               *stream);  // compiles
  backend().synchronize(0);
  constexpr int one_bits = 0x3f800000;  // of 1.0f
  launch(*delayed_write(), 1, *stream, static_cast<int*>(a.data()), one_bits, 100 * ns_per_ms);
  loops().copy(a.array(layout.transpose(), float32), b.array(layout, float32), *stream);
  EXPECT_FALSE(stream->query());
  stream->synchronize();
  EXPECT_EQ(b.get<float>()[0], 1.0f);
}

// When kernels are launched as graphs, a kernel copies small blocks.
TEST_F(CudaCopies, ContiguousBytesAreCopiedWithGraphLaunches) {
  const ScopedLaunchConfig setting("graph");
  constexpr std::int64_t max_count = (1 << 20) + 3, margin = 64;
  std::vector<unsigned char> bytes(max_count + 2 * margin), poison(max_count + 2 * margin, 0xa5);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(i * 7 + i / 251);
  DeviceBytes from(bytes.size()), to(bytes.size());
  from.put(bytes.data());
  for (const std::int64_t count : {1, 2, 3, 16, 33, 4096, 65537, 1 << 20, (1 << 20) + 3}) {
    for (const std::int64_t begin : {0, 1, 4, 16}) {
      to.put(poison.data());
      const auto part = [&](const DeviceBytes& block) {
        const auto size = static_cast<std::int64_t>(block.size());
        return block.array(Layout::row_major({size}), uint8).slice(0, {begin, begin + count, 1});
      };
      loops().copy(part(from), part(to), *default_stream());
      std::vector<unsigned char> expected = poison;
      std::copy_n(bytes.begin() + begin, count, expected.begin() + begin);
      EXPECT_TRUE(to.get<unsigned char>() == expected) << count << " from " << begin;
    }
  }
}

}  // namespace
}  // namespace spanwise::cuda
