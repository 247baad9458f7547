// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "reduce.hpp"

namespace spanwise::ops::reduce {

/// `shape` without the reduced axes, or with extent 1 there.
Shape reduced_shape(const Shape& shape, const AxisSet& axes, bool keepdims);

/// The number of elements per output.
std::int64_t elements_of(const Array& array, const AxisSet& axes);

/// Throws what reduce() throws for these arguments. Returns where= broadcast to the array's shape.
std::optional<Array> check_options(Operation op, const Array& array, const Options& options);

/// Throws LayoutError, ReadOnlyError or DeviceError if `out` cannot take a result of this shape on
/// this device; `caller` names the function in the message.
void check_out(const char* caller, const Array& out, const Shape& shape, Device device);

}  // namespace spanwise::ops::reduce
