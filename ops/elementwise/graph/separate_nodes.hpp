// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fused_op.hpp"

namespace spanwise::ops {

/// The cells of an op that replaces several nodes, and a thunk for each of these nodes, for calls
/// that the op cannot compute at once. The thunks are made at the first such call.
class SeparateNodes {
 public:
  /// `context`: of the op. `fused` must outlive the object.
  SeparateNodes(const FusedNodes& fused, const ThunkContext& context)
      : device(context.device()),
        outputs(context.outputs()),
        fused_(fused),
        inputs_(context.inputs()),
        moved_(inputs_.size()),
        operands_(inputs_.size()) {}

  /// Reads the inputs' values, as on_device_or_number(). They are valid until the next call.
  std::span<const Array* const> take_operands();
  std::span<const Array* const> operands() const { return operands_; }
  /// Runs the nodes one by one. The outputs share memory with nothing else.
  void run();

  const Device device;
  const std::vector<Ref<Cell>> outputs;

 private:
  void make_thunks();

  const FusedNodes& fused_;
  std::vector<Ref<Cell>> inputs_;
  std::vector<std::optional<Array>> moved_;
  std::vector<const Array*> operands_;
  std::vector<Ref<Cell>> cells_, results_;
  std::vector<std::unique_ptr<Thunk>> thunks_;
};

}  // namespace spanwise::ops
