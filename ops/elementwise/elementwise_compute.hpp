// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "elementwise_table.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/core/device_table.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/core/scalar.hpp"

/// Elementwise operations on arrays.
namespace spanwise::ops {

inline constexpr int max_inputs = 3;

/// An array, which must live until the call returns, or one number.
struct Operand {
  const Array* array = nullptr;
  Scalar scalar{false};

  DType dtype() const noexcept { return array != nullptr ? array->dtype() : scalar.dtype(); }
};

/// result[...] = op(operands...) on the device of `result`. Each operand is cast as by astype() and
/// must broadcast to the result's shape; the computed values are cast to the dtype of `result`. All
/// arrays may have any layout, and the result may share memory with operands. Elements for which
/// `where`, a bool array that also broadcasts, is false are not changed. Operands are on the
/// result's device, or of rank 0 on the host. On a GPU the work is queued on the current stream.
///
/// Throws ReadOnlyError, DeviceError for operands on other devices, and ArgumentError for negative
/// exponents of integers (on a GPU after the kernel, so the call waits for it).
SW_API void compute(const OpSignature& signature, std::span<const Operand> operands,
                    const Array& result, const Array* where = nullptr);

/// The same for a result that shares memory with no operand.
SW_API void compute_disjoint(const OpSignature& signature, std::span<const Operand> operands,
                             const Array& result, const Array* where = nullptr);

/// compute() for callers that hold the GIL: if operands are contiguous on one GPU and the kernel is
/// loaded, launches it and returns true; otherwise returns false and does nothing. `is_disjoint`:
/// the result shares memory with no operand.
SW_API bool try_launch_compute(const OpSignature& signature, std::span<const Operand> operands,
                               const Array& result, bool is_disjoint);

/// The common shape of operands. Throws LayoutError naming `op` and the shapes.
SW_API Shape common_shape(const char* op, std::span<const Operand> operands,
                          const Array* where = nullptr);

/// The layout of a new result: its axes in the order of the operands' memory (NumPy's order='K').
Layout layout_of_result(std::span<const Operand> operands, const Shape& shape);
/// A new array of that layout on `device`.
SW_API Array new_result(std::span<const Operand> operands, const Shape& shape, DType dtype,
                        Device device);

/// The function of a back end: compute() for operands that are numbers or arrays on its device, and
/// share memory with the result only element by element. They are not swapped.
struct ElementwiseBackend {
  void (*compute)(const OpSignature& signature, std::span<const Operand> operands,
                  const Array& result, const Array* where);
};
extern DeviceTable<ElementwiseBackend> elementwise_backends;

/// The functions of the CPU and of GPUs. compute_on_cpu() accesses the memory at once: its caller
/// has ordered the uses of the arrays.
void compute_on_cpu(const OpSignature& signature, std::span<const Operand> operands,
                    const Array& result, const Array* where);
void compute_on_cuda(const OpSignature& signature, std::span<const Operand> operands,
                     const Array& result, const Array* where);

}  // namespace spanwise::ops
