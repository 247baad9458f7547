// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "spanwise/export.hpp"
#include "spanwise/graph/variable.hpp"

namespace spanwise {

/// The derivative of a cost with respect to one variable: a variable of the same rank, nothing
/// where the cost does not depend on it (disconnected), or the reason why it is not defined.
class SW_API Cotangent {
 public:
  /// Disconnected.
  Cotangent() noexcept = default;
  Cotangent(Variable variable) noexcept  // NOLINT: rules return variables
      : variable_(std::move(variable)) {}
  /// `reason` is a clause for an error message: "the op is not continuous".
  static Cotangent undefined(std::string reason) {
    Cotangent cotangent;
    cotangent.reason_ = std::move(reason);
    return cotangent;
  }

  bool has_variable() const noexcept { return static_cast<bool>(variable_); }
  bool is_undefined() const noexcept { return !reason_.empty(); }
  bool is_disconnected() const noexcept { return !has_variable() && !is_undefined(); }
  const Variable& variable() const noexcept { return variable_; }
  const std::string& reason() const noexcept { return reason_; }

 private:
  Variable variable_;
  std::string reason_;
};

}  // namespace spanwise
