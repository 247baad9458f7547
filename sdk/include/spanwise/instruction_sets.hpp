// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the processor at hand can do, for loops that are compiled several times over.
namespace spanwise {

inline bool has_avx2() noexcept {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
#else
  return false;
#endif
}

/// With fused multiplication, which is an extension of its own.
inline bool has_avx2_and_fma() noexcept {
#if defined(__x86_64__)
  static const bool has = has_avx2() && __builtin_cpu_supports("fma");
  return has;
#else
  return false;
#endif
}

/// The parts of AVX-512 that loops are written for: F, DQ, VL and BW.
inline bool has_avx512() noexcept {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  return has;
#else
  return false;
#endif
}

}  // namespace spanwise
