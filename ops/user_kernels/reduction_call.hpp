// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reduction.hpp"
#include "reduction_text.hpp"

/// One call of a ReductionKernel.
namespace spanwise::ops::user_kernels {

/// A compiled form of the kernel.
struct ReductionKernel::Plan {
  ReductionShape shape;
  Device device;
  Kernel run, fold;
};

/// plan() settles what is to be done, which the text and the launch follow.
class ReductionKernel::Call {
 public:
  Call(const ReductionKernel& kernel, std::span<const Argument> arguments,
       const ReductionAxes& axes)
      : kernel_(kernel),
        operands_(kernel.who_, kernel.parameters_, arguments),
        axes_(axes),
        on_gpu_(operands_.device().is_cuda() || kernel.spec_.common.as_on_gpu) {}

  void run(std::vector<Array>& made);
  std::string source(bool on_gpu);

 private:
  bool plan(std::vector<Array>& made);
  void find_shape();
  static bool is_input(const Operand& operand) {
    return operand.is_element() && !operand.parameter->is_output;
  }
  bool goes(int axis) const { return axes_.all || axes_.axes[static_cast<std::size_t>(axis)]; }
  void find_results();
  void make_outputs(std::vector<Array>& made);
  void settle_overlaps();
  void plan_walks();
  // The output's axes that are results: with keepdims, all but those that are gone.
  Layout without_kept_ones(const Layout& layout) const;
  static std::vector<const Layout*> pointers(const std::vector<Layout>& layouts);
  void describe();
  // Fixed by shapes and strides alone, so that sums are the same on every machine of a kind.
  void choose_parts();
  // Blocks of some ten thousand elements; where results are few, long ones in parts.
  void choose_parts_of_cpu();
  void choose_parts_of_gpu();
  // In memory, than the elements of one.
  bool are_results_closer() const;
  std::string source_text(bool on_gpu) const;

  const Plan& plan_for_launch();
  void launch();
  std::size_t room_for_numbers() const;
  void add_operands(std::vector<KernelArg>& arguments, PackedNumbers& numbers) const;

  const ReductionKernel& kernel_;
  Operands operands_;
  const ReductionAxes& axes_;
  bool on_gpu_;
  Shape shape_, result_shape_;
  std::int64_t results_ = 1, length_ = 1;
  std::int64_t parts_ = 1, share_ = 1, apiece_ = 1, blocks_ = 1;
  ReductionShape plan_;
  std::optional<Walk> kept_, gone_;
};

}  // namespace spanwise::ops::user_kernels
