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
#include "spanwise/core/device.hpp"

/// One call of a ReductionKernel.
namespace spanwise::ops::user_kernels {

/// What selects compiled kernels.
struct ReductionKernel::Variant {
  ReductionShape shape;
  Device device;

  friend bool operator==(const Variant&, const Variant&) = default;
};
struct ReductionKernel::Kernels {
  Kernel run, fold;
};

/// try_plan() determines shapes, outputs and the variant, from which the source and the launch
/// follow.
class ReductionKernel::Call {
 public:
  Call(const ReductionKernel& kernel, std::span<const Argument> arguments,
       const ReductionAxes& axes)
      : kernel_(kernel),
        operands_(kernel.label_, kernel.parameters_, arguments),
        axes_(axes),
        on_gpu_(!runs_on_host(operands_.device()) || kernel.spec_.common.use_gpu_code) {}

  void run(std::vector<Array>& allocated);
  std::string source(bool on_gpu);

 private:
  // Returns false if there are no results.
  bool try_plan(std::vector<Array>& allocated);
  void find_shape();
  bool is_reduced(int axis) const {
    return axes_.all || axes_.axes[static_cast<std::size_t>(axis)];
  }
  void find_results();
  void make_outputs(std::vector<Array>& allocated);
  void plan_walks();
  void find_kernel_shape();
  // Depends on shapes and strides alone, so that sums are the same on all devices of a kind.
  void choose_parts();
  // Blocks of about 32,000 elements; long reductions with few results are split into parts.
  void choose_cpu_parts();
  void choose_gpu_parts();
  // Whether adjacent results have a smaller stride in memory than the elements of one result.
  bool are_results_nearer() const;
  std::string source_text(bool on_gpu) const;

  const Kernels& kernels();
  void launch();

  const ReductionKernel& kernel_;
  Operands operands_;
  const ReductionAxes& axes_;
  bool on_gpu_;
  Shape shape_, result_shape_;
  std::int64_t results_ = 1, length_ = 1;  // results, and elements of each
  std::int64_t parts_ = 1, part_length_ = 1, results_per_block_ = 1, blocks_ = 1;
  ReductionShape kernel_shape_;
  std::optional<Walk> kept_, reduced_;  // over the results, and over the elements of one result
};

}  // namespace spanwise::ops::user_kernels
