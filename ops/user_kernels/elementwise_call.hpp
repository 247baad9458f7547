// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "elementwise.hpp"
#include "elementwise_text.hpp"

/// One call of an ElementwiseKernel.
namespace spanwise::ops::user_kernels {

/// A compiled form of the kernel.
struct ElementwiseKernel::Plan {
  ElementwiseShape shape;
  Device device;
  Kernel function;
};

/// plan() settles what is to be done, which the text and the launch follow.
class ElementwiseKernel::Call {
 public:
  Call(const ElementwiseKernel& kernel, std::span<const Argument> arguments)
      : kernel_(kernel),
        operands_(kernel.who_, kernel.parameters_, arguments),
        on_gpu_(operands_.device().is_cuda() || kernel.spec_.common.as_on_gpu) {}

  void run(std::optional<std::int64_t> size, std::vector<Array>& made);
  std::string source(std::optional<std::int64_t> size, bool on_gpu);

 private:
  // False where there is nothing to do.
  bool plan(std::optional<std::int64_t> size, std::vector<Array>& made);
  std::string source() const;
  void find_shape(std::optional<std::int64_t> size);
  void take_size(std::optional<std::int64_t> size, bool has_elements);
  Shape common_shape() const;
  void make_outputs(std::vector<Array>& made);
  Array new_output(DType dtype) const;
  void check_outputs();
  void settle_overlap(const Operand& output, std::size_t index, bool seen);
  bool all_flat() const;
  void plan_walk();
  bool any_whole_element() const;
  const Walk& make_walk();

  const Kernel& function();
  void launch();
  // What small arrays feel: each parameter's bytes are where the kernel can take them.
  void launch_simple(const Kernel& kernel, const LaunchConfig& config,
                     std::int64_t per_block) const;
  // Neither structs nor a walk among the arguments.
  bool is_simple() const;
  std::size_t room_for_numbers() const;
  void add_operand(std::size_t i, std::vector<KernelArg>& arguments, PackedNumbers& numbers) const;

  const ElementwiseKernel& kernel_;
  Operands operands_;
  bool on_gpu_;
  Shape shape_;
  std::int64_t steps_ = 0;
  ElementwiseShape plan_;
  std::optional<Layout> index_;
  std::optional<Walk> walk_;
};

}  // namespace spanwise::ops::user_kernels
