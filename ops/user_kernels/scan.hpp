// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "compiled_plans.hpp"
#include "kernel_text.hpp"
#include "spanwise/array.hpp"
#include "spanwise/export.hpp"
#include "spanwise/ref.hpp"

/// Each element with what stands before it, combined by a user's associative operation.
namespace spanwise::ops::user_kernels {

struct ScanSpec {
  CommonSpec common{};
  std::string type{};       ///< of elements: a dtype's name, or C's
  std::string scan_expr{};  ///< an expression in `a`, which stands before, and `b`
  std::string neutral{};    ///< of what stands before the first element of an exclusive scan
  bool is_exclusive = false;
};

/// Compiled as ElementwiseKernel is. The operation need not be commutative; the order in which
/// elements are combined is decided by their number alone.
class SW_API ScanKernel : public RefCounted {
 public:
  /// Throws ArgumentError for a spec that does not hold together.
  explicit ScanKernel(ScanSpec spec);
  ~ScanKernel() override;

  const ScanSpec& spec() const noexcept { return spec_; }
  const std::string& who() const noexcept { return who_; }

  /// Along `axis` (from the end where negative), from `input` to `output`, which may be the same
  /// window. Both have the kernel's dtype and one shape. Queued on the current stream. Throws
  /// DTypeError, LayoutError, DeviceError, ReadOnlyError, CompileError.
  void operator()(const Array& input, const Array& output, int axis) const;
  /// The text for arrays whose lines are walked over so many axes; on a GPU, `is_packed` where
  /// lines are contiguous and aligned.
  std::string source(int line_rank, bool on_gpu, bool is_packed) const;

 private:
  struct Plan;
  struct Job;
  bool is_as_on_gpu(Device device) const;
  const Plan& plan_for(Device device, int line_rank, bool is_packed) const;
  Plan compiled_plan(Device device, int line_rank, bool is_packed) const;
  void scan_as_on_gpu(const Job& job) const;
  void scan_on_cpu(const Job& job) const;
  void check(const Array& input, const Array& output) const;

  ScanSpec spec_;
  std::string who_;
  Parameter element_;

  mutable CompiledPlans<Plan> plans_;
};

}  // namespace spanwise::ops::user_kernels
