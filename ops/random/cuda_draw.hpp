// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>

#include "draw.hpp"
#include "spanwise/strided/strided_call.hpp"

/// The generators of random numbers as bodies of strided loops.
namespace spanwise::ops::random {

/// What distinguishes the kernels of a kind.
struct FillKey {
  Distribution kind;
  int itemsize;
  bool is_scaled;  ///< whether Draw::shift and Draw::scale are used
  bool is_packed;  ///< whether blocks are complete, and aligned to their size or to 16 bytes
  auto operator<=>(const FillKey&) const = default;
};

/// Arrays: elements_per_block() adjacent elements as one, and its index. Parameter: a Draw. Throws
/// Error if the kind has no elements of this size.
strided::Body fill_body(const FillKey& key);
/// Arrays: the int64 images, and the indices that they are images of. Parameter: a Bijection.
strided::Body permutation_body();

}  // namespace spanwise::ops::random
