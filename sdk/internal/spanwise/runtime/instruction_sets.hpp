// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Runtime dispatch for loops that are compiled for several instruction sets: what the processor
/// supports, limited by config "instruction_set", which is read once at the first call. If the
/// environment variable has an invalid value, the error is printed to stderr once and the limit is
/// ignored.
namespace spanwise {

bool has_avx2() noexcept;
/// AVX2 and FMA, which is a separate extension.
bool has_avx2_and_fma() noexcept;
/// AVX-512 F, DQ, VL and BW.
bool has_avx512() noexcept;

}  // namespace spanwise

/// SW_BEGIN_AVX2 ... SW_END_INSTRUCTIONS: functions defined between them are compiled for that
/// instruction set and may only be called if has_avx2() (has_avx2_and_fma(), has_avx512()) is true.
/// Meant for a file of loops that is included once per instruction set, each time in another
/// namespace, after all headers.
#define SW_TEXT_OF(...) #__VA_ARGS__
#define SW_PRAGMA(...) _Pragma(SW_TEXT_OF(__VA_ARGS__))
#if defined(__clang__)
#define SW_BEGIN_INSTRUCTIONS(sets, options) \
  SW_PRAGMA(clang attribute push(__attribute__((target(sets))), apply_to = function))
#define SW_END_INSTRUCTIONS SW_PRAGMA(clang attribute pop)
#else
#define SW_BEGIN_INSTRUCTIONS(sets, options) \
  SW_PRAGMA(GCC push_options) SW_PRAGMA(GCC target(sets options))
#define SW_END_INSTRUCTIONS SW_PRAGMA(GCC pop_options)
#endif
#define SW_BEGIN_AVX2 SW_BEGIN_INSTRUCTIONS("avx2", "")
#define SW_BEGIN_AVX2_FMA SW_BEGIN_INSTRUCTIONS("avx2,fma", "")
// By default g++ prefers 256-bit vectors.
#define SW_BEGIN_AVX512 \
  SW_BEGIN_INSTRUCTIONS("avx512f,avx512dq,avx512vl,avx512bw", ",prefer-vector-width=512")
