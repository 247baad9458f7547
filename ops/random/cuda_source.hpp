// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "plan.hpp"

namespace spanwise::ops::random {

/// CUDA C++ source of the kernel `run(Draw, address)` for elements of `itemsize` bytes. Throws
/// Error if the kind has no elements of this size.
std::string fill_source(Kind kind, int itemsize);
/// CUDA C++ source of the kernel `run(Bijection, address, count)`.
std::string permutation_source();

}  // namespace spanwise::ops::random
