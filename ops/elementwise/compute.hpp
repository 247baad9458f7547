// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "spanwise/array.hpp"
#include "spanwise/export.hpp"
#include "spanwise/scalar.hpp"
#include "table.hpp"

/// One operation on arrays, on the device of its result.
namespace spanwise::ops {

inline constexpr int max_inputs = 3;

/// An array, which must live until the call returns, or one number.
struct Operand {
  const Array* array = nullptr;
  Scalar scalar{false};

  DType dtype() const noexcept { return array != nullptr ? array->dtype() : scalar.dtype(); }
};

/// result[...] = op(operands...), each operand cast as astype() does and broadcast to the result's
/// shape, which it must fit; the result is cast to its array's dtype. Any layouts; the result may
/// share memory with operands in any way. Where `where`, a bool array that broadcasts too, is
/// false, the result keeps what it had. Operands are on the result's device, or of rank 0 on the
/// host. On a GPU the work is queued on the current stream.
///
/// Throws ReadOnlyError, DeviceError for operands elsewhere (naming the remedy), ArgumentError
/// for negative exponents of integers (on a GPU after the kernel, so this waits for it).
SW_API void compute(const Signature& signature, std::span<const Operand> operands,
                    const Array& result, const Array* where = nullptr);

/// The same for a result that nobody else can see yet: it shares memory with no operand.
SW_API void compute_fresh(const Signature& signature, std::span<const Operand> operands,
                          const Array& result, const Array* where = nullptr);

/// compute() for callers that hold a lock such as Python's: done where contiguous operands on
/// one GPU and a loaded kernel make it a matter of a launch, otherwise false and nothing is done.
SW_API bool compute_at_once(const Signature& signature, std::span<const Operand> operands,
                            const Array& result);

/// The common shape of operands. Throws LayoutError naming `op` and the shapes.
SW_API Shape common_shape(const char* op, std::span<const Operand> operands,
                          const Array* where = nullptr);

/// A new array for the result on `device`, its axes in the order of the operands' memory (NumPy's
/// order='K').
SW_API Array new_result(std::span<const Operand> operands, const Shape& shape, DType dtype,
                        Device device);

/// The array is in the same memory as the result, element by element: reading it before writing is
/// enough.
bool is_same_window(const Array& operand, const Array& result) noexcept;
/// Host memory that a GPU works on too (pinned, managed): the host waits for it.
void order_host_use(const Array& array, bool writes);

/// The work itself, where memory is shared only element by element and everything is at hand.
void compute_on_cpu(const Signature& signature, std::span<const Operand> operands,
                    const Array& result, const Array* where);
void compute_on_cuda(const Signature& signature, std::span<const Operand> operands,
                     const Array& result, const Array* where);

}  // namespace spanwise::ops
