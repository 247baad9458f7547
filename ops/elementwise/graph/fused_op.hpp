// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "../element_program.hpp"
#include "spanwise/graph/elementwise.hpp"
#include "spanwise/graph/op.hpp"

/// Programs as ops of graphs.
namespace spanwise::ops {

/// The nodes that one op replaces, the variables that they read, and those of their outputs that
/// the op computes.
struct FusedNodes {
  std::vector<Ref<Apply>> nodes;  ///< in topological order
  std::vector<Variable> inputs, outputs;
};

/// A condition of running a program: extent `axis` of its outputs is the value of input `input`, or
/// `fixed` if that is -1.
struct RequiredExtent {
  int axis = 0, input = -1;
  std::int64_t fixed = 0;

  friend bool operator==(const RequiredExtent&, const RequiredExtent&) = default;
};

/// A program as an op of graphs, which replaces `nodes` and has their inputs and outputs. Where
/// `required` does not hold, or an extent that the types leave open is 1 and is broadcast, the
/// nodes are run one by one. Its name shows the program: "Composite{((i0 * i1) + i2)}".
Ref<const Op> fused_op(ElementProgram program, std::vector<RequiredExtent> required,
                       FusedNodes nodes);

/// The immutable part of a fused op, which its thunks share. If there are no nodes, the program is
/// one operation on its inputs.
struct Fused {
  ElementProgram program;
  std::vector<RequiredExtent> required;
  FusedNodes nodes;
};

/// The program and nodes of a fused op; null for other ops, and for variants that overwrite an
/// input.
const Fused* fused_of(const Op& op);

/// The elements of the output of a node that has one.
std::unique_ptr<ElementSource> fused_elements(std::shared_ptr<const Fused> fused,
                                              const ThunkContext& context);
/// The computation of one node of a fused op.
std::unique_ptr<Thunk> fused_thunk(std::shared_ptr<const Fused> fused, const ThunkContext& context);

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
