// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "index_loops.hpp"
#include "spanwise/core/element_types.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/half.hpp"
#include "spanwise/runtime/instruction_sets.hpp"

namespace spanwise::ops {
namespace {

// Moves one element (bytes > 0) or a row.
template <MoveDirection direction, int bytes>
void move_one(std::byte* array, std::byte* value, std::int64_t row_bytes) noexcept {
  constexpr bool reads = direction == MoveDirection::read;
  copy_part<bytes>(reads ? value : array, reads ? array : value, row_bytes);
}

template <MoveDirection direction, int bytes>
void by_offsets(std::byte* array, const std::int64_t* offsets, std::int64_t count, std::byte* value,
                std::int64_t value_step, std::int64_t row_bytes) {
  // A constant step becomes part of the addressing mode.
  if (bytes > 0 && value_step == bytes) {
    for (std::int64_t i = 0; i < count; ++i)
      move_one<direction, bytes>(array + offsets[i], value + i * bytes, row_bytes);
  } else {
    for (std::int64_t i = 0; i < count; ++i)
      move_one<direction, bytes>(array + offsets[i], value + i * value_step, row_bytes);
  }
}

// The index with `extent` added if it is negative. Indices outside [-extent, extent) stay outside
// [0, extent).
inline std::int64_t normalised(const std::int64_t* index, std::int64_t extent) noexcept {
  std::int64_t value;
  std::memcpy(&value, index, sizeof value);
  return value + (extent & (value >> 63));
}
inline bool is_outside(std::int64_t index, std::int64_t extent) noexcept {
  return static_cast<std::uint64_t>(index) >= static_cast<std::uint64_t>(extent);
}

// Four at a time until one is out of range: one branch per four, and no load waits for a store.
// Indices are prefetched without temporal locality, so that they do not evict the array from the
// cache. Returns the number of elements moved.
template <MoveDirection direction, int bytes>
std::int64_t move_fours(std::byte* array, const std::int64_t* indices, std::int64_t count,
                        std::int64_t extent, std::int64_t stride, std::byte* value,
                        std::int64_t value_step) noexcept {
  struct Word {
    std::byte content[bytes];
  } a, b, c, d;
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    __builtin_prefetch(indices + i + 96, 0, 0);
    const std::int64_t at_a = normalised(indices + i, extent);
    const std::int64_t at_b = normalised(indices + i + 1, extent);
    const std::int64_t at_c = normalised(indices + i + 2, extent);
    const std::int64_t at_d = normalised(indices + i + 3, extent);
    if (is_outside(at_a, extent) | is_outside(at_b, extent) | is_outside(at_c, extent) |
        is_outside(at_d, extent))
      break;
    std::byte* const addresses[] = {array + at_a * stride, array + at_b * stride,
                                    array + at_c * stride, array + at_d * stride};
    std::byte* const row = value + i * value_step;
    constexpr bool reads = direction == MoveDirection::read;
    std::memcpy(&a, reads ? addresses[0] : row, bytes);
    std::memcpy(&b, reads ? addresses[1] : row + value_step, bytes);
    std::memcpy(&c, reads ? addresses[2] : row + 2 * value_step, bytes);
    std::memcpy(&d, reads ? addresses[3] : row + 3 * value_step, bytes);
    std::memcpy(reads ? row : addresses[0], &a, bytes);
    std::memcpy(reads ? row + value_step : addresses[1], &b, bytes);
    std::memcpy(reads ? row + 2 * value_step : addresses[2], &c, bytes);
    std::memcpy(reads ? row + 3 * value_step : addresses[3], &d, bytes);
  }
  return i;
}

template <MoveDirection direction, int bytes>
std::int64_t by_indices(std::byte* array, const std::int64_t* indices, std::int64_t count,
                        std::int64_t extent, std::int64_t stride, std::byte* value,
                        std::int64_t value_step, std::int64_t row_bytes) {
  const auto loop = [&](std::int64_t stride_here, std::int64_t step_here) {
    std::int64_t i = 0;
    if constexpr (bytes > 0)
      i = move_fours<direction, bytes>(array, indices, count, extent, stride_here, value,
                                       step_here);
    for (; i < count; ++i) {
      const std::int64_t index = normalised(indices + i, extent);
      if (is_outside(index, extent)) return i;
      move_one<direction, bytes>(array + index * stride_here, value + i * step_here, row_bytes);
    }
    return count;
  };
  if (bytes > 0 && stride == bytes && value_step == bytes) return loop(bytes, bytes);
  return loop(stride, value_step);
}

}  // namespace

MoveLoop move_loop(MoveDirection direction, std::int64_t row_bytes) noexcept {
  return with_word_size(row_bytes, [=](auto bytes) -> MoveLoop {
    return direction == MoveDirection::read ? &by_offsets<MoveDirection::read, bytes>
                                            : &by_offsets<MoveDirection::write, bytes>;
  });
}

IndexLoop index_loop(MoveDirection direction, std::int64_t row_bytes) noexcept {
  return with_word_size(row_bytes, [=](auto bytes) -> IndexLoop {
    return direction == MoveDirection::read ? &by_indices<MoveDirection::read, bytes>
                                            : &by_indices<MoveDirection::write, bytes>;
  });
}

void add_offsets(std::int64_t* offsets, std::int64_t count, const std::byte* indices,
                 std::int64_t step, std::int64_t extent, std::int64_t stride) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t index;
    std::memcpy(&index, indices + i * step, sizeof index);
    offsets[i] += (index + (extent & (index >> 63))) * stride;
  }
}

std::int64_t collect_true(const std::byte* mask, std::int64_t step, std::int64_t count,
                          std::int64_t base, std::int64_t increment, std::int64_t* out) noexcept {
  std::int64_t* next = out;
  std::int64_t i = 0;
  if (step == 1) {
    for (; i + 8 <= count; i += 8) {
      std::uint64_t eight;
      std::memcpy(&eight, mask + i, sizeof eight);
      if (eight == 0) continue;
      const std::int64_t at = base + i * increment;
      for (int k = 0; k < 8; ++k) {
        *next = at + k * increment;
        next += mask[i + k] != std::byte{0};
      }
    }
  }
  for (; i < count; ++i) {
    *next = base + i * increment;
    next += mask[i * step] != std::byte{0};
  }
  return next - out;
}

std::int64_t count_true_bytes(const std::byte* bytes, std::int64_t count) noexcept {
  constexpr std::uint64_t low = 0x7f7f7f7f7f7f7f7f;
  std::int64_t total = 0, i = 0;
  while (i + 8 <= count) {
    // Each byte of `sums` is a counter, which overflows after 255 words.
    const std::int64_t words = std::min<std::int64_t>(255, (count - i) / 8);
    std::uint64_t sums = 0;
    for (std::int64_t k = 0; k < words; ++k) {
      std::uint64_t word;
      std::memcpy(&word, bytes + i + 8 * k, sizeof word);
      sums += ((((word & low) + low) | word) & ~low) >> 7;
    }
    for (int k = 0; k < 8; ++k) total += static_cast<std::int64_t>((sums >> (8 * k)) & 0xff);
    i += 8 * words;
  }
  for (; i < count; ++i) total += bytes[i] != std::byte{0};
  return total;
}

namespace {

// classify_indices(), compiled for the instruction set of each caller.
[[gnu::always_inline]] inline IndexRange classify(const std::int64_t* indices, std::int64_t count,
                                                  std::int64_t extent) noexcept {
  const auto n = static_cast<std::uint64_t>(extent);
  std::uint64_t negative = 0;
  for (std::int64_t done = 0; done < count; done += 4096) {
    const std::int64_t end = std::min(count, done + 4096);
    // The highest bit of either sum is set where an index is below or above, overflow included.
    std::uint64_t outside = 0;
    for (std::int64_t i = done; i < end; ++i) {
      const auto index = static_cast<std::uint64_t>(indices[i]);
      outside |= (index + n) | (n - 1 - index);
      negative |= index;
    }
    if (outside >> 63) return IndexRange::outside;
  }
  return negative >> 63 ? IndexRange::from_either_end : IndexRange::from_start;
}

#if defined(__x86_64__)
SW_BEGIN_AVX2
IndexRange classify_by_avx2(const std::int64_t* indices, std::int64_t count,
                            std::int64_t extent) noexcept {
  return classify(indices, count, extent);
}
SW_END_INSTRUCTIONS
#endif

}  // namespace

IndexRange classify_indices(const std::int64_t* indices, std::int64_t count,
                            std::int64_t extent) noexcept {
#if defined(__x86_64__)
  if (has_avx2()) return classify_by_avx2(indices, count, extent);
#endif
  return classify(indices, count, extent);
}

namespace {

// The source that both devices compile.
namespace accumulate_host {
#include "elements.cuh"

inline float widened(Half x) { return static_cast<float>(std::bit_cast<spanwise::Half>(x)); }
inline float widened(BFloat x) { return static_cast<float>(std::bit_cast<spanwise::BFloat16>(x)); }
inline Half narrow_half(float x) { return {spanwise::Half(x).bits}; }
inline BFloat narrow_bfloat(float x) { return {spanwise::BFloat16(x).bits}; }

#define SW_FN inline
// Uses the conversions above.
#include "../accumulate.cuh"
#undef SW_FN

template <class How, class T>
inline void accumulate_one(std::byte* to, const std::byte* from) noexcept {
  T old, value;
  std::memcpy(&old, to, sizeof old);
  std::memcpy(&value, from, sizeof value);
  old = accumulated<How>(old, value);
  std::memcpy(to, &old, sizeof old);
}

template <class How, class T>
void accumulate_rows(std::byte* array, const std::int64_t* offsets, std::int64_t count,
                     std::byte* value, std::int64_t value_step, std::int64_t row_bytes) {
  constexpr std::int64_t item = sizeof(T);
  if (row_bytes == item) {
    for (std::int64_t i = 0; i < count; ++i)
      accumulate_one<How, T>(array + offsets[i], value + i * value_step);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    std::byte* const to = array + offsets[i];
    const std::byte* const from = value + i * value_step;
    for (std::int64_t at = 0; at < row_bytes; at += item)
      accumulate_one<How, T>(to + at, from + at);
  }
}

constexpr std::int64_t l1_bytes = 1 << 15;
constexpr std::int64_t prefetch_distance = 24;  // elements, about the latency of the L2 cache

template <class How, class T>
void accumulate_elements(std::byte* array, const std::int64_t* indices, std::int64_t count,
                         IndexRange kind, std::int64_t extent, std::int64_t stride,
                         const std::byte* value, std::int64_t value_step) {
  const auto target = [&](std::int64_t i, std::int64_t stride_here) {
    return array + (indices[i] + (extent & (indices[i] >> 63))) * stride_here;
  };
  const auto loop = [&](std::int64_t first, std::int64_t stride_here, std::int64_t step_here) {
    for (std::int64_t i = first; i < count; ++i)
      accumulate_one<How, T>(target(i, stride_here), value + i * step_here);
  };
  // Constant steps become part of the addressing mode.
  constexpr std::int64_t item = sizeof(T);
  if (stride != item || value_step != item) return loop(0, stride, value_step);
  if (extent * item <= l1_bytes) {
    if (kind == IndexRange::from_either_end) return loop(0, item, item);
    for (std::int64_t i = 0; i < count; ++i)
      accumulate_one<How, T>(array + indices[i] * item, value + i * item);
    return;
  }
  const std::int64_t prefetched = std::max<std::int64_t>(0, count - prefetch_distance);
  for (std::int64_t i = 0; i < prefetched; ++i) {
    __builtin_prefetch(target(i + prefetch_distance, item), /*to write*/ 1);
    accumulate_one<How, T>(target(i, item), value + i * item);
  }
  loop(prefetched, item, item);
}

// The loops of an operation; integers are taken as unsigned unless `has_signs`.
template <class How, bool has_signs>
AccumulateLoops loops_for(DType dtype) {
  const auto f = [](auto element) -> AccumulateLoops {
    using T = decltype(element);
    if constexpr (std::is_same_v<How, Minus> && std::is_same_v<T, Bool>)
      return {};
    else
      return {&accumulate_rows<How, T>, &accumulate_elements<How, T>};
  };
  if (dtype.is_bool()) return f(Bool());
  if (dtype == float16) return f(Half());
  if (dtype == bfloat16) return f(BFloat());
  if (dtype == float32) return f(float());
  if (dtype == float64) return f(double());
  if (dtype == complex64) return f(Complex<float>());
  if (dtype == complex128) return f(Complex<double>());
  return has_signs ? with_integer(dtype, f) : with_unsigned(dtype.itemsize(), f);
}

}  // namespace accumulate_host

}  // namespace

AccumulateLoops accumulate_loops(DType dtype, Accumulation how) {
  if (!dtype.is_computable())
    fail<DTypeError>("accumulate: cannot compute on ", dtype,
                     "; expected bool, an integer, a float or a complex number");
  if (dtype.is_bool() && how == Accumulation::subtract)
    fail<DTypeError>("subtract: bool has no difference; use bitwise_xor or logical_xor");
  using namespace accumulate_host;  // NOLINT(google-build-using-namespace): the operations
  switch (how) {
    case Accumulation::add:
      return loops_for<Plus, false>(dtype);
    case Accumulation::subtract:
      return loops_for<Minus, false>(dtype);
    case Accumulation::multiply:
      return loops_for<Times, false>(dtype);
    case Accumulation::maximum:
      return loops_for<Largest, true>(dtype);
    default:
      return loops_for<Smallest, true>(dtype);
  }
}

}  // namespace spanwise::ops
