// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cpu_kernels.hpp"

#include <math.h>

#include <complex>
#include <type_traits>

#include "divisions.hpp"
#include "spanwise/core/element_words.hpp"
#include "spanwise/error.hpp"

namespace spanwise::ops {
namespace {

namespace baseline {
constexpr bool with_strided_loops = true;
#include "cpu_loops.inc"

CpuLoops find(OpId op, DType dtype) {
  switch (op) {
#define SW_OP(name, Body, inputs, dtypes, result, traits) \
  case OpId::name:                                        \
    return pick<Body, dtypes, traits, inputs>(dtype);
#include "../table.inc"
#undef SW_OP
  }
  return {};
}

// Scalar division by a multiplication, see divisions.hpp.
template <class Body, class T>
void by_positive_number(std::int64_t n, const T* a, std::uint64_t d, T* z) {
  const Divisor by(d, 63);
  SW_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) {
    const auto value = static_cast<std::int64_t>(a[i]);
    const auto sign = static_cast<std::uint64_t>(value >> 63);
    const std::uint64_t size = static_cast<std::uint64_t>(value) ^ sign;
    const auto upper = static_cast<std::uint64_t>((Divisor::Wide{size << 1} * by.factor) >> 64);
    const std::uint64_t quotient = (upper >> by.k) ^ sign;
    const std::uint64_t remainder = static_cast<std::uint64_t>(value) - quotient * d;
    z[i] = static_cast<T>(std::is_same_v<Body, FloorDivide> ? quotient : remainder);
  }
}
template <class Body, class T>
void by_number(const void* context, std::int64_t n, std::byte* const* arrays) {
  const T number = *reinterpret_cast<const T*>(arrays[1]);
  const auto& vectors = *static_cast<const DivisionContext*>(context);
  const bool is_negative = number < T{0};
  const auto d =
      is_negative ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
  const DivideByNumber divide = is_negative ? vectors.by_negative : vectors.by_positive;
  if (number != 0 && divide != nullptr) return divide(n, arrays[0], d, arrays[2]);
  if (number <= 0) return binary_with_number<Body, T, T>(nullptr, n, arrays);
  by_positive_number<Body>(n, reinterpret_cast<const T*>(arrays[0]), d,
                           reinterpret_cast<T*>(arrays[2]));
}
template <class Body>
Loop find_by_number(DType dtype) {
  if (!dtype.is_integer() || dtype == uint64) return nullptr;
  return with_integer(dtype,
                      [](auto number) -> Loop { return &by_number<Body, decltype(number)>; });
}

// Replaces the loops of divisions by faster ones. Each kernel is found once, and its context is
// never freed.
void vectorise_division(OpId op, DType dtype, CpuLoops& kernel) {
  if (op != OpId::floor_divide && op != OpId::remainder && op != OpId::fmod) return;
  const bool wants_quotient = op == OpId::floor_divide;
  const auto wanted = wants_quotient          ? PairDivision::quotient
                      : op == OpId::remainder ? PairDivision::remainder
                                              : PairDivision::truncated_remainder;
  auto* context = new DivisionContext{nullptr, nullptr, kernel.loop};
  kernel.context = context;
  if (const Loop pairs = find_divide_pairs(dtype, wanted)) kernel.loop = pairs;
  if (op == OpId::fmod) return;
  context->by_positive =
      find_divide_by_number(dtype, wants_quotient ? Division::quotient : Division::remainder);
  context->by_negative = find_divide_by_number(
      dtype, wants_quotient ? Division::negative_quotient : Division::negative_remainder);
  kernel.with_number =
      wants_quotient ? find_by_number<FloorDivide>(dtype) : find_by_number<Remainder>(dtype);
}

Loop find_mixed(OpId op) {
  switch (op) {
#define SW_OP(name, Body, inputs, dtypes, result, traits)                                          \
  case OpId::name:                                                                                 \
    if constexpr (((traits) & compares) != 0) return &binary<Body, long long, unsigned long long>; \
    break;
#include "../table.inc"
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
  binary<Power, T, T>(nullptr, n, arrays);
}

Loop find_checked_power(DType dtype) {
  if (dtype == int8) return &checked_power<signed char>;
  if (dtype == int16) return &checked_power<short>;
  if (dtype == int32) return &checked_power<int>;
  return dtype == int64 ? &checked_power<long long> : nullptr;
}
}  // namespace baseline

CpuLoops find_loops(OpId op, DType dtype) {
  CpuLoops kernel = baseline::find(op, dtype);
  if (const CpuLoops wide = find_wide_loops(op, dtype); wide.loop != nullptr) {
    kernel.loop = wide.loop;
    kernel.with_number = wide.with_number;
  }
  baseline::vectorise_division(op, dtype, kernel);
  return kernel;
}

// Grains by cost: vectorized loops take less time than waking a thread.
constexpr std::int64_t cheap_grain = 1 << 15, costly_grain = 1 << 12, written_grain = 1 << 18;

// Whether the result is the same for all values of the dtype, so that no operand is read.
bool is_constant(OpId op, DType dtype) noexcept {
  return !dtype.is_floating() && !dtype.is_complex() &&
         (op == OpId::isfinite || op == OpId::isinf || op == OpId::isnan);
}

}  // namespace

CpuLoops find_cpu_kernel(const OpSignature& signature) {
  const DType dtype = loop_compute(signature, signature.compute);
  CpuLoops kernel;
  if (signature.mixed) {
    kernel.loop = baseline::find_mixed(signature.op);
  } else if (signature.op == OpId::power) {
    kernel = find_integer_power(dtype);
    const Loop checked = baseline::find_checked_power(dtype);
    if (kernel.loop == nullptr)
      kernel.loop = checked;
    else
      kernel.context = new Loop(checked);  // never freed; each kernel is found once
  }
  if (signature.op == OpId::exp) kernel.loop = find_vector_exp(dtype);
  if (kernel.loop == nullptr && (signature.op == OpId::power || signature.op == OpId::float_power))
    kernel = find_vector_power(dtype);
  if (kernel.loop == nullptr) kernel = find_vector_function(signature.op, dtype);
  if (kernel.loop == nullptr) kernel = find_loops(signature.op, dtype);
  const bool is_cheap = (traits_of(signature.op).traits & vectorises) != 0;
  kernel.grain = is_constant(signature.op, dtype) ? written_grain
                 : is_cheap                       ? cheap_grain
                                                  : costly_grain;
  return kernel;
}

}  // namespace spanwise::ops
