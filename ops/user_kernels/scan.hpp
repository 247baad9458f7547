// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "kernel_text.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/kernels/kernel_table.hpp"
#include "spanwise/core/ref.hpp"

/// Scans: each element combined with all before it by a user's associative operation.
namespace spanwise::ops::user_kernels {

/// How a scan on a GPU reads and writes lines: by elements; by packs of elements, if lines are
/// contiguous and aligned; by ScanPipeline, if they are long as well.
enum class ScanAccess : std::uint8_t { strided, packed, pipelined };

struct ScanSpec {
  CommonSpec common{};
  std::string type{};       ///< of elements: the name of a dtype or a C type
  std::string scan_expr{};  ///< an expression in `a`, the earlier elements combined, and `b`
  std::string neutral{};    ///< the first result of an exclusive scan
  bool is_exclusive = false;
};

/// Compiled like ElementwiseKernel. The operation need not be commutative; the order in which
/// elements are combined depends on their number alone.
class SW_API ScanKernel : public RefCounted {
 public:
  /// Throws ArgumentError for an inconsistent spec.
  explicit ScanKernel(ScanSpec spec);
  ~ScanKernel() override;

  const ScanSpec& spec() const noexcept { return spec_; }
  const std::string& label() const noexcept { return label_; }

  /// Scans along `axis` (from the end if negative), from `input` to `output`, which may be the same
  /// view. Both have the kernel's dtype and one shape. Queued on the current stream. Throws
  /// DTypeError, LayoutError, DeviceError, ReadOnlyError, CompileError.
  void operator()(const Array& input, const Array& output, int axis) const;
  /// The source for arrays with `line_rank` axes besides the scanned one; `access` is for a GPU.
  std::string source(int line_rank, bool on_gpu, ScanAccess access) const;

 private:
  struct Variant;
  struct Kernels;
  struct Job;
  bool uses_gpu_code(Device device) const;
  const Kernels& kernels_for(const Variant& variant) const;
  void scan_with_gpu_code(const Job& job) const;
  void scan_on_cpu(const Job& job) const;
  void check(const Array& input, const Array& output) const;

  ScanSpec spec_;
  std::string label_;
  Parameter element_;

  mutable KernelList<Variant, Kernels> kernels_;
};

}  // namespace spanwise::ops::user_kernels
