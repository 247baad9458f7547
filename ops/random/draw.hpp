// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>

#include "spanwise/core/array.hpp"
#include "spanwise/core/device_table.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/strided/strided_call.hpp"

namespace spanwise::ops::random {

/// Arrays of random numbers, the same on every device. Element i of a draw depends only on the
/// position in the sequence, the kind, the parameters, the dtype and i, not on strides, threads or
/// launches.

#include "draw_parameters.cuh"

/// What is drawn; SW_RANDOM_BODIES lists the element sizes of each kind.
enum class Distribution {
  words,            ///< 32-bit words of the generator
  uniform,          ///< in [0, 1)
  normal,           ///< standard normal numbers
  exponential,      ///< of mean 1
  integers,         ///< low + [0, span), span up to 2^32
  wide_integers,    ///< low + [0, span), span up to 2^64
  integers_within,  ///< integers with a low and a span per element
  picks,            ///< indices into a table of cumulative probabilities
};

/// SW_BODY(distribution, bytes of an element as drawn, body struct of distributions.cuh) for each
/// body.
#define SW_RANDOM_BODIES(SW_BODY)                    \
  SW_BODY(words, 4, Words)                           \
  SW_BODY(uniform, 4, Scaled<Uniform32>)             \
  SW_BODY(uniform, 8, Scaled<Uniform64>)             \
  SW_BODY(normal, 4, Scaled<Normal32>)               \
  SW_BODY(normal, 8, Scaled<Normal64>)               \
  SW_BODY(exponential, 4, Scaled<Exponential32>)     \
  SW_BODY(exponential, 8, Scaled<Exponential64>)     \
  SW_BODY(integers, 1, Integers<unsigned char>)      \
  SW_BODY(integers, 2, Integers<unsigned short>)     \
  SW_BODY(integers, 4, Integers<unsigned int>)       \
  SW_BODY(integers, 8, Integers<unsigned long long>) \
  SW_BODY(wide_integers, 8, WideIntegers)            \
  SW_BODY(integers_within, 8, IntegersWithin)        \
  SW_BODY(picks, 8, Picks)

/// Elements per block of four words: 4 of one word each, or 2 of two words. 0 if the kind has no
/// elements of this size.
int elements_per_block(Distribution kind, int itemsize) noexcept;

/// A position in a generator's sequence. Generators with another key or stream have other
/// sequences; within a sequence, `position` is the index of a block of four 32-bit words.
struct SequencePosition {
  std::uint64_t key = 0;
  std::uint32_t stream = 0;
  std::uint64_t position = 0;
};

/// Allocates disjoint ranges of blocks of one sequence. Thread-safe. Positions wrap around at 2^64.
class Counter {
 public:
  explicit Counter(const SequencePosition& start) noexcept
      : key_(start.key), stream_(start.stream), position_(start.position) {}
  /// Returns the current position and advances it by `blocks`, which may be negative.
  SequencePosition take(std::int64_t blocks) noexcept {
    return {key_, stream_, position_.fetch_add(static_cast<std::uint64_t>(blocks))};
  }

 private:
  std::uint64_t key_;
  std::uint32_t stream_;
  std::atomic<std::uint64_t> position_;
};

/// The distribution to draw from and its parameters.
struct DrawSpec {
  Distribution kind = Distribution::uniform;
  double shift = 0, scale = 1;      ///< floating kinds: x * scale + shift, in the dtype drawn
  std::uint64_t low = 0, span = 0;  ///< integers: low + [0, span), modulo 2^64; span 0 is 2^64
  /// integers_within: uint64, C-contiguous, one per element of the result, on its device.
  const Array* lows = nullptr;
  const Array* spans = nullptr;
  /// picks: float64, C-contiguous, ascending, the last 1, on the device of the result.
  const Array* table = nullptr;
};

/// Writes every element of `out`, in C order, of any strides. Floating kinds need a floating dtype:
/// float16 and bfloat16 get uniform numbers with as many random bits as their mantissa has, and
/// other kinds rounded from float32. Integers need an integer dtype or bool and are reduced modulo
/// its range. Takes one block per four elements, or per two elements that are drawn with 64 bits.
/// On a GPU, the work is queued on the current stream. Throws DTypeError, ReadOnlyError, and
/// ArgumentError, LayoutError or DeviceError for an invalid span, lows, spans or table; the counter
/// is unchanged then.
SW_API void draw(Counter& counter, const DrawSpec& spec, const Array& out);

/// out[i] = image of i under a permutation of [0, size), for i < out.size() <= size; int64, rank 1.
/// For sizes up to 4096, all size! permutations are equally probable; above, it is a keyed
/// bijection of 24 rounds (see distributions.cuh). Always takes 2048 blocks, unless out is empty.
/// Throws ReadOnlyError, DTypeError and LayoutError.
SW_API void permutation(Counter& counter, std::int64_t size, const Array& out);

/// What a back end implements of draw() and permutation(), for C-contiguous aligned results.
struct RandomBackend {
  /// `out` has a dtype that the kind is drawn in.
  void (*fill)(const DrawSpec& spec, Draw draw, const Array& out);
  void (*permute)(Bijection bijection, const Array& out);
};
extern DeviceTable<RandomBackend> random_backends;

/// Computes the elements of blocks [first, last) of a draw; `out` is element 0 of a C-contiguous
/// array.
using Fill = void (*)(const Draw& draw, std::int64_t first, std::int64_t last, void* out);
/// out[i] = image of i for i in [first, last).
using Permute = void (*)(const Bijection& bijection, std::int64_t first, std::int64_t last,
                         std::int64_t* out);

/// The fastest functions for this processor. Null for element sizes that the kind does not have.
Fill find_fill(Distribution kind, int itemsize);
Permute find_permute();

/// The functions for any processor, with the same results to the bit.
Fill find_baseline_fill(Distribution kind, int itemsize);
/// The functions for AVX2 and FMA; null on processors without them.
Fill find_avx2_fill(Distribution kind, int itemsize);
Permute find_avx2_permute();

// The generators of random numbers as bodies of strided loops.

/// What distinguishes the kernels of a kind.
struct FillKey {
  Distribution kind;
  int itemsize;
  bool is_scaled;  ///< whether Draw::shift and Draw::scale are used
  bool is_packed;  ///< whether blocks are complete, and aligned to their size or to 16 bytes
  auto operator<=>(const FillKey&) const = default;
};

/// Arrays: elements_per_block() adjacent elements as one, and its index. Parameter: a Draw. Throws
/// Error if the kind has no elements of this size.
strided::Body fill_body(const FillKey& key);
/// Arrays: the int64 images, and the indices that they are images of. Parameter: a Bijection.
strided::Body permutation_body();

}  // namespace spanwise::ops::random
