// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "spanwise/dtype.hpp"
#include "spanwise/export.hpp"
#include "spanwise/graph/variable.hpp"

namespace spanwise {

/// What an op computes for each element, as text in CUDA C. Nodes with a body are fused with
/// elementwise operations. Inputs broadcast to the shape of the outputs.
struct ElementBody {
  struct Value {
    std::string name;  ///< in `operation`
    DType dtype;       ///< of the variable. In the text 16-bit floats are float
    friend bool operator==(const Value&, const Value&) = default;
  };

  std::string op;  ///< the op's name, for messages
  std::vector<Value> inputs, outputs;
  std::string operation;   ///< statements that read the inputs and assign the outputs
  std::string preamble{};  ///< text before it: functions and types
  /// Names of dtypes in the text: {"T", float32}.
  std::vector<std::pair<std::string, DType>> types{};

  friend bool operator==(const ElementBody&, const ElementBody&) = default;
};

/// Second base class, beside Op, of ops that may have a body.
class SW_API HasElementBody {
 public:
  virtual ~HasElementBody();
  /// The body of a node of the op; null where it has none.
  virtual std::shared_ptr<const ElementBody> element_body(const Apply& node) const = 0;
};

}  // namespace spanwise
