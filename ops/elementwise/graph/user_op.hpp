// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spanwise/op_sdk.hpp"

namespace spanwise::ops {

/// An elementwise operation of a user, as an op of graphs.
struct UserOpSpec {
  struct Parameter {
    std::string name;
    /// A placeholder for a dtype, "T": all parameters with the same one have equal dtypes.
    std::string dtype_letter{};
    std::optional<DType> dtype{};  ///< the dtype of a parameter without a letter
    friend bool operator==(const Parameter&, const Parameter&) = default;
  };
  std::string name;
  std::vector<Parameter> inputs, outputs;
  std::string operation;  ///< see ElementBody
  std::string preamble{};
  GradientRule gradient{};
};

/// The op runs alone, or as a step of a fused program. Throws ArgumentError for an inconsistent
/// spec.
SW_API Ref<const Op> user_op(UserOpSpec spec);

}  // namespace spanwise::ops
