// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fused_op.hpp"

namespace spanwise::ops {

/// The nodes that one op stands for, as thunks of their own, which are made at the first run.
class SeparateNodes {
 public:
  /// `inputs`: the cells of fused.inputs. `fused` must outlive the object.
  SeparateNodes(const FusedNodes& fused, std::span<const Ref<Cell>> inputs, Device device)
      : fused_(fused), inputs_(inputs.begin(), inputs.end()), device_(device) {}

  /// Puts the outputs into `outputs`, one cell for each of fused.outputs. They share memory with
  /// nothing else.
  void run(std::span<const Ref<Cell>> outputs);

 private:
  void make_thunks();

  const FusedNodes& fused_;
  std::vector<Ref<Cell>> inputs_;
  Device device_;
  std::vector<Ref<Cell>> cells_, outputs_;
  std::vector<std::unique_ptr<Thunk>> thunks_;
};

}  // namespace spanwise::ops
