// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "parse/kernel_source.hpp"
#include "spanwise/parse/token.hpp"

namespace spanwise::parse {

/// Type aliases of the source: typedef, using, object-like macros. Only those that hold in every
/// compilation: not inside #if, and not redefined differently.
class TypeAliases {
 public:
  /// `words`: the tokens that the name stands for. A second definition that differs makes the name
  /// ambiguous.
  void add(std::string_view name, std::vector<std::string_view> words);
  /// Null where the name is unknown, ambiguous or stands for no tokens.
  const std::vector<std::string_view>* find(std::string_view name) const;

 private:
  std::map<std::string_view, std::vector<std::string_view>> words_;
};

/// Adds "typedef T name" and "using name = T" (without the semicolon) to `aliases`; ignores other
/// declarations, and any that contains "(", "[", "{" or a comma.
void read_alias(std::span<const Token> declaration, TypeAliases& aliases);

/// Parses one parameter, "const float *__restrict__ x". Expands `aliases` for dtype, is_pointer and
/// is_const, not in `type`.
SourceParameter read_parameter(std::span<const Token> tokens, const TypeAliases& aliases);

}  // namespace spanwise::parse
