// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>

#include "../reduce_job.hpp"
#include "spanwise/kernels/kernel.hpp"
#include "spanwise/kernels/kernel_table.hpp"

namespace spanwise::ops::reduce {

/// Everything that determines a module's text.
struct CudaShape {
  enum class Form { any, rows, columns, scan, scan_columns };

  ReductionTypes types;
  DType result;
  DType subtrahend = float64;
  Form form = Form::any;
  int kept = 1, reduced = 1;  ///< number of axes kept, and reduced
  int group = 256;            ///< threads that share an output: 1, 8, 32 or 256
  int width = 1;              ///< elements per access
  bool has_mask = false, has_divisors = false, has_initial = false, is_large = false;
  bool has_own_mean = false;  ///< for deviations: ReduceJob::finds_mean
  bool is_packed = false;     ///< for scans: lines are read and written as packs
  bool is_pipelined = false;  ///< for packed scans: by ScanPipeline, without the kernel `lines`
  Finish finish = Finish::nothing;
  int operands = 0;   ///< of computed elements
  int numbers = 0;    ///< bit k: operand k is passed by value
  int constants = 0;  ///< bit k: operand k has the same element for all of an access of `width`

  friend bool operator==(const CudaShape&, const CudaShape&) = default;
};

/// CUDA C with the kernels `run` and `fold`, or (scan) `run` and `lines`, or (scan_columns)
/// `totals`, `carries` and `run`. `computed` is the source of computed elements, else null.
std::string cuda_source(const CudaShape& shape, const ElementSource* computed = nullptr);

/// Bytes of an accumulator on the GPU.
int accumulator_bytes(const CudaShape& shape) noexcept;

/// The kernels of a shape's module; those that its form does not have are empty.
struct ReduceKernels {
  SourceModule module;
  Kernel run;
  std::optional<Kernel> fold, totals, carries, lines;
};
/// The kernels that have been compiled for one source of elements, or for arrays.
class ReduceKernelTable {
 public:
  /// Compiled at the shape's first use. `computed` is the source of computed elements, else null.
  const ReduceKernels& get(const CudaShape& shape, Device device, const ElementSource* computed);

 private:
  struct Key {
    CudaShape shape;
    Device device;
    friend bool operator==(const Key&, const Key&) = default;
  };
  std::array<KernelList<Key, ReduceKernels>, kind_count> by_kind_;
};

/// The kernels that read arrays, from one table of the process.
const ReduceKernels& reduce_kernels(const CudaShape& shape, Device device);

/// The argument of a kernel for a pointer, which may be null.
inline KernelArg reduce_address(const void* data) noexcept {
  return KernelArg::address(reinterpret_cast<std::uintptr_t>(data));
}

}  // namespace spanwise::ops::reduce
