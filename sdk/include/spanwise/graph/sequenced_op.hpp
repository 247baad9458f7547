// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "spanwise/export.hpp"
#include "spanwise/graph/op.hpp"

namespace spanwise {

/// An op whose nodes run in a fixed order in every function, such as a collective operation, which
/// all processes must start in the same order whatever order their functions' outputs have.
class SW_API SequencedOp : public Op {
 public:
  /// Nodes of one sequence run in ascending order of position().
  virtual std::string_view sequence() const = 0;
  virtual std::int64_t position() const = 0;
};

}  // namespace spanwise
