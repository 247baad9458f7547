// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <mutex>
#include <optional>

#include "../compute.hpp"
#include "cpu_loops.hpp"
#include "spanwise/core/fork.hpp"

namespace spanwise::ops {
namespace {

const Layout no_axes{};

// Whether only the first operand is a number: loops with a number take it as the second one.
bool has_number_first(const OpSignature& signature, std::span<const Operand> operands) {
  const auto is_number = [](const Operand& operand) {
    return operand.array == nullptr || operand.array->size() == 1;
  };
  return operands.size() == 2 && !signature.mixed && is_number(operands[0]) &&
         !is_number(operands[1]);
}

}  // namespace

const CpuLoops& cpu_loops_for(const OpSignature& signature) {
  struct CachedLoops {
    std::atomic<bool> is_set{false};
    CpuLoops loops;
  };
  static CachedLoops* const entries = new CachedLoops[op_count * (dtype_count + 1)];
  const int column = signature.mixed ? dtype_count : dtype_index(signature.compute);
  CachedLoops& entry = entries[static_cast<int>(signature.op) * (dtype_count + 1) + column];
  if (!entry.is_set.load(std::memory_order_acquire)) {
    static auto& mutex = *new Mutex;
    const CpuLoops loops = find_cpu_loops(signature);
    const std::lock_guard lock(mutex);
    entry.loops = loops;
    entry.is_set.store(true, std::memory_order_release);
  }
  return entry.loops;
}

void compute_on_cpu(const OpSignature& signature, std::span<const Operand> operands,
                    const Array& result, const Array* where) {
  if (has_number_first(signature, operands)) {
    if (const std::optional<OpId> swapped = swapped_op(signature.op)) {
      OpSignature exchanged = signature;
      exchanged.op = *swapped;
      const Operand both[] = {operands[1], operands[0]};
      return compute_on_cpu(exchanged, both, result, where);
    }
  }
  std::array<std::optional<Scalar>, max_inputs> numbers;
  std::array<strided::CpuOperand, max_inputs + 2> arrays;
  std::size_t count = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& operand = operands[i];
    const DType dtype = loop_dtype(signature, signature.operand(static_cast<int>(i)));
    if (operand.array != nullptr) {
      arrays[count++] = {*operand.array, dtype, strided::ArrayRole::read};
      continue;
    }
    const Scalar& number = numbers[i].emplace(operand.scalar.cast(dtype));
    strided::CpuOperand& constant = arrays[count++];
    constant.layout = &no_axes;
    constant.data = static_cast<std::byte*>(const_cast<void*>(number.data()));
    constant.dtype = constant.compute = dtype;
  }
  arrays[count++] = {result, loop_dtype(signature, signature.result), strided::ArrayRole::write};
  if (where != nullptr) arrays[count++] = {*where, bool_, strided::ArrayRole::mask};
  strided::run_on_cpu(result.shape(), std::span(arrays.data(), count), cpu_loops_for(signature));
}

}  // namespace spanwise::ops
