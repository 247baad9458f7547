// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/module_state.hpp"
#include "spanwise/kernel.hpp"

/// The sentences for launches that cannot be: which kernel, which argument, what was expected, what
/// came, what to do. Apart from the checks, which stay short so.
namespace spanwise::kernels {

[[noreturn]] void fail_count(const FunctionState& function, std::size_t count);
/// For an argument that the rule of its parameter does not take; finds out why not.
[[noreturn]] void fail_argument(const FunctionState& function, std::size_t index,
                                const KernelArg& argument);

/// Whether a kernel of `kernel_device` can follow an address of `memory`.
constexpr bool reachable(Device memory, Device kernel_device) noexcept {
  // Pinned and managed memory has one address for the host and every GPU (CUDA programming guide,
  // unified virtual addressing).
  return memory == kernel_device || memory.kind() == DeviceKind::cuda_host ||
         memory.kind() == DeviceKind::cuda_managed;
}
/// Whether a pointer or view of the rule may lead to elements of `dtype`.
constexpr bool takes_elements(const ParameterRule& rule, DType dtype) noexcept {
  return !rule.has_dtype || dtype == rule.dtype || (rule.any_byte && dtype.itemsize() == 1);
}

/// Addresses below are never handed out by a driver or the C library, so a number of this size
/// where a pointer is expected is an argument in the wrong place.
inline constexpr std::uintptr_t lowest_address = 65536;

}  // namespace spanwise::kernels
