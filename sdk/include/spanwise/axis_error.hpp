// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/error.hpp"
#include "spanwise/export.hpp"

namespace spanwise {

/// An out-of-range axis. Python: also IndexError, like numpy.exceptions.AxisError.
class SW_API AxisError : public LayoutError {
 public:
  using LayoutError::LayoutError;
};

}  // namespace spanwise
