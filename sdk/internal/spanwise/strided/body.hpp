// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "spanwise/core/export.hpp"
#include "spanwise/strided/plan.hpp"

namespace spanwise::strided {

/// How a body uses one of its arrays.
struct BodyArray {
  std::string type;  ///< of its elements, in CUDA C; a trivial type unless it is used in place
  ArrayRole role;
};

/// What a CUDA kernel computes for each element; cuda_source() adds how arrays are read and
/// written. Names that begin with "sw_" are reserved for cuda_source().
struct Body {
  std::string name = "run";  ///< of the kernel
  std::string prelude{};     ///< before the kernel: types and functions
  /// In the plan's order. At most one mask, the last.
  std::vector<BodyArray> arrays{};
  /// Further parameters of the kernel, each followed by ", ": as declared, and as passed on.
  std::string parameters{}, arguments{};
  /// Declarations that all statements below may use; they may use the parameters.
  std::string declarations{};
  /// Statements before and after the loop over a thread's elements; each thread of the grid runs
  /// them if there are any.
  std::string before{}, after{};
  /// Statements that compute one element. elements[k] is an expression for that of array k: an
  /// lvalue for written arrays, the offset for the index.
  std::function<std::string(std::span<const std::string> elements)> compute{};
};

/// CUDA C with one kernel. Its parameters: for each array the address of the first visited element,
/// for the index its value there as int64; Body::parameters; except for dense,
/// StridedPlan::numbers() as one struct; and, for dense and rows, StridedPlan::steps() as int64.
/// Blocks have block_threads threads.
SW_API std::string cuda_source(const Body& body, const PlanShape& shape);

}  // namespace spanwise::strided
