// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>

#include "cuda_source.hpp"
#include "spanwise/kernels/kernel.hpp"
#include "spanwise/kernels/kernel_table.hpp"

namespace spanwise::ops::reduce {

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
