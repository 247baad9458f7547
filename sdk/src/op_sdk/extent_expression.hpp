// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spanwise::op_sdk {

/// The names used in the expressions of one declaration, numbered.
class Names {
 public:
  /// The number of `name`, which is added if it is new.
  int add(std::string_view name);
  /// -1 where there is no such name.
  int find(std::string_view name) const noexcept;
  const std::string& operator[](int number) const {
    return names_[static_cast<std::size_t>(number)];
  }
  int size() const noexcept { return static_cast<int>(names_.size()); }

 private:
  std::vector<std::string> names_;
};

/// An integer expression over names: + - * // % with Python's meaning, ( ), min(), max(), cdiv().
/// Parsed once, evaluated at each call without allocating.
class ExtentExpression {
 public:
  /// Parses `text` and adds its names to `names`. Throws ArgumentError quoting `text` and the
  /// position; `where` begins the message.
  static ExtentExpression parse(std::string_view text, Names& names, const std::string& where);

  const std::string& text() const noexcept { return text_; }
  /// The numbers of its names, each once, in order of first use.
  const std::vector<int>& names() const noexcept { return used_; }
  /// The name's number if the expression is a single name, else -1.
  int lone_name() const noexcept;
  /// Evaluates with values[i] as the value of name i. Throws ArgumentError for a division by zero
  /// and on overflow.
  std::int64_t evaluate(std::span<const std::int64_t> values) const;

 private:
  friend class ExpressionParser;
  enum class Opcode : std::uint8_t {
    number,
    name,
    add,
    subtract,
    multiply,
    divide,
    modulo,
    negate,
    minimum,
    maximum,
    ceil_divide
  };
  struct StackInstruction {
    Opcode code;
    std::int64_t operand;
  };
  static constexpr int max_depth = 32;

  std::int64_t combine(Opcode code, std::int64_t a, std::int64_t b) const;

  std::string text_;
  std::vector<StackInstruction> program_;  // in postfix order
  std::vector<int> used_;
};

}  // namespace spanwise::op_sdk
