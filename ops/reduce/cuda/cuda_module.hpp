// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "cuda_source.hpp"
#include "spanwise/kernel.hpp"

namespace spanwise::ops::reduce {

/// The kernels of a shape's module; those that its form does not have are empty.
struct ReduceKernels {
  SourceModule module;
  Kernel run;
  std::optional<Kernel> fold, totals, carries, lines;
};
/// Compiled at the shape's first use in the process.
const ReduceKernels& reduce_kernels(const CudaShape& shape, Device device);

inline KernelArg reduce_address(const void* data) noexcept {
  return KernelArg::address(reinterpret_cast<std::uintptr_t>(data));
}

}  // namespace spanwise::ops::reduce
