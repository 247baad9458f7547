// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <mutex>
#include <optional>

#include "../compute.hpp"
#include "cpu_kernels.hpp"
#include "spanwise/core/fork.hpp"

namespace spanwise::ops {
namespace {

const Layout no_axes{};

// Whether to exchange the operands: loops take a number as the second one.
bool has_number_first(const OpSignature& signature, std::span<const Operand> operands) {
  const auto is_number = [](const Operand& operand) {
    return operand.array == nullptr || operand.array->size() == 1;
  };
  return operands.size() == 2 && !signature.mixed && is_number(operands[0]) &&
         !is_number(operands[1]);
}

}  // namespace

const CpuLoops& cpu_kernel_for(const OpSignature& signature) {
  struct CachedKernel {
    std::atomic<bool> is_known{false};
    CpuLoops kernel;
  };
  static CachedKernel* const entries = new CachedKernel[op_count * (dtype_count + 1)];
  const int column = signature.mixed ? dtype_count : dtype_index(signature.compute);
  CachedKernel& entry = entries[static_cast<int>(signature.op) * (dtype_count + 1) + column];
  if (!entry.is_known.load(std::memory_order_acquire)) {
    static auto& mutex = *new Mutex;
    const CpuLoops found = find_cpu_kernel(signature);
    const std::lock_guard lock(mutex);
    entry.kernel = found;
    entry.is_known.store(true, std::memory_order_release);
  }
  return entry.kernel;
}

void compute_on_cpu(const OpSignature& signature, std::span<const Operand> operands,
                    const Array& result, const Array* where) {
  if (has_number_first(signature, operands)) {
    if (const std::optional<OpId> other = swapped_op(signature.op)) {
      OpSignature swapped = signature;
      swapped.op = *other;
      const Operand both[] = {operands[1], operands[0]};
      return compute_on_cpu(swapped, both, result, where);
    }
  }
  std::array<std::optional<Scalar>, max_inputs> numbers;
  std::array<strided::CpuOperand, max_inputs + 2> arrays;
  std::size_t count = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& operand = operands[i];
    const DType wanted = loop_compute(signature, signature.operand(static_cast<int>(i)));
    if (operand.array != nullptr) {
      arrays[count++] = {*operand.array, wanted, strided::ArrayRole::read};
      continue;
    }
    const Scalar& number = numbers[i].emplace(operand.scalar.cast(wanted));
    strided::CpuOperand& constant = arrays[count++];
    constant.layout = &no_axes;
    constant.data = static_cast<std::byte*>(const_cast<void*>(number.data()));
    constant.dtype = constant.compute = wanted;
  }
  arrays[count++] = {result, loop_compute(signature, signature.result), strided::ArrayRole::write};
  if (where != nullptr) arrays[count++] = {*where, bool_, strided::ArrayRole::mask};
  strided::run_on_cpu(result.shape(), std::span(arrays.data(), count), cpu_kernel_for(signature));
}

}  // namespace spanwise::ops
