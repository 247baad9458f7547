// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "spanwise/core/half.hpp"

/// Conversion of one element: numpy.ndarray.astype(casting="unsafe"), with defined results where C
/// leaves them undefined. Shared by Scalar and the CPU's copies.
namespace spanwise::core {

#include "core/element_conversion_rules.inc"

}  // namespace spanwise::core
