// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spanwise::op_sdk {

/// The names that expressions of one declaration use, each with a number.
class Names {
 public:
  /// The number of `name`, a new one where it is new.
  int add(std::string_view name);
  /// -1 where there is no such name.
  int find(std::string_view name) const noexcept;
  const std::string& operator[](int number) const {
    return names_[static_cast<std::size_t>(number)];
  }
  int size() const noexcept { return static_cast<int>(names_.size()); }
  /// "h, w, k", for messages.
  std::string list() const;

 private:
  std::vector<std::string> names_;
};

/// An integer expression over names: + - * // % with Python's meaning, ( ), min(), max(), cdiv().
/// Read once, evaluated at each call without allocating.
class Expression {
 public:
  /// Adds the names that it meets to `names`. Throws ArgumentError quoting `text` and the place;
  /// `where` begins the message.
  static Expression parse(std::string_view text, Names& names, const std::string& where);

  const std::string& text() const noexcept { return text_; }
  /// The names' numbers, in order of mention, each once.
  const std::vector<int>& names() const noexcept { return used_; }
  /// The number of the name that this is and nothing else, or -1.
  int lone_name() const noexcept;
  /// `values[i]` stands for name i. Throws ArgumentError for a division by zero and on overflow.
  std::int64_t evaluate(std::span<const std::int64_t> values) const;

 private:
  friend class ExpressionParser;
  enum class Code : std::uint8_t {
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
  struct Instruction {
    Code code;
    std::int64_t operand;
  };
  static constexpr int max_depth = 32;

  std::int64_t combine(Code code, std::int64_t a, std::int64_t b) const;

  std::string text_;
  std::vector<Instruction> program_;  // operands before operators
  std::vector<int> used_;
};

}  // namespace spanwise::op_sdk
