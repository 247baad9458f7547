// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "../compute.hpp"
#include "user_body.hpp"

namespace spanwise::ops {

/// One operation of a program, or one output of a user's body.
struct ProgramStep {
  OpSignature signature;  ///< not swapped: the arguments are in the order of its operands
  /// Values: input i is value i, the result of step k is value inputs + k.
  std::array<int, max_operands> arguments{};
  UserBody body{};  ///< if there is one, only the result of `signature` has a meaning

  friend bool operator==(const ProgramStep&, const ProgramStep&) = default;
};

inline constexpr int max_program_inputs = 16, max_program_outputs = 8;
inline constexpr int max_arrays = max_program_inputs + max_program_outputs;

/// Elementwise operations in single static assignment form. Each result has the dtype and the
/// rounding that the operation has by itself, so a program gives the values that its operations
/// give one after the other.
struct ElementProgram {
  std::vector<DType> inputs;  ///< their dtypes
  std::vector<ProgramStep> steps;
  std::vector<int> outputs;  ///< the values of steps that the program returns

  int value_count() const noexcept { return static_cast<int>(inputs.size() + steps.size()); }
  DType dtype(int value) const noexcept {
    const auto index = static_cast<std::size_t>(value);
    return index < inputs.size() ? inputs[index] : steps[index - inputs.size()].signature.result;
  }
  /// The operands of a step.
  std::span<const int> arguments(const ProgramStep& step) const noexcept {
    const std::size_t operands = static_cast<std::size_t>(traits_of(step.signature.op).inputs);
    return {step.arguments.data(), step.body ? step.body.element_body->inputs.size() : operands};
  }
  /// "t0 = (i0 * i1); exp((t0 + i2))": first the values that are used more than once, named t0, t1,
  /// ..., then the outputs in order.
  std::string text() const;
  std::size_t hash() const noexcept;

  friend bool operator==(const ElementProgram&, const ElementProgram&) = default;
};

/// A cast of `from` to `to`, as a step's signature.
inline OpSignature cast_signature(DType from, DType to) noexcept {
  return {.op = OpId::positive, .compute = from, .result = to};
}
/// The signature of a step with a body.
inline OpSignature body_signature(DType result) noexcept {
  return {.op = OpId::positive, .compute = result, .result = result};
}
inline bool is_cast(const OpSignature& signature) noexcept {
  return signature.op == OpId::positive && signature.compute != signature.result;
}

}  // namespace spanwise::ops
