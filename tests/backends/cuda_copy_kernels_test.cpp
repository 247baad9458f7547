// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The copy kernels without a GPU: their text compiled by the host's compiler and run thread by
// thread, and every kind of them compiled by NVRTC.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "backends/cuda/compile/compiler.hpp"
#include "backends/cuda/compile/nvrtc.hpp"
#include "backends/cuda/copy/copy_plan.hpp"
#include "backends/cuda/copy/copy_source.hpp"
#include "core/convert.hpp"
#include "embedded/cuda_kernels.hpp"
#include "spanwise/error.hpp"
#include "support/layouts.hpp"

namespace spanwise::cuda {
namespace {

namespace device {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#define __device__
#include "../../sdk/device/elements.cuh"
// After it.
#include "backends/cuda/device/cast.cuh"
// The kernels of copies look for these beside Convert.
#include "backends/cuda/device/copy.cuh"
#include "backends/cuda/device/copy_tile.cuh"
// After it.
#include "backends/cuda/device/copy_packed.cuh"
#include "backends/cuda/device/copy_thin.cuh"
// After that.
#include "backends/cuda/device/copy_aligned_chunks.cuh"
#include "backends/cuda/device/copy_small_arrays.cuh"
#undef __device__
#pragma GCC diagnostic pop
}  // namespace device

using test::between;
using test::Random;

// Every plan is run with this many axes, so that few kernels have to be compiled here.
constexpr int most_axes = 5;

template <class Index, class Offset>
device::Axes<Index, Offset, most_axes> axes_of(const CopyPlan& plan) {
  device::Axes<Index, Offset, most_axes> axes = {};
  const std::size_t missing = most_axes - plan.axes.size();
  for (std::size_t i = 0; i < most_axes; ++i) {
    const CopyAxis axis = i < missing ? CopyAxis{} : plan.axes[i - missing];
    const FastDivisor divisor = fast_divisor(axis.extent);
    axes.extent[i] = static_cast<Index>(axis.extent);
    axes.source[i] = static_cast<Offset>(axis.source_stride);
    axes.target[i] = static_cast<Offset>(axis.target_stride);
    axes.multiplier[i] = divisor.multiplier;
    axes.shift[i] = divisor.shift;
  }
  return axes;
}

template <class Unit, class Index, class Offset>
class Emulator {
 public:
  Emulator(const CopyPlan& plan, const unsigned char* source, unsigned char* target)
      : plan_(plan),
        axes_(axes_of<Index, Offset>(plan)),
        source_(reinterpret_cast<const Unit*>(source + plan.source_offset)),
        target_(reinterpret_cast<Unit*>(target + plan.target_offset)) {}

  void run() {
    switch (plan_.kind) {
      case CopyPlan::Kind::tiled:
        return tiled();
      case CopyPlan::Kind::packed:
        if constexpr (sizeof(Unit) == 1) return packed<1, 1>();
        if constexpr (sizeof(Unit) == 2) return packed<2, 1>();
        if constexpr (sizeof(Unit) == 4) return packed<2, 2>();
        return;
      case CopyPlan::Kind::thin:
        if constexpr (sizeof(Unit) <= 8) {
          if (plan_.dense_source)
            return plan_.source_vectors ? thin<true, true>() : thin<true, false>();
          return plan_.source_vectors ? thin<false, true>() : thin<false, false>();
        }
        return;
      case CopyPlan::Kind::small_arrays:
        if constexpr (sizeof(Unit) <= 8)
          plan_.source_vectors ? small_arrays<true>() : small_arrays<false>();
        return;
      case CopyPlan::Kind::aligned_chunks:
        if constexpr (sizeof(Unit) <= 2) aligned_chunks();
        return;
      default:
        return strided<1>();
    }
  }

 private:
  template <int count>
  void strided() {
    if (plan_.elements == count) return with_pattern<count>();
    if constexpr (count * 2 * sizeof(Unit) <= 16) strided<count * 2>();
  }
  template <int count>
  void with_pattern() {
    if (plan_.pattern == CopyPlan::AccessPattern::contiguous)
      return each<count, device::Contiguous>();
    if (plan_.pattern == CopyPlan::AccessPattern::strided) return each<count, device::Strided>();
    reversed<count, 2>();
  }
  template <int count, int group>
  void reversed() {
    if constexpr (group <= count) {
      if (plan_.group == group) return each<count, device::Reversed<group>>();
      reversed<count, group * 2>();
    } else {
      FAIL() << "groups of " << plan_.group << " in units of " << plan_.elements;
    }
  }
  template <int count, class AccessPattern>
  void each() {
    constexpr int threads = 32, per_thread = 4;
    const auto size = static_cast<Index>(plan_.size());
    for (std::int64_t block = 0; block < plan_.blocks(threads, per_thread); ++block)
      for (unsigned thread = 0; thread < threads; ++thread)
        device::copy_strided<threads, per_thread, count, AccessPattern>(
            source_, target_, static_cast<Offset>(plan_.step), size, axes_,
            static_cast<unsigned>(block), thread);
  }

  void tiled() {
    for (std::int64_t block = 0; block < plan_.blocks(256, 1); ++block) {
      device::Tile<Unit> tile;
      std::memset(&tile, 0x5a, sizeof tile);
      const auto corner = device::tile_corner<Index>(static_cast<Index>(block), device::tile_side,
                                                     device::tile_side, axes_);
      for (unsigned i = 0; i < 256; ++i)
        device::load_tile(tile, source_, axes_, corner, i % 32, i / 32);
      for (unsigned i = 0; i < 256; ++i)
        device::store_tile(tile, target_, axes_, corner, i % 32, i / 32);
    }
  }

  template <int by_s, int by_t>
  void packed() {
    using Shape = device::PackedTile<Unit, by_s, by_t>;
    ASSERT_EQ(Shape::side_s, packed_sides(sizeof(Unit)).s);
    ASSERT_EQ(Shape::side_t, packed_sides(sizeof(Unit)).t);
    static Shape tile;
    for (std::int64_t block = 0; block < plan_.blocks(256, 1); ++block) {
      std::memset(&tile, 0x5a, sizeof tile);
      const auto corner = device::tile_corner<Index>(static_cast<Index>(block), Shape::side_s,
                                                     Shape::side_t, axes_);
      for (unsigned i = 0; i < 256; ++i) {
        plan_.source_vectors ? device::load_packed_tile<true>(tile, source_, axes_, corner, i)
                             : device::load_packed_tile<false>(tile, source_, axes_, corner, i);
      }
      for (unsigned i = 0; i < 256; ++i) {
        plan_.target_vectors ? device::store_packed_tile<true>(tile, target_, axes_, corner, i)
                             : device::store_packed_tile<false>(tile, target_, axes_, corner, i);
      }
    }
  }

  template <bool dense_source, bool vectors>
  void thin() {
    ASSERT_EQ(device::thin_bytes, thin_bytes);
    static device::ThinTile<Unit> tile;
    for (std::int64_t block = 0; block < plan_.blocks(256, 1); ++block) {
      std::memset(&tile, 0x5a, sizeof tile);
      const auto part = device::thin_chunk<Index>(static_cast<Index>(block),
                                                  static_cast<Index>(plan_.chunk), axes_);
      for (unsigned i = 0; i < 256; ++i)
        device::load_thin<dense_source, vectors>(tile, source_, part, axes_, i);
      for (unsigned i = 0; i < 256; ++i)
        device::store_thin<dense_source, vectors>(tile, target_, part, axes_, i);
    }
  }

  template <bool vectors>
  void small_arrays() {
    ASSERT_EQ(device::max_small_array_units, max_small_array_units);
    static device::SmallArrayTile<Unit> tile;
    const int inner = plan_.inner;
    for (std::int64_t block = 0; block < plan_.blocks(256, 1); ++block) {
      std::memset(&tile, 0x5a, sizeof tile);
      const auto part = device::small_array_chunk<Index>(
          static_cast<Index>(block), static_cast<Index>(plan_.chunk), inner, axes_);
      for (unsigned i = 0; i < 256; ++i)
        device::load_small_arrays<vectors>(tile, source_, part, inner, axes_, i);
      for (unsigned i = 0; i < 256; ++i)
        device::store_small_arrays<vectors>(tile, target_, part, i);
    }
  }

  void aligned_chunks() {
    const auto* source = reinterpret_cast<const char*>(source_);
    const auto size = static_cast<Index>(plan_.size());
    for (Index i = 0; i < size + 3; ++i)
      device::copy_aligned_chunk(source_, target_, static_cast<Index>(plan_.length),
                                 source + plan_.source_begin, source + plan_.source_end, size,
                                 axes_, i);
  }

  const CopyPlan& plan_;
  device::Axes<Index, Offset, most_axes> axes_;
  const Unit* source_;
  Unit* target_;
};

struct alignas(16) Word16 {
  std::uint64_t halves[2];
};

template <class Unit>
void run_plan(const CopyPlan& plan, const unsigned char* source, unsigned char* target) {
  Emulator<Unit, unsigned, int>(plan, source, target).run();
}

void run_words(const CopyPlan& plan, const unsigned char* source, unsigned char* target) {
  switch (plan.source_unit) {
    case 1:
      return run_plan<std::uint8_t>(plan, source, target);
    case 2:
      return run_plan<std::uint16_t>(plan, source, target);
    case 4:
      return run_plan<std::uint32_t>(plan, source, target);
    case 8:
      return run_plan<std::uint64_t>(plan, source, target);
    default:
      return run_plan<Word16>(plan, source, target);
  }
}

// Dense in `order`, outermost first, but for a gap between the steps of the outermost axis, which
// may run backwards.
Layout with_a_pitch(Random& random, const Shape& shape, std::initializer_list<int> order) {
  Layout layout{shape, Strides(shape.size()), 0};
  std::int64_t step = 1;
  for (auto axis = std::rbegin(order); axis != std::rend(order); ++axis) {
    const bool is_outer = std::next(axis) == std::rend(order);
    if (is_outer) step += between(random, 0, 20);
    layout.strides[*axis] = step;
    step *= shape[*axis];
    if (is_outer && between(random, 0, 3) == 0) {
      layout.strides[*axis] *= -1;
      layout.offset = (1 - shape[*axis]) * layout.strides[*axis];
    }
  }
  layout.offset += between(random, 0, 17);
  return layout;
}

// Axes in any order, without gaps, some of them backwards.
Layout random_dense(Random& random, const Shape& shape) {
  std::vector<int> order(static_cast<std::size_t>(shape.size()));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  Layout layout{shape, Strides(shape.size()), 0};
  std::int64_t step = 1;
  for (const int axis : order) {
    const bool backwards = between(random, 0, 5) == 0;
    layout.strides[axis] = backwards ? -step : step;
    if (backwards) layout.offset += (shape[axis] - 1) * step;
    step *= shape[axis];
  }
  return layout;
}

Shape shape_of_class(Random& random, int round) {
  switch (round % 8) {
    case 6:  // small matrices in a row
      return {between(random, 1, 3), between(random, 200, 900), between(random, 2, 6),
              between(random, 2, 6)};
    case 7:  // rows of bytes that begin anywhere
      return {between(random, 1, 9), between(random, 64, 300)};
    case 0:  // tiles, of one element in another order
      return {between(random, 14, 40), between(random, 14, 40)};
    case 1:  // packed tiles and their ragged ends
      return {between(random, 1, 3), between(random, 60, 200), between(random, 60, 200)};
    case 2:
      return {16 * between(random, 4, 9), 16 * between(random, 4, 9)};
    case 3:  // channels
      return {between(random, 1, 2), between(random, 2, 6), between(random, 30, 5000)};
    case 4:  // words of the other byte order
      return {between(random, 1, 20) * 4, std::int64_t{1} << between(random, 1, 3)};
    default:
      return test::random_shape(random, 4, 7, 1);
  }
}

struct PlansSeen {
  std::map<CopyPlan::Kind, int> kinds;
  std::map<std::pair<CopyPlan::AccessPattern, int>, int> patterns;  // and elements
};

void compare_copy(Random& random, int round, DType dtype, PlansSeen& seen) {
  const Shape shape = shape_of_class(random, round);
  const auto layout_of = [&] {
    return between(random, 0, 1) == 0 ? random_dense(random, shape)
                                      : test::with_disjoint_strides(random, shape);
  };
  Layout source = layout_of();
  Layout target = layout_of();
  if (round % 8 == 6) {
    source = with_a_pitch(random, shape, {0, 1, 3, 2});
    target = with_a_pitch(random, shape, {0, 1, 2, 3});
  } else if (round % 8 == 7) {
    source = with_a_pitch(random, shape, {0, 1});
    target = with_a_pitch(random, shape, {0, 1});
  }
  if (between(random, 0, 5) == 0) source.strides[source.rank() - 1] = 0;
  const auto width = static_cast<std::size_t>(dtype.itemsize());
  const auto bytes = [&](const Layout& layout) {
    return static_cast<std::size_t>(layout.extent().second + 1 + layout.offset) * width + 64;
  };
  std::vector<Word16> source_words(bytes(source) / 16 + 1), target_words(bytes(target) / 16 + 1);
  auto* from = reinterpret_cast<unsigned char*>(source_words.data());
  auto* to = reinterpret_cast<unsigned char*>(target_words.data());
  for (std::size_t i = 0; i < bytes(source); ++i) from[i] = static_cast<unsigned char>(random());
  std::memset(to, 0xa5, bytes(target));
  std::vector<unsigned char> expected(to, to + bytes(target));
  test::for_each_index(shape, [&](const test::Index& index) {
    std::memcpy(&expected[static_cast<std::size_t>(test::offset_of(target, index)) * width],
                from + static_cast<std::size_t>(test::offset_of(source, index)) * width, width);
  });
  const auto array = [&](void* data, const Layout& layout) {
    return Array(Storage::adopt(data, bytes(layout), cpu, nullptr, nullptr), layout, dtype);
  };
  const CopyPlan plan = plan_copy(array(from, source), array(to, target));
  ++seen.kinds[plan.kind];
  if (plan.kind == CopyPlan::Kind::strided) ++seen.patterns[{plan.pattern, plan.elements}];
  // Plans count from element (0, ..., 0).
  run_words(plan, from + source.offset * dtype.itemsize(), to + target.offset * dtype.itemsize());
  ASSERT_TRUE(std::equal(expected.begin(), expected.end(), to))
      << dtype << ' ' << source << " -> " << target << ", " << plan.axes.size() << " axes, kind "
      << static_cast<int>(plan.kind) << ", pattern " << static_cast<int>(plan.pattern);
}

TEST(CopyKernels, MoveExactlyTheElementsOfRandomLayouts) {
  Random random(20260503);
  const DType dtypes[] = {uint8, float16, float32, float64, complex128};
  PlansSeen seen;
  for (int round = 0; round < 2000 && !HasFatalFailure(); ++round) {
    const bool is_bytes = round % 8 == 4 || round % 8 == 7;
    compare_copy(random, round, dtypes[is_bytes ? 0 : between(random, 0, 4)], seen);
  }
  // The kernel under test must actually run.
  for (const auto kind :
       {CopyPlan::Kind::strided, CopyPlan::Kind::tiled, CopyPlan::Kind::packed,
        CopyPlan::Kind::thin, CopyPlan::Kind::small_arrays, CopyPlan::Kind::aligned_chunks}) {
    EXPECT_GT(seen.kinds[kind], 10) << static_cast<int>(kind);
  }
  EXPECT_GT((seen.patterns[{CopyPlan::AccessPattern::reversed, 4}]), 0);
  EXPECT_GT((seen.patterns[{CopyPlan::AccessPattern::reversed, 16}]), 0);
  EXPECT_GT((seen.patterns[{CopyPlan::AccessPattern::strided, 4}]), 0);
}

TEST(CopyKernels, DivideExactlyByMultiplying) {
  Random random(20260506);
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  for (int round = 0; round < 20000; ++round) {
    const std::int64_t extent =
        round < 600 ? round + 1 : between(random, 1, most >> between(random, 0, 30));
    const FastDivisor divisor = fast_divisor(extent);
    for (const std::int64_t near : {std::int64_t{0}, between(random, 0, most), most}) {
      for (const std::int64_t n : {near, near / extent * extent, near / extent * extent - 1}) {
        if (n < 0) continue;
        const std::uint64_t product = static_cast<std::uint64_t>(n) * divisor.multiplier;
        ASSERT_EQ(static_cast<std::int64_t>(product >> divisor.shift), n / extent)
            << n << " / " << extent;
      }
    }
  }
}

struct __attribute__((may_alias)) PairUnit {
  unsigned long long both;
};
struct __attribute__((may_alias, aligned(16))) QuadUnit {
  unsigned long long halves[2];
};

TEST(CopyKernels, FillsWriteExactlyTheElements) {
  Random random(20260504);
  for (int round = 0; round < 200; ++round) {
    const Layout layout = test::with_disjoint_strides(random, test::random_shape(random, 3, 9, 1));
    std::vector<std::uint32_t> memory(
        static_cast<std::size_t>(layout.extent().second + 1 + layout.offset) + 8, 7u);
    std::vector<std::uint32_t> expected = memory;
    for (const std::int64_t at : test::offsets(layout))
      expected[static_cast<std::size_t>(at)] = 42u;
    const Array target(Storage::adopt(memory.data(), memory.size() * 4, cpu, nullptr, nullptr),
                       layout, uint32);
    const CopyPlan plan = plan_fill(target);
    auto* to = static_cast<std::byte*>(target.data()) + plan.target_offset;
    const auto axes = axes_of<unsigned, int>(plan);
    const auto fill = [&]<class Unit>(Unit value) {
      const auto size = static_cast<unsigned>(plan.size());
      for (unsigned i = 0; i < (size + 7) / 8 * 8; ++i)
        device::fill_strided<8>(reinterpret_cast<Unit*>(to), value, size, axes, i / 8, i % 8);
    };
    constexpr unsigned long long both = 42ull << 32 | 42u;
    if (plan.elements == 1) fill(42u);
    if (plan.elements == 2) fill(PairUnit{both});
    if (plan.elements == 4) fill(QuadUnit{{both, both}});
    ASSERT_EQ(memory, expected) << layout;
  }
}

// ---- Casts, as the device computes them, against the core's. Halves need the GPU's instructions
// and are compared there.

template <class T>
struct OnDevice {
  using Type = T;
  static T put(T value) { return value; }
  static T take(T value) { return value; }
};
template <>
struct OnDevice<bool> {
  using Type = device::Bool;
  static Type put(bool value) { return {static_cast<unsigned char>(value)}; }
  static bool take(Type value) { return value.byte != 0; }
};
template <>
struct OnDevice<BFloat16> {
  using Type = device::BFloat;
  static Type put(BFloat16 value) { return {value.bits}; }
  static BFloat16 take(Type value) { return std::bit_cast<BFloat16>(value); }
};
template <class T>
struct OnDevice<std::complex<T>> {
  using Type = device::WholeComplex<T>;
  static Type put(std::complex<T> value) { return {value.real(), value.imag()}; }
  static std::complex<T> take(Type value) { return {value.re, value.im}; }
};

template <class T>
std::vector<T> samples() {
  const double values[] = {0,
                           1,
                           -1,
                           2.5,
                           -2.5,
                           127.9,
                           128,
                           255.5,
                           -129,
                           65535,
                           70000,
                           2147483647.0,
                           2147483648.0,
                           -2147483648.0,
                           -2147483648.5,
                           -2147483649.0,
                           4294967295.0,
                           4294967296.0,
                           9.2e18,
                           9223372036854775808.0,
                           1.8e19,
                           2e19,
                           -9.3e18,
                           1e300,
                           -1e300,
                           1e-40,
                           3.14159265358979,
                           1.00390625,
                           1.01171875,
                           std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN()};
  std::vector<T> all;
  Random random(20260505);
  for (const double value : values) all.push_back(core::convert<T>(value));
  for (int i = 0; i < 200; ++i) {
    all.push_back(core::convert<T>(
        std::ldexp(static_cast<double>(random()), static_cast<int>(between(random, -80, 4)))));
  }
  return all;
}

template <class T>
bool same(T a, T b) {
  if constexpr (core::is_complex_type<T>) {
    return same(a.real(), b.real()) && same(a.imag(), b.imag());
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return same(static_cast<float>(a), static_cast<float>(b));
  } else {
    return std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
  }
}

template <class To, class From>
void compare_cast() {
  for (const From value : samples<From>()) {
    const To expected = core::convert<To>(value);
    const To got = OnDevice<To>::take(
        device::Convert<typename OnDevice<To>::Type, typename OnDevice<From>::Type>::from(
            OnDevice<From>::put(value)));
    ASSERT_TRUE(same(got, expected))
        << core::convert<double>(value) << " to " << core::convert<double>(expected) << ", got "
        << core::convert<double>(got);
  }
}

template <class From>
void compare_casts_from() {
  compare_cast<bool, From>();
  compare_cast<std::int8_t, From>();
  compare_cast<std::int16_t, From>();
  compare_cast<std::int32_t, From>();
  compare_cast<std::uint8_t, From>();
  compare_cast<std::uint16_t, From>();
  compare_cast<std::uint32_t, From>();
  compare_cast<BFloat16, From>();
  compare_cast<float, From>();
  compare_cast<double, From>();
  compare_cast<std::complex<float>, From>();
  compare_cast<std::complex<double>, From>();
}

TEST(CastKernels, MatchTheCpu) {
  compare_casts_from<bool>();
  compare_casts_from<std::int8_t>();
  compare_casts_from<std::int32_t>();
  compare_casts_from<std::uint16_t>();
  compare_casts_from<std::uint32_t>();
  compare_casts_from<BFloat16>();
  compare_casts_from<float>();
  compare_casts_from<double>();
  compare_casts_from<std::complex<float>>();
  compare_casts_from<std::complex<double>>();
}

TEST(CastKernels, WideIntegersToo) {
  // The device's 64-bit types are (unsigned) long long.
  for (const double value : samples<double>()) {
    EXPECT_EQ((device::Convert<long long, double>::from(value)), core::convert<std::int64_t>(value))
        << value;
    EXPECT_EQ((device::Convert<unsigned long long, double>::from(value)),
              core::convert<std::uint64_t>(value))
        << value;
    const auto narrow = static_cast<float>(value);
    EXPECT_EQ((device::Convert<long long, float>::from(narrow)),
              core::convert<std::int64_t>(narrow))
        << value;
    EXPECT_EQ((device::Convert<unsigned long long, float>::from(narrow)),
              core::convert<std::uint64_t>(narrow))
        << value;
  }
}

// ---- Every kind of kernel, compiled for a GPU.

constexpr DType computable[] = {bool_,    int8,    int16,   int32,     int64,
                                uint8,    uint16,  uint32,  uint64,    float16,
                                bfloat16, float32, float64, complex64, complex128};

class GeneratedKernels : public testing::Test {
 protected:
  void SetUp() override {
    if (nvrtc::installation()->library.empty()) GTEST_SKIP() << "NVRTC is not installed";
  }
  static void expect_compiles(const CopyKernelText& kernel) {
    source::KernelSource source;
    source.text = kernel.text;
    runtime::CompileRequest request;
    request.source = &source;
    EXPECT_NO_THROW(EXPECT_EQ(compile({9, 0}, request).symbols.count(kernel.name), 1u))
        << kernel.name;
  }
  static CopyPlan plan(CopyPlan::Kind kind, int rank, bool wide, int source_unit, int target_unit) {
    CopyPlan result;
    result.kind = kind;
    result.wide = wide;
    result.source_unit = source_unit;
    result.target_unit = target_unit;
    for (int i = 0; i < rank; ++i) result.axes.push_back({2, 1, 1});
    return result;
  }
};

TEST_F(GeneratedKernels, OfCopiesCompileForEveryWordRankAndIndex) {
  for (const int word : {1, 2, 4, 8, 16}) {
    for (const bool wide : {false, true}) {
      for (const int axes : {1, 3}) {
        expect_compiles(
            copy_kernel_text(plan(CopyPlan::Kind::strided, axes, wide, word, word), uint8, uint8));
      }
      expect_compiles(
          copy_kernel_text(plan(CopyPlan::Kind::tiled, 2, wide, word, word), uint8, uint8));
      expect_compiles(fill_kernel_text(plan(CopyPlan::Kind::strided, 2, wide, word, word)));
    }
  }
  expect_compiles(copy_kernel_text(plan(CopyPlan::Kind::strided, 65, true, 1, 1), uint8, uint8));
  expect_compiles(copy_kernel_text(plan(CopyPlan::Kind::tiled, 5, false, 4, 4), uint8, uint8));
}

TEST_F(GeneratedKernels, OfVectorsCompile) {
  for (const int word : {1, 2, 4, 8}) {
    CopyPlan result = plan(CopyPlan::Kind::strided, 2, word == 2, word, word);
    for (result.elements = 2; result.elements * word <= 16; result.elements *= 2) {
      result.pattern = CopyPlan::AccessPattern::strided;
      expect_compiles(copy_kernel_text(result, uint8, uint8));
      expect_compiles(fill_kernel_text(result));
      result.pattern = CopyPlan::AccessPattern::reversed;
      result.group = word == 1 ? 2 : result.elements;
      expect_compiles(copy_kernel_text(result, uint8, uint8));
    }
  }
  CopyPlan cast = plan(CopyPlan::Kind::strided, 2, false, 2, 4);
  cast.elements = 4;
  expect_compiles(copy_kernel_text(cast, float16, float32));
  cast = plan(CopyPlan::Kind::strided, 2, false, 8, 1);
  cast.elements = 2;
  expect_compiles(copy_kernel_text(cast, complex64, bool_));
}

TEST_F(GeneratedKernels, OfPackedAndThinTilesCompile) {
  for (const int word : {1, 2, 4}) {
    CopyPlan result = plan(CopyPlan::Kind::packed, 3, word == 2, word, word);
    for (const bool vectors : {false, true}) {
      result.source_vectors = vectors;
      result.target_vectors = word == 4 || vectors;
      expect_compiles(copy_kernel_text(result, uint8, uint8));
    }
  }
  for (const int word : {1, 2, 4, 8}) {
    CopyPlan result = plan(CopyPlan::Kind::thin, 3, word == 2, word, word);
    for (const bool vectors : {false, true}) {
      result.source_vectors = result.target_vectors = vectors;
      result.dense_source = !result.dense_source;
      expect_compiles(copy_kernel_text(result, uint8, uint8));
    }
    result.dense_source = !result.dense_source;
    expect_compiles(copy_kernel_text(result, uint8, uint8));
  }
}

TEST_F(GeneratedKernels, OfCellsAndGranulesCompile) {
  for (const int word : {1, 2, 4, 8}) {
    CopyPlan result = plan(CopyPlan::Kind::small_arrays, 3, word == 2, word, word);
    result.source_vectors = result.target_vectors = word != 8;
    result.inner = 2;
    expect_compiles(copy_kernel_text(result, uint8, uint8));
  }
  for (const int word : {1, 2})
    expect_compiles(copy_kernel_text(plan(CopyPlan::Kind::aligned_chunks, 2, word == 2, word, word),
                                     uint8, uint8));
}

TEST_F(GeneratedKernels, OfCastsCompileFromAndToEveryDtype) {
  // Each dtype on both sides, without all 210 pairs.
  for (std::size_t i = 0; i < std::size(computable); ++i) {
    for (const std::size_t step : {std::size_t{1}, std::size_t{4}}) {
      const DType from = computable[i], to = computable[(i + step) % std::size(computable)];
      expect_compiles(
          copy_kernel_text(plan(step == 4 ? CopyPlan::Kind::tiled : CopyPlan::Kind::strided, 2,
                                i % 2 == 1, from.itemsize(), to.itemsize()),
                           from, to));
    }
  }
}

TEST_F(GeneratedKernels, ConvertBetweenAllPairsOfDtypes) {
  // One source for all of them: a compilation each would take minutes.
  const std::pair<const char*, const char*> types[] = {{"b", "Bool"},
                                                       {"i8", "signed char"},
                                                       {"i16", "short"},
                                                       {"i32", "int"},
                                                       {"i64", "long long"},
                                                       {"u8", "unsigned char"},
                                                       {"u16", "unsigned short"},
                                                       {"u32", "unsigned"},
                                                       {"u64", "unsigned long long"},
                                                       {"f16", "Half"},
                                                       {"bf16", "BFloat"},
                                                       {"f32", "float"},
                                                       {"f64", "double"},
                                                       {"c64", "WholeComplex<float>"},
                                                       {"c128", "WholeComplex<double>"}};
  source::KernelSource source;
  for (const char* name : {"elements.cuh", "cast.cuh"})
    source.text += embedded::file_text(embedded::cuda_kernels, name);
  for (const auto& [from_name, from] : types) {
    for (const auto& [to_name, to] : types) {
      source.text +=
          text("extern \"C\" __global__ void cast_", from_name, "_to_", to_name, "(const ", from,
               "* x, ", to, "* y) {\n  *y = Convert<", to, ", ", from, ">::from(*x);\n}\n");
    }
  }
  runtime::CompileRequest request;
  request.source = &source;
  EXPECT_EQ(compile({9, 0}, request).symbols.size(), std::size(types) * std::size(types));
}

TEST(CopyKernelKeys, DifferForDifferentKernels) {
  std::vector<CopyKernelKey> keys;
  std::vector<std::string> texts;
  for (const CopyPlan::Kind kind : {CopyPlan::Kind::strided, CopyPlan::Kind::tiled}) {
    for (const int rank : {2, 3}) {
      for (const bool wide : {false, true}) {
        CopyPlan plan;
        plan.kind = kind;
        plan.wide = wide;
        for (int i = 0; i < rank; ++i) plan.axes.push_back({2, 1, 1});
        for (const DType from : computable) {
          for (const DType to : computable) {
            plan.source_unit = from.itemsize();
            plan.target_unit = from == to ? from.itemsize() : to.itemsize();
            keys.push_back(copy_kernel_key(plan, from, to));
            texts.push_back(copy_kernel_text(plan, from, to).name);
          }
        }
      }
    }
  }
  for (std::size_t i = 0; i < keys.size(); i += 7) {
    for (std::size_t j = 0; j < keys.size(); ++j)
      ASSERT_EQ(keys[i] == keys[j], texts[i] == texts[j]) << texts[i] << texts[j];
  }
}

}  // namespace
}  // namespace spanwise::cuda
