// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "elementwise.hpp"
#include "elementwise_text.hpp"
#include "spanwise/strided/call.hpp"
#include "spanwise/core/device.hpp"

/// One call of an ElementwiseKernel.
namespace spanwise::ops::user_kernels {

/// What selects one of the compiled kernels.
struct ElementwiseKernel::Variant {
  ElementwiseShape shape;
  strided::PlanShape plan;
  Device device;

  /// References to the variant of a call, for the lookup.
  struct Key {
    const ElementwiseShape& shape;
    const strided::PlanShape& plan;
    Device device;
  };
  explicit Variant(const Key& key) : shape(key.shape), plan(key.plan), device(key.device) {}
  friend bool operator==(const Variant& a, const Key& b) {
    return a.plan == b.plan && a.device == b.device && a.shape == b.shape;
  }
};

/// try_plan() determines shapes, outputs and the variant, from which the source and the launch
/// follow.
class ElementwiseKernel::Call {
 public:
  Call(const ElementwiseKernel& kernel, std::span<const Argument> arguments)
      : kernel_(kernel),
        operands_(kernel.label_, kernel.parameters_, arguments),
        on_gpu_(!runs_on_host(operands_.device()) || kernel.spec_.common.use_gpu_code) {}

  void run(std::optional<std::int64_t> size, std::vector<Array>& allocated);
  std::string source(std::optional<std::int64_t> size, bool on_gpu);

 private:
  // Returns false if there are no elements.
  bool try_plan(std::optional<std::int64_t> size, std::vector<Array>& allocated);
  std::string source() const;
  void find_shape(std::optional<std::int64_t> size);
  void use_size(std::optional<std::int64_t> size, bool has_elements);
  void make_outputs(std::vector<Array>& allocated);
  Array new_output(DType dtype) const;
  void check_outputs();
  bool is_flat() const;
  void plan_operands();
  void plan_loop();

  const Kernel& function();
  void launch();
  bool wants_pointer() const { return kernel_.spec_.style == ParameterStyle::pointers; }

  const ElementwiseKernel& kernel_;
  Operands operands_;
  bool on_gpu_;
  Shape shape_;
  std::int64_t size_ = 0;
  ElementwiseShape kernel_shape_;
  std::optional<Layout> index_;  ///< of the array of indices, if the loop has one
  std::optional<strided::StridedCall> loop_;
};

}  // namespace spanwise::ops::user_kernels
