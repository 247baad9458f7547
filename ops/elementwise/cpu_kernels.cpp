// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cpu_kernels.hpp"

#include <math.h>

#include <complex>
#include <type_traits>

#include "spanwise/error.hpp"

namespace spanwise::ops {
namespace {

namespace baseline {
constexpr bool in_any_layout = true;
#include "cpu_loops.inc"

CpuKernel find(OpId op, DType dtype) {
  switch (op) {
#define SW_OP(name, Body, inputs, dtypes, result, traits) \
  case OpId::name:                                        \
    return pick<Body, dtypes, traits, inputs>(dtype);
#include "table.inc"
#undef SW_OP
  }
  return {};
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

CpuKernel find_loops(OpId op, DType dtype) {
  CpuKernel kernel = baseline::find(op, dtype);
  if (const CpuKernel wide = find_avx2_loops(op, dtype); wide.loop != nullptr) {
    kernel.loop = wide.loop;
    kernel.with_number = wide.with_number;
  }
  return kernel;
}

// What the processor does in its vector units is over sooner than a helper is awake.
constexpr std::int64_t cheap_grain = 1 << 15, costly_grain = 1 << 12;

}  // namespace

CpuKernel find_cpu_kernel(const Signature& signature) {
  const DType dtype = cpu_compute(signature, signature.compute);
  CpuKernel kernel;
  if (signature.mixed) {
    kernel.loop = baseline::find_mixed(signature.op);
  } else if (signature.op == OpId::power) {
    kernel.loop = baseline::find_checked_power(dtype);
  }
  if (kernel.loop == nullptr) kernel = find_vector_function(signature.op, dtype);
  if (kernel.loop == nullptr) kernel = find_loops(signature.op, dtype);
  const bool is_cheap = (facts(signature.op).traits & vectorises) != 0;
  kernel.grain = is_cheap ? cheap_grain : costly_grain;
  return kernel;
}

}  // namespace spanwise::ops
