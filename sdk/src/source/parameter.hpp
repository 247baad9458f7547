// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "source/kernel_source.hpp"
#include "spanwise/source/token.hpp"

namespace spanwise::source {

/// Type aliases of the source: typedef, using, object-like macros. Only those that hold in every
/// compilation: not inside #if, and not redefined differently.
class TypeNames {
 public:
  void add(std::string_view name, std::vector<std::string_view> words);
  /// Null where the name is unknown or ambiguous.
  const std::vector<std::string_view>* find(std::string_view name) const;

 private:
  std::map<std::string_view, std::vector<std::string_view>> words_;
};

/// Adds "typedef T name" and "using name = T" (without the semicolon) to `names`; ignores other
/// declarations.
void read_type_name(std::span<const Token> declaration, TypeNames& names);

/// Parses one parameter, "const float *__restrict__ x". Resolves aliases in `names` for dtype and
/// is_pointer; `type` stays as written.
SourceParameter read_parameter(std::span<const Token> tokens, const TypeNames& names);

}  // namespace spanwise::source
