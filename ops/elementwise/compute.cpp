// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "compute.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/stream.hpp"
#include "spanwise/strided/walk.hpp"
#include "spanwise/core/device.hpp"

namespace spanwise::ops {

namespace {

// With arrays on a GPU, an operand of rank 0 on the host becomes a number.
Operand on_device(const OpTraits& op, const Operand& operand, Device device) {
  if (operand.array == nullptr) return operand;
  const Array& array = *operand.array;
  if (work_together(array.device(), device)) return operand;
  if (array.rank() != 0 || !runs_on_host(array.device()))
    fail<DeviceError>(op.name, ": operands are on ", array.device(), " and on ", device,
                      "; expected one device, move one of them with .to(\"", device, "\")");
  return {nullptr, item(array)};
}

void compute_after_waiting(const OpSignature& signature, std::span<const Operand> operands,
                           const Array& result, const Array* where) {
  for (const Operand& operand : operands)
    if (operand.array != nullptr) order_host_use(*operand.array, false);
  if (where != nullptr) order_host_use(*where, false);
  order_host_use(result, true);
  compute_on_cpu(signature, operands, result, where);
}

constexpr ElementwiseBackend cpu_backend{&compute_after_waiting}, cuda_backend{&compute_on_cuda};
[[maybe_unused]] const auto* const previous_cpu_backend =
    elementwise_backends.set(DeviceKind::cpu, &cpu_backend);
[[maybe_unused]] const auto* const previous_cuda_backend =
    elementwise_backends.set(DeviceKind::cuda, &cuda_backend);

bool all_on_device(std::span<const Operand> operands, Device device) noexcept {
  return std::all_of(operands.begin(), operands.end(), [&](const Operand& operand) {
    return operand.array == nullptr || operand.array->device() == device;
  });
}

}  // namespace

constinit DeviceTable<ElementwiseBackend> elementwise_backends{"elementwise"};

void compute_disjoint(const OpSignature& signature, std::span<const Operand> operands,
                      const Array& result, const Array* where) {
  if (result.size() == 0) return;
  const ElementwiseBackend& backend = elementwise_backends[result.device()];
  if (!signature.swapped && all_on_device(operands, result.device()))
    return backend.compute(signature, operands, result, where);
  std::array<Operand, max_inputs> converted;
  for (std::size_t i = 0; i < operands.size(); ++i)
    converted[i] = on_device(traits_of(signature.op), operands[i], result.device());
  if (signature.swapped) std::swap(converted[0], converted[1]);
  backend.compute(signature, std::span(converted.data(), operands.size()), result, where);
}

void compute(const OpSignature& signature, std::span<const Operand> operands, const Array& result,
             const Array* where) {
  const char* name = traits_of(signature.op).name;
  if (result.readonly())
    fail<ReadOnlyError>(name, ": cannot write to ", result,
                        ", which is read-only; pass a writable out=");
  if (result.size() == 0) return;
  std::array<Operand, max_inputs> separate;
  std::array<std::optional<Array>, max_inputs + 1> copies;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    separate[i] = operands[i];
    if (operands[i].array != nullptr && overlaps_partially(*operands[i].array, result))
      separate[i].array = &copies[i].emplace(copy(*operands[i].array));
  }
  if (where != nullptr && may_share_memory(*where, result))
    where = &copies[max_inputs].emplace(copy(*where));
  const std::span<const Operand> all(separate.data(), operands.size());
  if (!result.layout().may_overlap_itself()) return compute_disjoint(signature, all, result, where);
  // If elements of the result share an address, copy() writes them in order.
  const Array temporary = copy(result);
  compute_disjoint(signature, all, temporary, where);
  copy(temporary, result);
}

Shape common_shape(const char* op, std::span<const Operand> operands, const Array* where) {
  std::array<const Array*, max_inputs + 1> arrays;
  std::size_t count = 0;
  for (const Operand& operand : operands)
    if (operand.array != nullptr) arrays[count++] = operand.array;
  if (where != nullptr) arrays[count++] = where;
  try {
    return broadcast_shape(std::span(arrays.data(), count));
  } catch (const LayoutError& error) {
    fail<LayoutError>(op, ": ", error.what());
  }
}

Layout layout_of_result(std::span<const Operand> operands, const Shape& shape) {
  std::array<const Layout*, max_inputs> layouts;
  std::size_t count = 0;
  for (const Operand& operand : operands)
    if (operand.array != nullptr) layouts[count++] = &operand.array->layout();
  return result_layout(shape, std::span(layouts.data(), count));
}

Array new_result(std::span<const Operand> operands, const Shape& shape, DType dtype,
                 Device device) {
  return empty_in(layout_of_result(operands, shape), dtype, device);
}

}  // namespace spanwise::ops
