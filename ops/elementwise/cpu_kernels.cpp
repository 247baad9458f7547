// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cpu_kernels.hpp"

#include <math.h>

#include <complex>

#include "spanwise/error.hpp"

namespace spanwise::ops {
namespace {

namespace baseline {
#include "cpu_loops.inc"

Loop find(OpId op, DType dtype) {
  switch (op) {
#define SW_OP(name, Body, inputs, dtypes, result, traits) \
  case OpId::name:                                        \
    return pick<Body, dtypes, traits, inputs>(dtype);
#include "table.inc"
#undef SW_OP
  }
  return nullptr;
}

Loop find_mixed(OpId op) {
  switch (op) {
    case OpId::equal:
      return &binary<Equal, long long, unsigned long long>;
    case OpId::not_equal:
      return &binary<NotEqual, long long, unsigned long long>;
    case OpId::less:
      return &binary<Less, long long, unsigned long long>;
    case OpId::less_equal:
      return &binary<LessEqual, long long, unsigned long long>;
    case OpId::greater:
      return &binary<Greater, long long, unsigned long long>;
    default:
      return &binary<GreaterEqual, long long, unsigned long long>;
  }
}

// Exponents of integers must not be negative, which NumPy refuses.
template <class T>
void checked_power(const void*, std::int64_t n, std::byte* const* arrays) {
  const T* exponents = reinterpret_cast<const T*>(arrays[1]);
  T lowest = 0;
  for (std::int64_t i = 0; i < n; ++i) lowest = exponents[i] < lowest ? exponents[i] : lowest;
  require<ArgumentError>(
      lowest >= 0, "power: integers to negative integer powers are not allowed, got exponent ",
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

#if defined(__x86_64__)
#define SW_HAS_AVX2_LOOPS 1
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
namespace avx2 {
#include "cpu_loops.inc"

// Without the complex types: their loops lean on the C++ library, whose functions must not be
// compiled for one processor only.
Loop find(OpId op, DType dtype) {
  switch (op) {
#define SW_OP(name, Body, inputs, dtypes, result, traits)                            \
  case OpId::name:                                                                   \
    if constexpr (((traits) & vectorises) != 0)                                      \
      return pick < Body, (dtypes) & ~unsigned{complexes}, traits, inputs > (dtype); \
    break;
#include "table.inc"
#undef SW_OP
  }
  return nullptr;
}
}  // namespace avx2
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

Loop find_loop(OpId op, DType dtype) {
#if defined(SW_HAS_AVX2_LOOPS)
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  if (has_avx2)
    if (const Loop loop = avx2::find(op, dtype); loop != nullptr) return loop;
#endif
  return baseline::find(op, dtype);
}

// What the processor does in its vector units is over sooner than a helper is awake.
constexpr std::int64_t cheap_grain = 1 << 15, costly_grain = 1 << 12;

}  // namespace

CpuKernel find_cpu_kernel(const Signature& signature) {
  const DType dtype = cpu_compute(signature, signature.compute);
  if (signature.mixed) return {baseline::find_mixed(signature.op), nullptr, cheap_grain};
  if (signature.op == OpId::power)
    if (const Loop loop = baseline::find_checked_power(dtype); loop != nullptr)
      return {loop, nullptr, costly_grain};
  CpuKernel kernel = find_vector_function(signature.op, dtype);
  if (kernel.loop == nullptr) kernel.loop = find_loop(signature.op, dtype);
  const bool is_cheap = (facts(signature.op).traits & vectorises) != 0;
  kernel.grain = is_cheap ? cheap_grain : costly_grain;
  return kernel;
}

}  // namespace spanwise::ops
