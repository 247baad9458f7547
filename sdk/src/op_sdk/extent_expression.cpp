// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "op_sdk/extent_expression.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <optional>
#include <utility>

#include "core/string_utils.hpp"
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

int ExtentExpression::lone_name() const noexcept {
  const bool is_lone = program_.size() == 1 && program_[0].code == Opcode::name;
  return is_lone ? static_cast<int>(program_[0].operand) : -1;
}

// NOLINTBEGIN(clang-analyzer-core.*): the parser writes programs that leave one value on the stack
std::int64_t ExtentExpression::evaluate(std::span<const std::int64_t> values) const {
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

std::int64_t ExtentExpression::combine(Opcode code, std::int64_t a, std::int64_t b) const {
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

/// Recursive descent: sum = product {(+|-) product}, product = factor {(*|//|%) factor},
/// factor = [-] (number | name | function "(" sum "," sum ")" | "(" sum ")").
class ExpressionParser {
 public:
  using Opcode = ExtentExpression::Opcode;

  ExpressionParser(ExtentExpression& out, Names& names, const std::string& where)
      : out_(out), names_(names), where_(where), remaining_(out.text_) {}

  void run() {
    sum();
    skip_space();
    if (!remaining_.empty()) fail_here("expected an operator or the end");
  }

 private:
  void sum() {
    product();
    while (const std::optional<Opcode> code =
               take_operator({{"+", Opcode::add}, {"-", Opcode::subtract}})) {
      product();
      emit(*code);
    }
  }

  void product() {
    factor();
    while (const std::optional<Opcode> code = take_operator(
               {{"*", Opcode::multiply}, {"//", Opcode::divide}, {"%", Opcode::modulo}})) {
      factor();
      emit(*code);
    }
    if (peek() == '/') fail_here("\"/\" does not give an integer; write \"//\"");
  }

  void factor() {
    if (++nesting_ > ExtentExpression::max_depth) fail_here("the expression is nested too deeply");
    const char next = peek();
    if (take("-")) {
      factor();
      emit(Opcode::negate);
    } else if (take("(")) {
      sum();
      expect(")");
    } else if (std::isdigit(static_cast<unsigned char>(next))) {
      number();
    } else if (std::isalpha(static_cast<unsigned char>(next)) || next == '_') {
      name_or_call();
    } else {
      fail_here("expected a number, a name or \"(\"");
    }
    --nesting_;
  }

  void number() {
    const auto value = take_number<std::int64_t>(remaining_);
    if (!value) fail_here("the number does not fit in 64 bits");
    emit(Opcode::number, *value);
  }

  void name_or_call() {
    const std::string_view name = word();
    if (!take("(")) {
      const int number = names_.add(name);
      auto& used = out_.used_;
      if (std::ranges::find(used, number) == used.end()) used.push_back(number);
      return emit(Opcode::name, number);
    }
    const Opcode code = function(name);
    sum();
    expect(",");
    sum();
    emit(code);
    while (code != Opcode::ceil_divide && take(",")) {
      sum();
      emit(code);
    }
    expect(")");
  }

  Opcode function(std::string_view name) {
    if (name == "min") return Opcode::minimum;
    if (name == "max") return Opcode::maximum;
    if (name == "cdiv") return Opcode::ceil_divide;
    fail_here("there is no function \"" + std::string(name) + "\"; expected min, max or cdiv");
  }

  std::string_view word() {
    std::size_t length = 0;
    while (length < remaining_.size() && is_word_character(remaining_[length])) ++length;
    const std::string_view word = remaining_.substr(0, length);
    remaining_.remove_prefix(length);
    return word;
  }

  void skip_space() {
    while (!remaining_.empty() && std::isspace(static_cast<unsigned char>(remaining_.front())))
      remaining_.remove_prefix(1);
  }
  char peek() {
    skip_space();
    return remaining_.empty() ? '\0' : remaining_.front();
  }
  bool take(std::string_view token) {
    skip_space();
    if (!remaining_.starts_with(token)) return false;
    remaining_.remove_prefix(token.size());
    return true;
  }
  std::optional<Opcode> take_operator(
      std::initializer_list<std::pair<std::string_view, Opcode>> operators) {
    for (const auto& [token, code] : operators)
      if (take(token)) return code;
    return std::nullopt;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail_here("expected \"" + std::string(token) + "\"");
  }

  void emit(Opcode code, std::int64_t operand = 0) {
    out_.program_.push_back({code, operand});
    if (code == Opcode::number || code == Opcode::name)
      ++depth_;
    else if (code != Opcode::negate)
      --depth_;
    if (depth_ > ExtentExpression::max_depth) fail_here("the expression is nested too deeply");
  }

  [[noreturn]] void fail_here(const std::string& problem) {
    skip_space();
    const std::string& text = out_.text_;
    fail<ArgumentError>(where_, ": in \"", text, "\" at character ",
                        text.size() - remaining_.size() + 1, ": ", problem);
  }

  ExtentExpression& out_;
  Names& names_;
  const std::string& where_;
  std::string_view remaining_;
  int depth_ = 0, nesting_ = 0;
};

ExtentExpression ExtentExpression::parse(std::string_view text, Names& names,
                                         const std::string& where) {
  ExtentExpression expression;
  expression.text_ = text;
  ExpressionParser(expression, names, where).run();
  return expression;
}

}  // namespace spanwise::op_sdk
