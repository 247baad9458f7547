// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/source/kernel_source.hpp"
#include "spanwise/dtype.hpp"

namespace spanwise::runtime {

/// Names that the source gives to types: typedef, using, object-like macros. Only definitions that
/// hold for every compilation are in it, so none under a conditional and none given twice
/// otherwise.
class TypeNames {
 public:
  void add(std::string_view name, std::vector<std::string_view> words);
  /// Nullptr where the name is unknown or ambiguous.
  const std::vector<std::string_view>* find(std::string_view name) const;

 private:
  std::map<std::string_view, std::vector<std::string_view>> words_;
};

/// Reads "typedef T name" and "using name = T" (without the semicolon) into `names`; leaves others.
void read_type_name(std::span<const Token> declaration, TypeNames& names);

/// One parameter from its tokens, "const float *__restrict__ x". Follows `names` for dtype and
/// pointer-ness; `type` stays as written.
SourceParameter read_parameter(std::span<const Token> tokens, const TypeNames& names);

}  // namespace spanwise::runtime
