// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "core/string_utils.hpp"
#include "parse/declarations.hpp"
#include "parse/source_scan.hpp"

namespace spanwise::parse {

// Determines kind and names of one declaration. An object serves one call of is_function() or
// read().
class DeclarationReader {
 public:
  DeclarationReader(const std::vector<Token>& tokens, std::size_t begin, std::size_t end)
      : tokens_(tokens), begin_(begin), end_(end) {}

  // Whether the '{' at `end` begins the body of a function.
  bool is_function() {
    read_head();
    const std::string_view last = last_word_;
    if (has_equals_ || !has_parentheses_) return false;
    return !is_type_ || is_one_of(last, {")", "const", "noexcept", "override", "&"});
  }

  Declaration read(bool has_function_body) {
    read_head();
    Declaration result;
    result.begin = begin_;
    result.end = end_;
    result.head_end = head_end_;
    if (is_operator_ && has_function_body) result.kind = Declaration::Kind::function;
    if (is_operator_ || declares_no_name_) return result;
    result.names = std::move(function_names_);
    if (has_function_body) {
      result.kind = Declaration::Kind::function;
    } else if (is_type_ && !has_parentheses_) {
      result.kind = Declaration::Kind::type;
      result.names.insert(result.names.end(), type_names_.begin(), type_names_.end());
      read_declarators(result.names);
    } else if (name_count_ < 2 && !is_typedef_) {
      result.names.clear();  // the names that "MACRO(arguments);" and "MACRO;" declare are unknown
    } else if (has_parentheses_ && !has_equals_ && !is_typedef_) {
      result.kind = Declaration::Kind::prototype;
    } else {
      result.kind = Declaration::Kind::variable;
      read_declarators(result.names);
    }
    return result;
  }

 private:
  std::string_view text_at(std::size_t i) const {
    return i < tokens_.size() ? tokens_[i].text : std::string_view{};
  }
  bool is_name(std::size_t i) const { return tokens_[i].kind == Token::Kind::identifier; }

  // Reads up to a '{', a '=' or the end.
  void read_head() {
    std::size_t i = begin_;
    while (i < end_ && !ends_head(i)) i = read_token(i);
    head_end_ = i;
  }

  // Whether token i begins a body, member initialisers or an initialiser.
  bool ends_head(std::size_t i) {
    const std::string_view text = text_at(i);
    if (text == "=" && !is_operator_) has_equals_ = true;
    return has_equals_ || text == "{" || (text == ":" && has_parentheses_);
  }

  // Whether token i begins template parameters or an attribute, which may contain names that the
  // declaration does not declare. `open` becomes the index of their bracket.
  bool begins_ignored_part(std::size_t i, std::size_t& open) const {
    open = text_at(i) == "[" ? i : i + 1;
    return (text_at(i) == "template" && text_at(open) == "<") ||
           (is_attribute_word(text_at(i)) && text_at(open) == "(") ||
           (text_at(i) == "[" && text_at(i + 1) == "[");
  }

  // Reads token i, with the brackets that it begins; returns the index after it.
  std::size_t read_token(std::size_t i) {
    const std::string_view text = text_at(i);
    if (tokens_[i].kind == Token::Kind::directive) return i + 1;
    last_word_ = text;
    if (std::size_t open = 0; begins_ignored_part(i, open)) return skip_balanced(tokens_, open);
    if (text == "(") return read_parentheses(i);
    if (text == "<" && (is_type_ || (i > begin_ && is_name(i - 1)))) {
      const std::size_t end = skip_balanced(tokens_, i);
      if (text_at(end) == "(") function_names_.push_back(text_at(i - 1));  // name<float>(...)
      return end;
    }
    if (text == ":") is_in_bases_ = true;
    if (is_name(i)) read_word(text, text_at(i + 1));
    return i + 1;
  }

  void read_word(std::string_view word, std::string_view next) {
    if (is_one_of(word, {"struct", "class", "union", "enum"})) {
      is_type_ = true;
      is_enum_ |= word == "enum";
    } else if (word == "operator") {
      is_operator_ = true;
    } else if (word == "typedef") {
      is_typedef_ = true;
    } else {
      ++name_count_;
      if (is_one_of(word, {"using", "namespace", "static_assert"}))
        declares_no_name_ = word != "using" || next == "namespace";
      else if (is_type_ && !is_in_bases_)
        type_names_.push_back(word);
    }
  }

  std::size_t read_parentheses(std::size_t open) {
    has_parentheses_ = true;
    last_word_ = ")";
    if (open > begin_ && is_name(open - 1)) function_names_.push_back(text_at(open - 1));
    const std::size_t end = std::min(skip_balanced(tokens_, open), end_);
    // A pointer to a function, or the name of a typedef in parentheses.
    if (text_at(open + 1) == "*" || is_typedef_)
      for (std::size_t i = open; i < end; ++i)
        if (is_name(i)) function_names_.push_back(text_at(i));
    return end;
  }

  // Adds the names, outside of braces and parentheses, whose next token ends a declarator or begins
  // its extents or initialiser; of an enum, all names in its braces.
  void read_declarators(std::vector<std::string_view>& names) {
    for (std::size_t i = begin_; i < end_; ++i) {
      if (text_at(i) == "{") {
        const std::size_t end = std::min(skip_balanced(tokens_, i), end_);
        for (std::size_t k = i; is_enum_ && k < end; ++k)
          if (is_name(k)) names.push_back(text_at(k));
        i = end - 1;
      } else if (text_at(i) == "(") {
        i = skip_balanced(tokens_, i) - 1;
      } else if (is_name(i) && is_one_of(text_at(i + 1), {";", ",", "=", "[", "{", ":", "("})) {
        names.push_back(text_at(i));
      }
    }
  }

  const std::vector<Token>& tokens_;
  std::size_t begin_, end_, head_end_ = 0;
  bool has_equals_ = false, has_parentheses_ = false, is_type_ = false, is_enum_ = false,
       is_operator_ = false, is_typedef_ = false, is_in_bases_ = false, declares_no_name_ = false;
  int name_count_ = 0;          // identifiers of the head, without the keywords of read_word()
  std::string_view last_word_;  // of the head
  std::vector<std::string_view> function_names_, type_names_;
};

}  // namespace spanwise::parse
