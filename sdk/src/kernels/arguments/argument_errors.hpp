// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/module_state.hpp"
#include "spanwise/kernels/kernel.hpp"

/// Error messages of invalid launches: the kernel, the argument, the expected and the passed value,
/// and a remedy. Separate from the checks, so that these stay short.
namespace spanwise::kernels {

/// Throws KernelArgumentError for a wrong number of arguments.
[[noreturn]] void fail_count(const KernelState& function, std::size_t count);
/// Throws KernelArgumentError or ReadOnlyError for an argument that does not match its parameter,
/// after finding out why.
[[noreturn]] void fail_argument(const KernelState& function, std::size_t index,
                                const KernelArg& argument);

/// Whether a kernel on `kernel_device` can access memory of device `memory`.
constexpr bool is_reachable(Device memory, Device kernel_device) noexcept {
  // Pinned and managed memory has the same address on the host and every GPU (CUDA programming
  // guide, unified virtual addressing).
  return memory == kernel_device || memory.kind() == DeviceKind::cuda_host ||
         memory.kind() == DeviceKind::cuda_managed;
}
/// Whether a pointer or view parameter accepts elements of `dtype`.
constexpr bool accepts_elements(const ParameterRule& rule, DType dtype) noexcept {
  return !rule.has_dtype || dtype == rule.dtype || (rule.any_byte && dtype.itemsize() == 1);
}

/// No allocator returns lower addresses, so a smaller number passed for a pointer is an argument in
/// the wrong position.
inline constexpr std::uintptr_t lowest_address = 65536;

}  // namespace spanwise::kernels
