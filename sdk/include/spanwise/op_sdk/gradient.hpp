// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "spanwise/export.hpp"
#include "spanwise/graph/variable.hpp"

namespace spanwise {

/// What gradients() does for a variable on which the cost does not depend.
enum class DisconnectedInput {
  raise,         ///< throws GraphError
  warn,          ///< returns zeros, with a warning
  zeros,         ///< returns zeros of the variable's shape
  null_variable  ///< returns a null Variable
};

struct GradientOptions {
  /// Treated as constants: no derivative passes through them.
  std::vector<Variable> consider_constant{};
  DisconnectedInput disconnected = DisconnectedInput::raise;
};

/// Variables and the derivatives of the cost with respect to them.
using KnownGradients = std::vector<std::pair<Variable, Variable>>;

/// The derivatives, with respect to each of `wrt`, of a cost whose derivatives with respect to some
/// variables are `known`; for a cost that is a variable of the graph: {{cost, 1}}. Each has the
/// dtype and rank of its variable. `wrt` may name variables inside the graph.
///
/// Throws DTypeError for a variable of `wrt` that is not of a floating or complex dtype, GraphError
/// for a known derivative of another rank, for a variable that is disconnected (see
/// GradientOptions::disconnected), and where a derivative passes through an op that has none: the
/// message names the node and where it was made.
SW_API std::vector<Variable> gradients(const KnownGradients& known, std::span<const Variable> wrt,
                                       const GradientOptions& options = {});

}  // namespace spanwise
