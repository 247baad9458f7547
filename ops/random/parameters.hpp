// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace spanwise::ops::random {

#include "parameters.cuh"

/// What is drawn; bodies.inc lists the element sizes of each kind.
enum class Distribution {
  words,            ///< 32-bit words of the generator
  uniform,          ///< in [0, 1)
  normal,           ///< standard normal numbers
  exponential,      ///< of mean 1
  integers,         ///< low + [0, span), span up to 2^32
  wide_integers,    ///< low + [0, span), span up to 2^64
  integers_within,  ///< integers with a low and a span per element
  picks,            ///< indices into a table of cumulative probabilities
};

/// Elements per block of four words: 4 of one word each, or 2 of two words. 0 if the kind has no
/// elements of this size.
int elements_per_block(Distribution kind, int itemsize) noexcept;

}  // namespace spanwise::ops::random
