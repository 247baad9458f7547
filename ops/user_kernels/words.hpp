// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// C++ text seen as words, as far as that tells what a user's expression does with its arguments.
namespace spanwise::ops::user_kernels {

/// A name, a number, a literal or a sign such as "+="; comments and spaces are none.
struct Word {
  std::string_view text;  ///< a part of the text that was given
  bool is_name = false;
};

std::vector<Word> words_in(std::string_view text);

/// Whether `name` stands in `text` as a word.
bool has_word(std::string_view text, std::string_view name);

/// What an expression does with one array that it names.
struct ArrayUses {
  bool of_element = false;  ///< x[i], the loop's own element
  bool of_others = false;   ///< x[anything else]
  bool whole = false;       ///< x without a subscript
  bool may_write = false;   ///< by assignment, or out of our sight (its address is taken)
};
ArrayUses uses_of(std::string_view text, std::string_view array);

/// Whether `text` has a variable `i` of its own, so that x[i] may mean another i.
bool declares_index(std::string_view text);

/// `text` with each array[i] written as (*sw_at_array); lines stay the lines they were.
std::string with_elements_named(std::string_view text, const std::vector<std::string>& arrays);

bool is_identifier(std::string_view text);

}  // namespace spanwise::ops::user_kernels
