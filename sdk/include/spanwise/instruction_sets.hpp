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
