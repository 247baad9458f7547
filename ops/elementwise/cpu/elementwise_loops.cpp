// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "elementwise_loops.hpp"

#include <math.h>

#include <complex>
#include <type_traits>
#include <utility>

#include "spanwise/core/element_types.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::ops {
namespace {

namespace baseline {
constexpr bool is_wide = false;
#include "elementwise_loops.inc"

// Division by a number without vectors, by a multiplication, see Divisor.
template <class Body, class T>
void divide_by_positive(std::int64_t n, const T* a, std::uint64_t d, T* z) {
  const Divisor divisor(d, 63);
  SW_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) {
    const auto value = static_cast<std::int64_t>(a[i]);
    const auto sign = static_cast<std::uint64_t>(value >> 63);
    const std::uint64_t magnitude = static_cast<std::uint64_t>(value) ^ sign;
    const auto upper =
        static_cast<std::uint64_t>((Divisor::Wide{magnitude << 1} * divisor.factor) >> 64);
    const std::uint64_t quotient = (upper >> divisor.k) ^ sign;
    const std::uint64_t remainder = static_cast<std::uint64_t>(value) - quotient * d;
    z[i] = static_cast<T>(std::is_same_v<Body, FloorDivide> ? quotient : remainder);
  }
}
template <class Body, class T>
void divide_by_number(const void* context, std::int64_t n, std::byte* const* arrays) {
  const T number = *reinterpret_cast<const T*>(arrays[1]);
  const auto& loops = *static_cast<const DivisionContext*>(context);
  const bool is_negative = number < T{0};
  const auto d =
      is_negative ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
  const DivideByNumber divide = is_negative ? loops.by_negative : loops.by_positive;
  if (number != 0 && divide != nullptr) return divide(n, arrays[0], d, arrays[2]);
  if (number <= 0) return binary_with_number<Body, T, T>(nullptr, n, arrays);
  divide_by_positive<Body>(n, reinterpret_cast<const T*>(arrays[0]), d,
                           reinterpret_cast<T*>(arrays[2]));
}
template <class Body>
Loop find_divide_by_number_of(DType dtype) {
  if (!dtype.is_integer() || dtype == uint64) return nullptr;
  return with_integer(
      dtype, [](auto number) -> Loop { return &divide_by_number<Body, decltype(number)>; });
}

// Replaces the loops of divisions by faster ones. Their context is never freed; it is made once for
// each operation and dtype.
void use_division_loops(OpId op, DType dtype, CpuLoops& loops) {
  if (op != OpId::floor_divide && op != OpId::remainder && op != OpId::fmod) return;
  const bool is_quotient = op == OpId::floor_divide;
  const auto result = is_quotient             ? PairDivision::quotient
                      : op == OpId::remainder ? PairDivision::remainder
                                              : PairDivision::truncated_remainder;
  auto* context = new DivisionContext{nullptr, nullptr, loops.loop};
  loops.context = context;
  if (const Loop pairs = find_divide_pairs(dtype, result)) loops.loop = pairs;
  if (op == OpId::fmod) return;
  context->by_positive =
      find_divide_by_number(dtype, is_quotient ? Division::quotient : Division::remainder);
  context->by_negative = find_divide_by_number(
      dtype, is_quotient ? Division::negative_quotient : Division::negative_remainder);
  loops.with_number = is_quotient ? find_divide_by_number_of<FloorDivide>(dtype)
                                  : find_divide_by_number_of<Remainder>(dtype);
}

Loop find_mixed_comparison(OpId op) {
  switch (op) {
#define SW_OP(name, Body, inputs, dtypes, result, traits)                                         \
  case OpId::name:                                                                                \
    if constexpr (((traits) & compares) != 0) return &dense<Body, long long, unsigned long long>; \
    break;
#include "../elementwise_table.inc"
#undef SW_OP
  }
  return nullptr;
}

// Throws for negative exponents of integers, as NumPy does.
template <class T>
void checked_power(const void*, std::int64_t n, std::byte* const* arrays) {
  const T* exponents = reinterpret_cast<const T*>(arrays[1]);
  T lowest = 0;
  for (std::int64_t i = 0; i < n; ++i) lowest = exponents[i] < lowest ? exponents[i] : lowest;
  if (lowest < 0)
    fail<ArgumentError>("power: integers to negative integer powers are not allowed, got exponent ",
                        static_cast<long long>(lowest), "; use float_power()");
  dense<Power, T, T>(nullptr, n, arrays);
}

Loop find_checked_power(DType dtype) {
  if (dtype == int8) return &checked_power<signed char>;
  if (dtype == int16) return &checked_power<short>;
  if (dtype == int32) return &checked_power<int>;
  return dtype == int64 ? &checked_power<long long> : nullptr;
}
}  // namespace baseline

CpuLoops find_loops(OpId op, DType dtype) {
  CpuLoops loops = baseline::find(op, dtype);
  if (const CpuLoops wide = find_wide_loops(op, dtype); wide.loop != nullptr) {
    loops.loop = wide.loop;
    loops.with_number = wide.with_number;
  }
  baseline::use_division_loops(op, dtype, loops);
  return loops;
}

// The minimum of elements per thread, by the cost of an element: for fewer, vectorized loops take
// less time than waking a thread.
constexpr std::int64_t cheap_grain = 1 << 15, costly_grain = 1 << 12, constant_grain = 1 << 18;

// Whether the result is the same for all values of the dtype, so that no operand is read.
bool has_constant_result(OpId op, DType dtype) noexcept {
  return !dtype.is_floating() && !dtype.is_complex() &&
         (op == OpId::isfinite || op == OpId::isinf || op == OpId::isnan);
}

}  // namespace

CpuLoops find_cpu_loops(const OpSignature& signature) {
  const DType dtype = loop_dtype(signature, signature.compute);
  CpuLoops loops;
  if (signature.mixed) {
    loops.loop = baseline::find_mixed_comparison(signature.op);
  } else if (signature.op == OpId::power) {
    loops = find_integer_power(dtype);
    const Loop checked = baseline::find_checked_power(dtype);
    if (loops.loop == nullptr)
      loops.loop = checked;
    else
      loops.context = new Loop(checked);  // never freed; made once for each dtype
  }
  if (signature.op == OpId::exp) loops.loop = find_vector_exp(dtype);
  if (loops.loop == nullptr && (signature.op == OpId::power || signature.op == OpId::float_power))
    loops = find_vector_power(dtype);
  if (loops.loop == nullptr) loops = find_vector_function(signature.op, dtype);
  if (loops.loop == nullptr) loops = find_loops(signature.op, dtype);
  const bool is_cheap = traits_of(signature.op).has(vectorises);
  loops.grain = has_constant_result(signature.op, dtype) ? constant_grain
                : is_cheap                               ? cheap_grain
                                                         : costly_grain;
  return loops;
}

}  // namespace spanwise::ops
