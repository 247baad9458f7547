// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "cuda_source.hpp"
#include "spanwise/kernel.hpp"

namespace spanwise::ops::reduce {

/// The compiled module for a shape, made at its first use in the process.
const SourceModule& reduce_module(const CudaShape& shape, Device device);

inline KernelArg reduce_address(const void* data) noexcept {
  return KernelArg::address(reinterpret_cast<std::uintptr_t>(data));
}

}  // namespace spanwise::ops::reduce
