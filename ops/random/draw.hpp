// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "plan.hpp"
#include "spanwise/array.hpp"
#include "spanwise/export.hpp"

/// Arrays of random numbers, the same on every device. What element i of a draw is depends on the
/// source, the kind, the dtype's size and i alone: not on strides, threads or launches.
namespace spanwise::ops::random {

/// A place in a generator's sequence. Generators of another key or stream have other words; within
/// one, a position is the number of a block of four 32-bit words.
struct Source {
  std::uint64_t key = 0;
  std::uint32_t stream = 0;
  std::uint64_t position = 0;
};

/// A sequence that hands out its blocks: each draw takes some that nobody else gets. Threads may
/// share it. Positions wrap around at 2^64.
class Counter {
 public:
  explicit Counter(const Source& start) noexcept
      : key_(start.key), stream_(start.stream), position_(start.position) {}
  /// The next `blocks` blocks; of a negative number of them, moves back.
  Source take(std::int64_t blocks) noexcept {
    return {key_, stream_, position_.fetch_add(static_cast<std::uint64_t>(blocks))};
  }

 private:
  std::uint64_t key_;
  std::uint32_t stream_;
  std::atomic<std::uint64_t> position_;
};

struct Numbers {
  Kind kind = Kind::uniform;
  double shift = 0, scale = 1;      ///< of floating kinds: x * scale + shift, in the dtype drawn
  std::uint64_t low = 0, span = 0;  ///< of integers, modulo 2^64; span 0 is 2^64
  /// uint64, dense, as many as the result has elements, on its device: of integers_within.
  const Array* lows = nullptr;
  const Array* spans = nullptr;
  /// float64, dense, ascending to 1, on the result's device: of picks.
  const Array* table = nullptr;
};

/// Writes every element of `out`, in C order, any strides. Floating kinds go to floating dtypes:
/// float16 and bfloat16 take uniform numbers of as many bits as they have, else what float32 would
/// get, rounded. Integers go to any integer dtype or bool, modulo its range. Takes a block for each
/// four elements, for each two of 64 bits. On a GPU the work is queued on the current stream.
/// Throws DTypeError, ReadOnlyError, and ArgumentError, LayoutError or DeviceError for a span or
/// companions that do not fit; nothing is taken then.
SW_API void draw(Counter& counter, const Numbers& numbers, const Array& out);

/// out[i] = the place in [0, size) that i goes to, int64 of rank 1: the first out.size() <= size
/// elements of one permutation. Up to 4096 it is any of the size! with the same probability; above,
/// a keyed bijection of 24 rounds (see bodies.cuh). Takes 2048 blocks, however many it needs.
SW_API void permutation(Counter& counter, std::int64_t size, const Array& out);

/// The work itself, `out` being dense and of a dtype that the kind is drawn in.
void fill_on_cuda(Kind kind, const Numbers& numbers, Draw draw, const Array& out);
void permute_on_cuda(const Bijection& bijection, const Array& out);

}  // namespace spanwise::ops::random
