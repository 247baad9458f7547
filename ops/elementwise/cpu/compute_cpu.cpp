// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "../compute.hpp"
#include "cpu_kernels.hpp"
#include "cpu_tiles.hpp"
#include "spanwise/fork.hpp"
#include "spanwise/parallel.hpp"

namespace spanwise::ops {
namespace {

// Whether to exchange the operands: loops take a number as the second one.
bool has_number_first(const Signature& signature, std::span<const Operand> operands) {
  const auto is_number = [](const Operand& operand) {
    return operand.array == nullptr || operand.array->size() == 1;
  };
  return operands.size() == 2 && !signature.mixed && is_number(operands[0]) &&
         !is_number(operands[1]);
}

// The fast path for C-contiguous arrays of one shape and the dtypes of the kernel; returns false
// for others.
bool run_contiguous(const Signature& signature, const CpuKernel& kernel,
                    std::span<const Operand> operands, const Array& result) {
  const auto fits = [&](const Array& array, DType compute) {
    const int part = compute.is_complex() ? compute.itemsize() / 2 : compute.itemsize();
    return array.dtype() == compute && array.layout().is_row_major() &&
           reinterpret_cast<std::uintptr_t>(array.data()) % static_cast<std::uintptr_t>(part) == 0;
  };
  if (!fits(result, cpu_compute(signature, signature.result))) return false;
  std::byte* arrays[max_operands];
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Array* array = operands[i].array;
    if (array == nullptr || !(array->shape() == result.shape())) return false;
    if (!fits(*array, cpu_compute(signature, signature.operand(static_cast<int>(i))))) return false;
    arrays[i] = static_cast<std::byte*>(array->data());
  }
  arrays[operands.size()] = static_cast<std::byte*>(result.data());
  const std::int64_t size = result.size();
  if (size < 2 * kernel.grain) {
    kernel(size, arrays);
    return true;
  }
  std::array<std::int64_t, max_operands> sizes{};
  for (std::size_t i = 0; i < operands.size(); ++i)
    sizes[i] = operands[i].array->dtype().itemsize();
  sizes[operands.size()] = result.dtype().itemsize();
  parallel_for(size, kernel.grain, [&](std::int64_t first, std::int64_t last) {
    std::byte* parts[max_operands];
    for (std::size_t i = 0; i <= operands.size(); ++i) parts[i] = arrays[i] + first * sizes[i];
    kernel(last - first, parts);
  });
  return true;
}

}  // namespace

const CpuKernel& cpu_kernel_for(const Signature& signature) {
  struct Entry {
    std::atomic<bool> is_known{false};
    CpuKernel kernel;
  };
  static Entry* const entries = new Entry[op_count * (dtype_count + 1)];
  const int column = signature.mixed ? dtype_count : dtype_index(signature.compute);
  Entry& entry = entries[static_cast<int>(signature.op) * (dtype_count + 1) + column];
  if (!entry.is_known.load(std::memory_order_acquire)) {
    static auto& mutex = *new Mutex;
    const CpuKernel found = find_cpu_kernel(signature);
    const std::lock_guard lock(mutex);
    entry.kernel = found;
    entry.is_known.store(true, std::memory_order_release);
  }
  return entry.kernel;
}

std::optional<OpId> swapped_op(OpId op) noexcept {
  switch (op) {
    case OpId::add:
    case OpId::multiply:
    case OpId::equal:
    case OpId::not_equal:
    case OpId::logical_and:
    case OpId::logical_or:
    case OpId::logical_xor:
    case OpId::bitwise_and:
    case OpId::bitwise_or:
    case OpId::bitwise_xor:
      return op;
    case OpId::less:
      return OpId::greater;
    case OpId::less_equal:
      return OpId::greater_equal;
    case OpId::greater:
      return OpId::less;
    case OpId::greater_equal:
      return OpId::less_equal;
    default:
      return std::nullopt;
  }
}

void compute_on_cpu(const Signature& signature, std::span<const Operand> operands,
                    const Array& result, const Array* where) {
  if (has_number_first(signature, operands)) {
    if (const std::optional<OpId> other = swapped_op(signature.op)) {
      Signature swapped = signature;
      swapped.op = *other;
      const Operand both[] = {operands[1], operands[0]};
      return compute_on_cpu(swapped, both, result, where);
    }
  }
  const CpuKernel& kernel = cpu_kernel_for(signature);
  if (where == nullptr && run_contiguous(signature, kernel, operands, result)) return;
  compute_in_tiles(signature, kernel, operands, result, where);
}

}  // namespace spanwise::ops
