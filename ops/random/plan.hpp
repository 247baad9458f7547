// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace spanwise::ops::random {

#include "plan.cuh"

/// What elements are; bodies.inc says in which sizes.
enum class Kind {
  words,            ///< as the generator makes them
  uniform,          ///< in [0, 1)
  normal,           ///< standard normal numbers
  exponential,      ///< of mean 1
  integers,         ///< low + [0, span), span up to 2^32
  wide_integers,    ///< low + [0, span), span up to 2^64
  integers_within,  ///< the same with a low and a span for each element
  picks,            ///< places in a table of cumulated probabilities
};
inline constexpr int kind_count = 8;

/// Elements that one block of four words makes: 4 of a word each, or 2 of two.
int elements_per_block(Kind kind, int itemsize) noexcept;

}  // namespace spanwise::ops::random
