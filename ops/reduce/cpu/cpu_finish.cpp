// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "reduce_loops.hpp"

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>

#include "spanwise/core/element_types.hpp"
#include "spanwise/core/half.hpp"
#include "spanwise/strided/cpu_loop.hpp"

namespace spanwise::ops::reduce {
namespace {

// Of a few elements: a call of a vectorized loop would take longer.
template <class Result, class From>
void store_as(const void* values, std::int64_t n, std::byte* out, std::int64_t step) {
  const From* x = static_cast<const From*>(values);
  Result* z = reinterpret_cast<Result*>(out);
  for (std::int64_t i = 0; i < n; ++i) z[i * step] = Result(x[i]);
}

// Constructs a 16-bit float from a double. The double is first rounded to odd, to float, so that
// the second rounding gives the correctly rounded result.
template <class H>
struct FromDouble : H {
  explicit FromDouble(double x) noexcept : H(round_to_odd(x)) {}
  static float round_to_odd(double x) noexcept {
    const auto nearest = static_cast<float>(x);
    if (static_cast<double>(nearest) == x || !std::isfinite(nearest)) return nearest;
    const auto word = std::bit_cast<std::uint32_t>(nearest);
    const bool is_larger = std::fabs(static_cast<double>(nearest)) > std::fabs(x);
    return std::bit_cast<float>((is_larger ? word - 1 : word) | 1u);
  }
};

struct Bytes16 {
  std::uint64_t low, high;
};

template <class T>
void subtract_from(void* values, const std::byte* subtrahends, std::int64_t step, std::int64_t n) {
  T* x = static_cast<T*>(values);
  const T* y = reinterpret_cast<const T*>(subtrahends);
  for (std::int64_t i = 0; i < n; ++i) x[i] = static_cast<T>(x[i] - y[i * step]);
}
template <class H>
void subtract_halves(void* values, const std::byte* subtrahends, std::int64_t step,
                     std::int64_t n) {
  auto* x = static_cast<float*>(values);
  const H* y = reinterpret_cast<const H*>(subtrahends);
  for (std::int64_t i = 0; i < n; ++i) x[i] -= static_cast<float>(y[i * step]);
}

}  // namespace

bool can_store(DType accumulator, DType result) noexcept {
  if (accumulator == result || (accumulator == int64 && result == uint64)) return true;
  if (accumulator == float64) return result.is_floating();
  if (accumulator == float32) return is_half(result);
  return accumulator == complex128 && result == complex64;
}

void add_zero(DType dtype, void* values, std::int64_t n) {
  if (dtype != float64 && dtype != complex128) return;
  auto* x = static_cast<double*>(values);
  const int parts = dtype == complex128 ? 2 : 1;
  for (std::int64_t i = 0; i < n * parts; ++i) x[i] += 0.0;
}

void divide(DType dtype, void* values, const double* divisors, std::int64_t n) {
  auto* x = static_cast<double*>(values);
  if (dtype == int64) {
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t whole;
      std::memcpy(&whole, x + i, sizeof whole);
      x[i] = static_cast<double>(whole) / divisors[i];
    }
    return;
  }
  if (dtype == complex128) {
    for (std::int64_t i = 0; i < 2 * n; ++i) x[i] /= divisors[i / 2];
  } else {
    for (std::int64_t i = 0; i < n; ++i) x[i] /= divisors[i];
  }
}

void take_roots(double* values, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) values[i] = std::sqrt(values[i]);
}

void subtract(DType dtype, void* values, DType stored, const std::byte* subtrahends,
              std::int64_t step, std::int64_t n) {
  if (stored == float16) return subtract_halves<Half>(values, subtrahends, step, n);
  if (stored == bfloat16) return subtract_halves<BFloat16>(values, subtrahends, step, n);
  if (dtype == float32) return subtract_from<float>(values, subtrahends, step, n);
  if (dtype == float64) return subtract_from<double>(values, subtrahends, step, n);
  if (dtype == complex64) return subtract_from<std::complex<float>>(values, subtrahends, step, n);
  if (dtype == complex128) return subtract_from<std::complex<double>>(values, subtrahends, step, n);
  with_unsigned(dtype.itemsize(), [&](auto number) {  // modulo 2^bits, for either sign
    subtract_from<decltype(number)>(values, subtrahends, step, n);
  });
}

void store(DType from, const void* values, std::int64_t n, DType to, std::byte* out,
           std::int64_t step) {
  constexpr std::int64_t few = 16;
  if (n > few) {
    const bool is_rounded = from != to && (to.is_floating() || to.is_complex());
    const DType stored = is_rounded ? from : to;  // other accumulators have the words of the result
    return convert_block(stored, to,
                         {out, static_cast<const std::byte*>(values), 1, n, 0, step * to.itemsize(),
                          0, stored.itemsize()});
  }
  if (from == float64 && to == float32) return store_as<float, double>(values, n, out, step);
  if (from == float64 && to == float16)
    return store_as<FromDouble<Half>, double>(values, n, out, step);
  if (from == float64 && to == bfloat16)
    return store_as<FromDouble<BFloat16>, double>(values, n, out, step);
  if (from == float32 && to == float16) return store_as<Half, float>(values, n, out, step);
  if (from == float32 && to == bfloat16) return store_as<BFloat16, float>(values, n, out, step);
  if (from == complex128 && to == complex64)
    return store_as<std::complex<float>, std::complex<double>>(values, n, out, step);
  if (to.itemsize() == 16) return store_as<Bytes16, Bytes16>(values, n, out, step);
  with_unsigned(to.itemsize(),
                [&](auto word) { store_as<decltype(word), decltype(word)>(values, n, out, step); });
}

}  // namespace spanwise::ops::reduce
