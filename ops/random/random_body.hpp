// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan.hpp"
#include "spanwise/strided/body.hpp"

/// The generators of random numbers as bodies of strided loops.
namespace spanwise::ops::random {

/// Arrays: elements_per_block() adjacent elements as one, and its index. Parameter: a Draw. Throws
/// Error if the kind has no elements of this size.
strided::Body fill_body(Kind kind, int itemsize);
/// Arrays: the int64 images, and the indices that they are images of. Parameter: a Bijection.
strided::Body permutation_body();

}  // namespace spanwise::ops::random
