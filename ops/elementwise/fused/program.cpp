// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <string_view>
#include <utility>

#include "spanwise/core/error.hpp"

namespace spanwise::ops {
namespace {

std::string_view infix(OpId op) {
  static constexpr std::pair<OpId, std::string_view> operators[] = {
      {OpId::add, " + "}, {OpId::subtract, " - "}, {OpId::multiply, " * "}, {OpId::divide, " / "}};
  for (const auto& [id, symbol] : operators)
    if (id == op) return symbol;
  return {};
}

/// Writes ElementProgram::text().
class ProgramText {
 public:
  explicit ProgramText(const ElementProgram& program)
      : program_(program), uses_(static_cast<std::size_t>(program.value_count())) {
    for (const ProgramStep& step : program.steps)
      for (const int value : program.arguments(step)) ++uses_[static_cast<std::size_t>(value)];
    for (const int value : program.outputs) ++uses_[static_cast<std::size_t>(value)];
  }

  std::string write() const {
    std::string text;
    const auto add = [&](const std::string& statement) {
      text += (text.empty() ? "" : "; ") + statement;
    };
    for (int value = inputs(); value < program_.value_count(); ++value)
      if (is_named(value)) add(name(value) + " = " + expression(value));
    for (const int value : program_.outputs) add(is_named(value) ? name(value) : expression(value));
    return text;
  }

 private:
  int inputs() const { return static_cast<int>(program_.inputs.size()); }
  // A value that is used more than once gets a name, so that its expression is written once.
  bool is_named(int value) const { return uses_[static_cast<std::size_t>(value)] > 1; }
  std::string name(int value) const {
    return value < inputs() ? text('i', value) : text('t', value - inputs());
  }

  std::string operand(int value) const {
    if (value < inputs() || is_named(value)) return name(value);
    return expression(value);
  }
  const ProgramStep& step(int value) const {
    return program_.steps[static_cast<std::size_t>(value - inputs())];
  }

  std::string expression(int value) const {
    const OpSignature& signature = step(value).signature;
    const auto arguments = program_.arguments(step(value));
    if (const UserBody& body = step(value).body) {
      const bool has_one_output = body.element_body->outputs.size() == 1;
      return text(body.element_body->op, has_one_output ? "" : text(".", body.output),
                  argument_list(arguments));
    }
    if (const std::string_view symbol = infix(signature.op); !symbol.empty())
      return text('(', operand(arguments[0]), symbol, operand(arguments[1]), ')');
    if (signature.op == OpId::negative) return text("(-", operand(arguments[0]), ')');
    if (is_cast(signature)) return text("cast{", signature.result, "}", argument_list(arguments));
    return traits_of(signature.op).name + argument_list(arguments);
  }

  std::string argument_list(std::span<const int> arguments) const {
    std::string list;
    for (const int argument : arguments) list += (list.empty() ? "(" : ", ") + operand(argument);
    return list + ")";
  }

  const ElementProgram& program_;
  std::vector<int> uses_;  // of each value, as an argument or as an output
};

}  // namespace

std::string ElementProgram::text() const { return ProgramText(*this).write(); }

std::size_t ElementProgram::hash() const noexcept {
  std::size_t hash = inputs.size();
  const auto add = [&](std::size_t value) { hash = hash * 1099511628211u ^ value; };
  for (const ProgramStep& step : steps) {
    add(static_cast<std::size_t>(step.signature.op));
    for (const int argument : arguments(step)) add(static_cast<std::size_t>(argument));
  }
  for (const int output : outputs) add(static_cast<std::size_t>(output));
  return hash;
}

}  // namespace spanwise::ops
