// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "spanwise/half.hpp"

/// How one element becomes another: numpy.ndarray.astype(casting="unsafe"), with an answer for the
/// cases that C leaves undefined. Scalars and the CPU's copies share it, so they cannot disagree.
namespace spanwise::core {

#include "core/convert_rules.inc"

}  // namespace spanwise::core
