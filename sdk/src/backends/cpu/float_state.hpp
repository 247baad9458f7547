// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace spanwise::cpu_backend {

/// The floating-point state of a thread: rounding mode, flushing of subnormal numbers to zero,
/// trapped exceptions. A program sets it for its own threads (fesetround,
/// torch.set_flush_denormal); worker threads take it over from the thread they work for. Raised
/// exception flags are not part of it.
class FloatState {
 public:
  /// The calling thread's.
  static FloatState current() noexcept {
    FloatState state;
#if defined(__x86_64__)
    state.vector_ = _mm_getcsr() & ~raised;
    asm volatile("fnstcw %0" : "=m"(state.x87_));
#elif defined(__aarch64__)
    asm volatile("mrs %0, fpcr" : "=r"(state.control_));
#endif
    return state;
  }
  /// Sets the calling thread's state if it differs.
  void apply() const noexcept {
    const FloatState now = current();
#if defined(__x86_64__)
    if (now.vector_ != vector_) _mm_setcsr(vector_);
    if (now.x87_ != x87_) asm volatile("fldcw %0" ::"m"(x87_));
#elif defined(__aarch64__)
    if (now.control_ != control_) asm volatile("msr fpcr, %0" ::"r"(control_));
#endif
  }

 private:
#if defined(__x86_64__)
  // The sticky bits of MXCSR (Intel SDM volume 1, 10.2.3).
  static constexpr std::uint32_t raised = 0x3f;
  std::uint32_t vector_ = 0;
  std::uint16_t x87_ = 0;
#elif defined(__aarch64__)
  std::uint64_t control_ = 0;
#endif
};

}  // namespace spanwise::cpu_backend
