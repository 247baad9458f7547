// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/export.hpp"

/// What loops that are compiled several times over may use: what the processor at hand has, up to
/// config "instruction_set", which is read at the first of these questions and stays. Where the
/// environment names no such set, the error goes to stderr, once, and the processor decides.
namespace spanwise {

SW_API bool has_avx2() noexcept;
/// With fused multiplication, which is an extension of its own.
SW_API bool has_avx2_and_fma() noexcept;
/// The parts of AVX-512 that loops are written for: F, DQ, VL and BW.
SW_API bool has_avx512() noexcept;

}  // namespace spanwise

/// SW_BEGIN_AVX2 ... SW_END_INSTRUCTIONS: what is defined between is compiled for such a processor,
/// and to be called where the question above is answered with yes. For loops that stand in a file
/// which is included once for each set, in a namespace of its own; headers go before.
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
// g++ prefers halves of these vectors unless it is told.
#define SW_BEGIN_AVX512 \
  SW_BEGIN_INSTRUCTIONS("avx512f,avx512dq,avx512vl,avx512bw", ",prefer-vector-width=512")
