// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spanwise/parse/user_code.hpp"

/// The use of arguments in a user's expression, derived from its tokens.
namespace spanwise::ops::user_kernels {

/// Whether `name` is one of the tokens of `text`.
using parse::has_token;

/// How an expression uses one array that it names.
struct ArrayUses {
  bool own_element = false;     ///< x[i], the element of the current index
  bool other_elements = false;  ///< x[any other index]
  bool as_whole = false;        ///< x without a subscript
  bool may_write = false;       ///< assigned to, or passed on in a way that permits writing
};
ArrayUses uses_of(std::string_view text, std::string_view array);

/// Whether `text` declares a variable `i`, so that x[i] may refer to another i.
bool declares_index(std::string_view text);

/// Replaces each array[i] by (*sw_at_array); line numbers are kept.
std::string replace_element_accesses(std::string_view text, const std::vector<std::string>& arrays);

}  // namespace spanwise::ops::user_kernels
