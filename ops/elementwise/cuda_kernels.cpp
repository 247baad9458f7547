// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_kernels.hpp"

#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

namespace spanwise::ops {
namespace {

/// All that a KernelShape says, and the device, in one word.
std::uint64_t key_of(const KernelShape& shape, Device device) {
  std::uint64_t key = static_cast<std::uint64_t>(shape.signature.op);
  const auto add = [&](std::uint64_t value, int bits) { key = key << bits | value; };
  add(static_cast<std::uint64_t>(place_of(shape.signature.compute)), 4);
  add(shape.signature.mixed, 1);
  for (int i = 0; i < max_inputs; ++i) {
    const auto index = static_cast<std::size_t>(i);
    const bool is_there = i < shape.inputs;
    add(is_there ? static_cast<std::uint64_t>(place_of(shape.operands[index])) : 0, 4);
    add(is_there && shape.is_number[index], 1);
  }
  add(static_cast<std::uint64_t>(place_of(shape.result)), 4);
  add(shape.has_mask, 1);
  add(shape.checks_exponent, 1);
  add(static_cast<std::uint64_t>(shape.kind), 2);
  for (const bool stays : shape.stays) add(stays, 1);
  add(static_cast<std::uint64_t>(shape.width), 5);
  add(static_cast<std::uint64_t>(shape.rank), 7);
  add(shape.is_large, 1);
  add(static_cast<std::uint64_t>(device.ordinal()), 8);
  return key;
}

}  // namespace

// Never destroyed: arrays may outlive static objects.
const Function& cuda_kernel_for(const KernelShape& shape, Device device) {
  static auto& mutex = *new std::shared_mutex;
  static auto& known = *new std::unordered_map<std::uint64_t, Function>;
  // A loop of a program asks for the same kernel again.
  thread_local std::pair<std::uint64_t, const Function*> last{0, nullptr};
  const std::uint64_t key = key_of(shape, device);
  if (last.first == key && last.second != nullptr) return *last.second;
  {
    const std::shared_lock lock(mutex);
    if (const auto found = known.find(key); found != known.end())
      return *(last = {key, &found->second}).second;
  }
  ModuleOptions options;
  options.device = device;
  // As on the host, products are rounded before they are added.
  options.options = {"--fmad=false"};
  const Function made = SourceModule(cuda_source(shape), options).get_function("run");
  const std::unique_lock lock(mutex);
  return known.emplace(key, made).first->second;
}

Scalar kernel_number(const Signature& signature, const Operand& operand, int index) {
  const DType wanted = signature.operand(index);
  const Scalar number = operand.scalar.cast(wanted);
  const bool is_half = wanted == float16 || wanted == bfloat16;
  const bool is_float = is_half && (facts(signature.op).traits & native_halves) == 0;
  return is_float ? number.cast(float32) : number;
}

}  // namespace spanwise::ops
