// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The CUDA text of random numbers: compiled for an H200 without one, and its bodies run on the host
// against the host's own loops.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "../../ops/random/draw.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "support/compiled_source.hpp"
#include "support/nvrtc_fixture.hpp"

namespace spanwise::ops::random {
namespace {

const std::vector<std::pair<Distribution, int>>& all_bodies() {
  static const std::vector<std::pair<Distribution, int>> bodies = {
#define SW_BODY(name, bytes, ...) {Distribution::name, bytes},
      SW_RANDOM_BODIES(SW_BODY)
#undef SW_BODY
  };
  return bodies;
}

void expect_random_cubin(const strided::Body& body) {
  strided::PlanShape shape;
  shape.count = 2;
  test::expect_compiles(cuda_source(body, shape), {"run"}, {.options = {"--fmad=false"}});
}

class RandomSource : public test::NvrtcTest<> {};

TEST_F(RandomSource, CompilesForEveryBody) {
  for (const auto& [kind, bytes] : all_bodies()) {
    SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", bytes " << bytes);
    for (const bool is_scaled : {false, true})
      expect_random_cubin(fill_body({kind, bytes, is_scaled, /*is_packed=*/is_scaled}));
  }
  expect_random_cubin(permutation_body());
}

// ---- The bodies, run on the host one block after another. These functions replace those of the
// device headers; the comments between the includes keep the formatter from sorting them.

namespace device {
float fused(float a, float b, float c) { return std::fma(a, b, c); }
double fused(double a, double b, double c) { return std::fma(a, b, c); }
float root(float x) { return std::sqrt(x); }
double root(double x) { return std::sqrt(x); }
template <class To, class From>
To same_bits(From x) {
  To y;
  static_assert(sizeof x == sizeof y);
  std::memcpy(&y, &x, sizeof y);
  return y;
}
unsigned int bits_of(float x) { return same_bits<unsigned int>(x); }
unsigned long long bits_of(double x) { return same_bits<unsigned long long>(x); }
float from_bits(unsigned int x) { return same_bits<float>(x); }
double from_bits(unsigned long long x) { return same_bits<double>(x); }
unsigned long long high_product(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}

#define SW_FN inline
#define SW_UNROLL
#define __device__ inline
#define __forceinline__
#define __align__(n) alignas(n)
#include "../../ops/random/distributions.cuh"
// uses distributions.cuh
#include "../../ops/random/fill_block.cuh"
#undef SW_FN
#undef SW_UNROLL
#undef __device__
#undef __forceinline__
#undef __align__

template <class Body>
void run(const Draw& draw, void* memory) {
  auto* out = static_cast<typename Body::Out*>(memory);
  for (Wide first = 0; first < draw.size; first += Body::each) {
    constexpr unsigned bytes = sizeof *out * Body::each;
    const bool is_packed = first + Body::each <= draw.size &&
                           reinterpret_cast<std::uintptr_t>(out) % (bytes < 16 ? bytes : 16) == 0;
    (is_packed ? fill_block<Body, true> : fill_block<Body, false>)(draw, first / Body::each,
                                                                   out + first);
  }
}

void run(Distribution kind, int itemsize, const Draw& draw, void* out) {
#define SW_BODY(name, bytes, ...) \
  if (kind == Distribution::name && itemsize == (bytes)) return run<__VA_ARGS__>(draw, out);
  SW_RANDOM_BODIES(SW_BODY)
#undef SW_BODY
}
}  // namespace device

constexpr int max_size = 1000, guard = 64;  // elements; bytes behind them
constexpr unsigned char poison = 0xA5;

// A draw whose bounds make rejection sampling reject often, and the tables of the distributions
// that read some.
struct RandomCase {
  std::vector<Wide> lows, spans;
  std::vector<double> table;
  Draw draw{};

  RandomCase(Distribution kind, int size) {
    for (int i = 0; i < size; ++i) {
      lows.push_back(static_cast<Wide>(i) * 1000);
      spans.push_back(i % 3 == 0 ? 0 : (Wide{1} << 63) + static_cast<Wide>(i));
    }
    for (int i = 1; i <= 10; ++i) table.push_back(i / 10.0);
    draw.position = (Wide{1} << 32) - 3;  // carries into the counter's second word
    draw.key0 = 0x12345678;
    draw.key1 = 0x9abcdef0;
    draw.stream = 77;
    draw.uniform_bits = 24;
    draw.shift = 0.25;
    draw.scale = 1.5;
    draw.low = 5;
    draw.span = kind == Distribution::integers ? 0x80000001u : (Wide{1} << 63) + 1;
    draw.threshold = kind == Distribution::integers ? 0x7fffffffu : (Wide{1} << 63) - 1;
    draw.lows = lows.data();
    draw.spans = spans.data();
    draw.table = table.data();
    draw.entries = table.size();
    draw.size = static_cast<Wide>(size);
  }
};

TEST(RandomKernels, PhiloxHasThePublishedAnswers) {
  // Random123, tests/kat_vectors: philox4x32 with 10 rounds.
  const auto answer = [](Word x, Word y, Word z, Word w, Word key0, Word key1) {
    const device::PhiloxBlock block = device::philox(device::PhiloxBlock{x, y, z, w}, key0, key1);
    return std::vector<Word>{block.x, block.y, block.z, block.w};
  };
  EXPECT_EQ(answer(0, 0, 0, 0, 0, 0),
            (std::vector<Word>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const Word all = 0xffffffff;
  EXPECT_EQ(answer(all, all, all, all, all, all),
            (std::vector<Word>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(answer(0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0),
            (std::vector<Word>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

using Bytes = std::vector<unsigned char>;

void expect_equal_loops(Distribution kind, int itemsize, int size) {
  SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", bytes " << itemsize
                                  << ", size " << size);
  const RandomCase random_case(kind, size);
  const auto bytes = static_cast<std::size_t>(size) * static_cast<std::size_t>(itemsize);
  const int block_size = elements_per_block(kind, itemsize);
  alignas(16) unsigned char memory[max_size * 8 + 16 + guard];
  const auto host = [&](Fill fill) {
    Bytes out(bytes + guard, poison);
    fill(random_case.draw, 0, (size + block_size - 1) / block_size, out.data());
    return out;
  };
  const Bytes expected = host(find_fill(kind, itemsize));
  for (std::size_t i = bytes; i < expected.size(); ++i) ASSERT_EQ(expected[i], poison);
  for (const int offset : {0, itemsize}) {
    std::memset(memory, poison, sizeof memory);
    device::run(kind, itemsize, random_case.draw, memory + offset);
    EXPECT_EQ(Bytes(memory + offset, memory + offset + bytes + guard), expected) << offset;
  }
}

TEST(RandomKernels, BodiesMatchTheCpu) {
  for (const auto& [kind, bytes] : all_bodies())
    for (const int size : {1, 2, 3, 4, 7, 63, 128, 129, 130, max_size})
      expect_equal_loops(kind, bytes, size);
}

// The GPU's kernels with their loops, compiled for the CPU.
TEST(RandomKernels, LoopsMatchTheCpu) {
  for (const auto& [kind, bytes] : all_bodies()) {
    for (const std::int64_t first : {0, 1}) {
      if (first == 1 && kind != Distribution::integers) continue;  // compiling each takes long
      const RandomCase random_case(kind, 997);
      const int block_size = elements_per_block(kind, bytes);
      const Array memory = full({1000 * bytes}, poison, uint8, cpu);
      Array expected = copy(memory);
      const DType dtype(DTypeCode::opaque, 8 * bytes);
      const Array out =
          memory.slice(0, {first * bytes, (first + 997) * bytes, 1}).reinterpret(dtype);
      DrawSpec numbers;
      numbers.kind = kind;
      random_backends[Device(DeviceKind::cuda)].fill(numbers, random_case.draw, out);
      find_fill(kind, bytes)(random_case.draw, 0, (997 + block_size - 1) / block_size,
                             static_cast<unsigned char*>(expected.data()) + first * bytes);
      EXPECT_EQ(0, std::memcmp(memory.data(), expected.data(), memory.nbytes()))
          << "kind " << static_cast<int>(kind) << ", bytes " << bytes;
    }
  }
}

TEST(RandomKernels, BaselineLoopsMatchTheWideOnes) {
  if (find_avx2_permute() == nullptr) GTEST_SKIP() << "no AVX2 here: there is one set of loops";
  for (const auto& [kind, bytes] : all_bodies()) {
    const RandomCase random_case(kind, max_size);
    const int block_size = elements_per_block(kind, bytes);
    std::vector<Wide> wide(max_size), baseline(max_size);
    find_avx2_fill(kind, bytes)(random_case.draw, 0, (max_size + block_size - 1) / block_size,
                                wide.data());
    find_baseline_fill(kind, bytes)(random_case.draw, 0, (max_size + block_size - 1) / block_size,
                                    baseline.data());
    EXPECT_EQ(wide, baseline) << static_cast<int>(kind) << ", " << bytes;
  }
}

TEST(RandomKernels, PermutationsMatchTheCpu) {
  for (const Wide size : {Wide{4097}, Wide{5000}, Wide{8192}, (Wide{1} << 40) + 5}) {
    Bijection bijection{};
    bijection.size = size;
    Word bits = 2;
    while ((Wide{1} << bits) < size) ++bits;
    bijection.left_bits = bits / 2;
    bijection.right_bits = bits - bits / 2;
    for (Word i = 0; i < 24; ++i) bijection.keys[i] = i * 0x9E3779B9u + 1;
    std::vector<std::int64_t> host(5000, -1);
    const std::int64_t count = size < 5000 ? static_cast<std::int64_t>(size) : 5000;
    find_permute()(bijection, 0, count, host.data());
    std::vector<bool> seen(8192);
    const Array by_kernel = zeros({count}, int64, cpu);
    random_backends[Device(DeviceKind::cuda)].permute(bijection, by_kernel);
    EXPECT_EQ(0, std::memcmp(by_kernel.data(), host.data(),
                             static_cast<std::size_t>(by_kernel.nbytes())));
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t image = host[static_cast<std::size_t>(i)];
      ASSERT_EQ(image,
                static_cast<std::int64_t>(device::permuted(static_cast<Wide>(i), bijection)));
      ASSERT_LT(static_cast<Wide>(image), size);
      if (size > 8192) continue;
      ASSERT_FALSE(seen[static_cast<std::size_t>(image)]);
      seen[static_cast<std::size_t>(image)] = true;
    }
  }
}

}  // namespace
}  // namespace spanwise::ops::random
