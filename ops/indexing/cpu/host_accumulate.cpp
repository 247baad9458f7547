// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "../backend.hpp"
#include "spanwise/core/element_words.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/half.hpp"

namespace spanwise::ops {
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
