// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "op_sdk/kernel_op/expression.hpp"

#include <algorithm>

#include "spanwise/core/error.hpp"

namespace spanwise::op_sdk {
namespace {

// Rounds towards minus infinity, as Python's //.
std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return a % b != 0 && (a < 0) == (b < 0) ? quotient + 1 : quotient;
}

}  // namespace

int Names::add(std::string_view name) {
  const int index = find(name);
  if (index >= 0) return index;
  names_.emplace_back(name);
  return size() - 1;
}

int Names::find(std::string_view name) const noexcept {
  const auto entry = std::ranges::find(names_, name);
  return entry == names_.end() ? -1 : static_cast<int>(entry - names_.begin());
}

int Expression::lone_name() const noexcept {
  const bool is_lone = program_.size() == 1 && program_[0].code == Opcode::name;
  return is_lone ? static_cast<int>(program_[0].operand) : -1;
}

// NOLINTBEGIN(clang-analyzer-core.*): the parser writes programs that leave one value on the stack
std::int64_t Expression::evaluate(std::span<const std::int64_t> values) const {
  std::int64_t stack[max_depth];
  int depth = 0;
  for (const StackInstruction& step : program_) {
    switch (step.code) {
      case Opcode::number:
        stack[depth++] = step.operand;
        break;
      case Opcode::name:
        stack[depth++] = values[static_cast<std::size_t>(step.operand)];
        break;
      case Opcode::negate:
        stack[depth - 1] = combine(Opcode::subtract, 0, stack[depth - 1]);
        break;
      default:
        --depth;
        stack[depth - 1] = combine(step.code, stack[depth - 1], stack[depth]);
    }
  }
  return stack[0];
}
// NOLINTEND(clang-analyzer-core.*)

std::int64_t Expression::combine(Opcode code, std::int64_t a, std::int64_t b) const {
  std::int64_t result = 0;
  bool overflows = false;
  switch (code) {
    case Opcode::add:
      overflows = __builtin_add_overflow(a, b, &result);
      break;
    case Opcode::subtract:
      overflows = __builtin_sub_overflow(a, b, &result);
      break;
    case Opcode::multiply:
      overflows = __builtin_mul_overflow(a, b, &result);
      break;
    case Opcode::minimum:
      return std::min(a, b);
    case Opcode::maximum:
      return std::max(a, b);
    default:
      if (b == 0) fail<ArgumentError>("\"", text_, "\" divides by zero");
      overflows = b == -1 && a == INT64_MIN;
      if (overflows) break;
      if (code == Opcode::divide) return floor_divide(a, b);
      if (code == Opcode::ceil_divide) return ceil_divide(a, b);
      return a - floor_divide(a, b) * b;
  }
  if (overflows) fail<ArgumentError>("\"", text_, "\" does not fit in 64 bits");
  return result;
}

}  // namespace spanwise::op_sdk
