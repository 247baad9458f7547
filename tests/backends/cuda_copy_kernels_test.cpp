// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The copy kernels without a GPU: their text compiled by the host's compiler and run thread by
// thread, and every kind of them compiled by NVRTC.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "backends/cuda/compiler.hpp"
#include "backends/cuda/copy_plan.hpp"
#include "backends/cuda/copy_source.hpp"
#include "backends/cuda/nvrtc.hpp"
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
#include "backends/cuda/device/cast.cuh"
// The kernels of copies look for these beside Convert.
#include "backends/cuda/device/copy.cuh"
#undef __device__
#pragma GCC diagnostic pop
}  // namespace device

using test::between;
using test::Random;

template <class Unit, class Index, class Offset, int rank>
device::Axes<Index, Offset, rank> axes_of(const CopyPlan& plan) {
  device::Axes<Index, Offset, rank> axes;
  for (int i = 0; i < rank; ++i) {
    const CopyAxis& axis = plan.axes[static_cast<std::size_t>(i)];
    axes.extent[i] = static_cast<Index>(axis.extent);
    axes.source[i] = static_cast<Offset>(axis.source_stride);
    axes.target[i] = static_cast<Offset>(axis.target_stride);
  }
  return axes;
}

template <class Unit, class Index, class Offset, int rank>
void run_strided(const CopyPlan& plan, const Unit* source, Unit* target) {
  constexpr int threads = 32, per_thread = 4;
  const auto axes = axes_of<Unit, Index, Offset, rank>(plan);
  const auto size = static_cast<Index>(plan.size());
  const auto blocks =
      static_cast<unsigned>((plan.size() + threads * per_thread - 1) / (threads * per_thread));
  for (unsigned block = 0; block < blocks; ++block)
    for (unsigned thread = 0; thread < threads; ++thread)
      device::copy_strided<threads, per_thread>(source, target, size, axes, block, thread);
}

template <class Unit, class Index, class Offset, int rank>
void run_tiled(const CopyPlan& plan, const Unit* source, Unit* target) {
  const auto axes = axes_of<Unit, Index, Offset, rank>(plan);
  std::int64_t blocks = 1;
  for (int i = 0; i < rank; ++i) {
    const std::int64_t extent = plan.axes[static_cast<std::size_t>(i)].extent;
    blocks *= i + 2 < rank ? extent : (extent + device::tile_side - 1) / device::tile_side;
  }
  for (std::int64_t block = 0; block < blocks; ++block) {
    device::Tile<Unit> tile;
    std::memset(&tile, 0x5a, sizeof tile);
    const auto corner = device::tile_corner<Index>(static_cast<Index>(block), axes);
    for (unsigned y = 0; y < device::tile_rows; ++y)
      for (unsigned x = 0; x < device::tile_side; ++x)
        device::load_tile(tile, source, axes, corner, x, y);
    for (unsigned y = 0; y < device::tile_rows; ++y)
      for (unsigned x = 0; x < device::tile_side; ++x)
        device::store_tile(tile, target, axes, corner, x, y);
  }
}

template <class Unit, int rank>
void run_rank(const CopyPlan& plan, const Unit* source, Unit* target) {
  if (plan.kind != CopyPlan::Kind::tiled) {
    run_strided<Unit, unsigned, int, rank>(plan, source, target);
  } else if constexpr (rank >= 2) {
    run_tiled<Unit, unsigned long long, long long, rank>(plan, source, target);
  }
}

template <class Unit>
void run_plan(const CopyPlan& plan, const unsigned char* source, unsigned char* target) {
  const auto* from = reinterpret_cast<const Unit*>(source + plan.source_offset);
  auto* to = reinterpret_cast<Unit*>(target + plan.target_offset);
  switch (plan.axes.size()) {
    case 1:
      return run_rank<Unit, 1>(plan, from, to);
    case 2:
      return run_rank<Unit, 2>(plan, from, to);
    case 3:
      return run_rank<Unit, 3>(plan, from, to);
    default:
      return run_rank<Unit, 4>(plan, from, to);
  }
}

struct alignas(16) Word16 {
  std::uint64_t halves[2];
};

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

TEST(CopyKernels, MoveExactlyTheElementsOfRandomLayouts) {
  Random random(20260503);
  const DType dtypes[] = {uint8, float16, float32, float64, complex128};
  int tiled = 0;
  for (int round = 0; round < 400; ++round) {
    const DType dtype = dtypes[between(random, 0, 4)];
    Shape shape = test::random_shape(random, 3, 7, 1);
    if (round % 2 == 1) shape = {between(random, 14, 40), between(random, 14, 40)};
    const Layout source = test::with_disjoint_strides(random, shape);
    const Layout target = test::with_disjoint_strides(random, shape);
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
    tiled += plan.kind == CopyPlan::Kind::tiled;
    // Plans count from element (0, ..., 0).
    run_words(plan, from + source.offset * dtype.itemsize(), to + target.offset * dtype.itemsize());
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), to))
        << dtype << ' ' << source << " -> " << target << ", " << plan.axes.size() << " axes";
  }
  EXPECT_GT(tiled, 10) << "the test has to see tiles";
}

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
    ASSERT_LE(plan.axes.size(), 3u);
    auto* to = reinterpret_cast<std::uint32_t*>(static_cast<std::byte*>(target.data()) +
                                                plan.target_offset);
    const auto fill = [&]<int rank>(std::integral_constant<int, rank>) {
      const auto axes = axes_of<std::uint32_t, unsigned, int, rank>(plan);
      for (unsigned i = 0; i < plan.size(); ++i)
        device::fill_strided<8>(to, 42u, static_cast<unsigned>(plan.size()), axes, i / 8, i % 8);
    };
    if (plan.axes.size() == 1) fill(std::integral_constant<int, 1>{});
    if (plan.axes.size() == 2) fill(std::integral_constant<int, 2>{});
    if (plan.axes.size() == 3) fill(std::integral_constant<int, 3>{});
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
  static bool take(Type value) { return value.bits != 0; }
};
template <>
struct OnDevice<BFloat16> {
  using Type = device::BFloat16;
  static Type put(BFloat16 value) { return {value.bits}; }
  static BFloat16 take(Type value) { return std::bit_cast<BFloat16>(value); }
};
template <class T>
struct OnDevice<std::complex<T>> {
  using Type = device::Complex<T>;
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

TEST(CastKernels, GiveWhatTheHostsCastsGive) {
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
    runtime::KernelSource source;
    source.text = kernel.text;
    runtime::CompileRequest request;
    request.source = &source;
    EXPECT_NO_THROW(EXPECT_EQ(compile({9, 0}, request).symbols.count(kernel.name), 1u))
        << kernel.name;
  }
  static CopyPlan plan(CopyPlan::Kind kind, int rank, bool wide, int source_unit, int target_unit) {
    CopyPlan made;
    made.kind = kind;
    made.wide = wide;
    made.source_unit = source_unit;
    made.target_unit = target_unit;
    made.axes.resize(static_cast<std::size_t>(rank), {2, 1, 1});
    return made;
  }
};

TEST_F(GeneratedKernels, OfCopiesCompileForEveryWordRankAndIndex) {
  for (const int word : {1, 2, 4, 8, 16}) {
    for (const bool wide : {false, true}) {
      for (const int rank : {1, 3}) {
        expect_compiles(
            copy_kernel_text(plan(CopyPlan::Kind::strided, rank, wide, word, word), uint8, uint8));
      }
      expect_compiles(
          copy_kernel_text(plan(CopyPlan::Kind::tiled, 2, wide, word, word), uint8, uint8));
      expect_compiles(fill_kernel_text(plan(CopyPlan::Kind::strided, 2, wide, word, word)));
    }
  }
  expect_compiles(copy_kernel_text(plan(CopyPlan::Kind::strided, 65, true, 1, 1), uint8, uint8));
  expect_compiles(copy_kernel_text(plan(CopyPlan::Kind::tiled, 5, false, 4, 4), uint8, uint8));
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
                                                       {"bf16", "BFloat16"},
                                                       {"f32", "float"},
                                                       {"f64", "double"},
                                                       {"c64", "Complex<float>"},
                                                       {"c128", "Complex<double>"}};
  runtime::KernelSource source;
  for (const embedded::TextFile& file : embedded::cuda_kernels) {
    if (file.name == "cast.cuh") source.text = file.text;
  }
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

TEST(CopyKernelKeys, TellApartWhatNeedsAnotherKernel) {
  std::vector<CopyKernelKey> keys;
  std::vector<std::string> texts;
  for (const CopyPlan::Kind kind : {CopyPlan::Kind::strided, CopyPlan::Kind::tiled}) {
    for (const int rank : {2, 3}) {
      for (const bool wide : {false, true}) {
        CopyPlan plan;
        plan.kind = kind;
        plan.wide = wide;
        plan.axes.resize(static_cast<std::size_t>(rank), {2, 1, 1});
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
