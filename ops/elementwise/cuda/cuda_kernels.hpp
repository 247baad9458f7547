// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "../compute.hpp"
#include "cuda_source.hpp"
#include "spanwise/kernel.hpp"

namespace spanwise::ops {

/// The kernel of that shape on a device: compiled at first use, then found by what decides it. Any
/// thread.
const Kernel& cuda_kernel_for(const KernelShape& shape, Device device);

/// What signature and arguments say of a kernel. The rest is of contiguous arrays, element by
/// element, and without a mask.
KernelShape shape_of(const Signature& signature, std::span<const Operand> operands,
                     const Array& result);

/// Whether exponents must not be negative: a number is looked at by the host, an array by the
/// kernel.
bool has_whole_exponents(const Signature& signature) noexcept;

/// A number as the kernel takes it: cast, and a 16-bit float as a float, as it is in registers,
/// unless the kernel has it as bits.
Scalar kernel_number(const Signature& signature, const Operand& operand, int index);

/// The work where all arrays are contiguous alike and aligned, and nothing is to be checked: what
/// small arrays would feel. False where it is not so, and nothing was done.
bool launch_dense(const Signature& signature, std::span<const Operand> operands,
                  const Array& result);

}  // namespace spanwise::ops
