// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "../compute.hpp"
#include "cuda_source.hpp"
#include "spanwise/kernel.hpp"

namespace spanwise::ops {

/// The kernel for a shape on a device; compiled at first use and cached. Thread-safe.
const Kernel& cuda_kernel_for(const KernelShape& shape, Device device);

/// The shape for a signature and arguments, with defaults for contiguous arrays, packs of one
/// element and no mask.
KernelShape shape_of(const Signature& signature, std::span<const Operand> operands,
                     const Array& result);

/// Whether exponents are integers, which must not be negative: the host checks a number, the kernel
/// an array.
bool has_integer_exponents(const Signature& signature) noexcept;

/// The number as a kernel argument: cast, and 16-bit floats as float unless the operation has
/// native_halves.
Scalar kernel_number(const Signature& signature, const Operand& operand, int index);

/// The fast path for small arrays: launches the kernel if all arrays are contiguous and aligned and
/// no exponents need a check. Otherwise returns false and does nothing.
bool launch_dense(const Signature& signature, std::span<const Operand> operands,
                  const Array& result);

}  // namespace spanwise::ops
