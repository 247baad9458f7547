// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "spanwise/dims.hpp"
#include "spanwise/export.hpp"

namespace spanwise {

/// "(2, 3) and (3, ?)", for messages: extents of -1 are unknown.
SW_API std::string shapes_text(std::span<const Shape> shapes);

}  // namespace spanwise
