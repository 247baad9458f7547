// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <optional>
#include <utility>

#include "core/string_utils.hpp"
#include "op_sdk/kernel_op/expression.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::op_sdk {

/// Recursive descent: sum = product {(+|-) product}, product = factor {(*|//|%) factor},
/// factor = [-] (number | name | function "(" sum "," sum ")" | "(" sum ")").
class ExpressionParser {
 public:
  using Opcode = Expression::Opcode;

  ExpressionParser(Expression& out, Names& names, const std::string& where)
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
    if (++nesting_ > Expression::max_depth) fail_here("the expression is nested too deeply");
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
    if (depth_ > Expression::max_depth) fail_here("the expression is nested too deeply");
  }

  [[noreturn]] void fail_here(const std::string& problem) {
    skip_space();
    const std::string& text = out_.text_;
    fail<ArgumentError>(where_, ": in \"", text, "\" at character ",
                        text.size() - remaining_.size() + 1, ": ", problem);
  }

  Expression& out_;
  Names& names_;
  const std::string& where_;
  std::string_view remaining_;
  int depth_ = 0, nesting_ = 0;
};

Expression Expression::parse(std::string_view text, Names& names, const std::string& where) {
  Expression expression;
  expression.text_ = text;
  ExpressionParser(expression, names, where).run();
  return expression;
}

}  // namespace spanwise::op_sdk
