// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_kernels.hpp"

#include <unordered_map>
#include <utility>

#include "spanwise/kernels/kernel_table.hpp"

namespace spanwise::ops {
namespace {

/// A KernelShape and the device: the operation (`operation`) and the layouts (`layout`).
struct KernelKey {
  std::uint64_t operation, layout;

  bool operator==(const KernelKey&) const = default;
};
struct KernelKeyHash {
  std::size_t operator()(const KernelKey& key) const noexcept {
    return static_cast<std::size_t>(key.operation * 0x9e3779b97f4a7c15 ^ key.layout);
  }
};

KernelKey key_of(const KernelShape& shape, Device device) {
  KernelKey key{static_cast<std::uint64_t>(shape.signature.op), 0};
  const auto add = [](std::uint64_t& word, auto value, int bits) {
    word = word << bits | static_cast<std::uint64_t>(value);
  };
  add(key.operation, dtype_index(shape.signature.compute), 4);
  add(key.operation, shape.signature.mixed, 1);
  for (int i = 0; i < max_inputs; ++i) {
    const auto index = static_cast<std::size_t>(i);
    const bool is_used = i < shape.inputs;
    add(key.operation, is_used ? dtype_index(shape.operands[index]) : 0, 4);
    add(key.operation, is_used && shape.is_number[index], 1);
  }
  add(key.operation, dtype_index(shape.result), 4);
  add(key.operation, shape.has_mask, 1);
  add(key.operation, shape.checks_exponent, 1);
  add(key.operation, device.ordinal(), 8);
  for (const AccessPattern pattern : shape.patterns) add(key.layout, pattern, 3);
  add(key.layout, shape.kind, 2);
  add(key.layout, shape.width, 5);
  add(key.layout, shape.rank, 7);
  add(key.layout, shape.is_large, 1);
  add(key.layout, shape.has_tail, 1);
  add(key.layout, shape.side_s, 8);
  add(key.layout, shape.side_t, 8);
  return key;
}

}  // namespace

const Kernel& cuda_kernel_for(const KernelShape& shape, Device device) {
  static auto& known = *new KernelTable<std::unordered_map<KernelKey, Kernel, KernelKeyHash>>;
  // Loops of programs use the same kernel repeatedly.
  thread_local std::pair<KernelKey, const Kernel*> last{{}, nullptr};
  const KernelKey key = key_of(shape, device);
  if (last.first == key && last.second != nullptr) return *last.second;
  const Kernel& function = known.get(key, [&] {
    ModuleOptions options;
    options.device = device;
    // As on the host, products are rounded before they are added.
    options.options = {"--fmad=false"};
    return SourceModule(cuda_source(shape), options).get_function("run");
  });
  last = {key, &function};
  return function;
}

KernelShape shape_of(const Signature& signature, std::span<const Operand> operands,
                     const Array& result) {
  KernelShape shape{};
  shape.signature = signature;
  shape.inputs = static_cast<int>(operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    shape.operands[i] = operands[i].dtype();
    shape.is_number[i] = operands[i].array == nullptr;
  }
  shape.result = result.dtype();
  shape.kind = KernelShape::Kind::dense;
  return shape;
}

bool has_integer_exponents(const Signature& signature) noexcept {
  return signature.op == OpId::power && signature.operand(1).code() == DTypeCode::int_;
}

Scalar kernel_number(const Signature& signature, const Operand& operand, int index) {
  const DType wanted = signature.operand(index);
  const Scalar number = operand.scalar.cast(wanted);
  const bool is_half = wanted == float16 || wanted == bfloat16;
  const bool is_float = is_half && (facts(signature.op).traits & native_halves) == 0;
  return is_float ? number.cast(float32) : number;
}

}  // namespace spanwise::ops
