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
/// torch.set_flush_denormal); a worker thread applies the state of the thread whose job it runs.
/// Exception flags that are already raised are not part of it.
class FloatState {
 public:
  /// The calling thread's.
  static FloatState current() noexcept {
    FloatState state;
#if defined(__x86_64__)
    state.mxcsr_ = _mm_getcsr() & ~exception_flags;
    asm volatile("fnstcw %0" : "=m"(state.x87_));
#elif defined(__aarch64__)
    asm volatile("mrs %0, fpcr" : "=r"(state.fpcr_));
#endif
    return state;
  }
  /// Sets the calling thread's state if it differs.
  void apply() const noexcept {
    const FloatState now = current();
#if defined(__x86_64__)
    if (now.mxcsr_ != mxcsr_) _mm_setcsr(mxcsr_);
    if (now.x87_ != x87_) asm volatile("fldcw %0" ::"m"(x87_));
#elif defined(__aarch64__)
    if (now.fpcr_ != fpcr_) asm volatile("msr fpcr, %0" ::"r"(fpcr_));
#endif
  }

 private:
#if defined(__x86_64__)
  // The exception flags of MXCSR (Intel SDM volume 1, 10.2.3).
  static constexpr std::uint32_t exception_flags = 0x3f;
  std::uint32_t mxcsr_ = 0;
  std::uint16_t x87_ = 0;  // the x87 control word
#elif defined(__aarch64__)
  std::uint64_t fpcr_ = 0;
#endif
};

}  // namespace spanwise::cpu_backend
