// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "core/words.hpp"
#include "source/declarations.hpp"
#include "source/source_scan.hpp"

namespace spanwise::source {

// Determines kind and names of one declaration.
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
    Declaration found;
    found.begin = begin_;
    found.end = end_;
    found.head_end = head_end_;
    if (is_operator_ && has_function_body) found.kind = Declaration::Kind::function;
    if (is_operator_ || is_kept_) return found;
    found.names = std::move(called_);
    if (has_function_body) {
      found.kind = Declaration::Kind::function;
    } else if (is_type_ && !has_parentheses_) {
      found.kind = Declaration::Kind::type;
      found.names.insert(found.names.end(), type_names_.begin(), type_names_.end());
      read_declarators(found.names);
    } else if (words_ < 2 && !is_typedef_) {
      found.names.clear();  // "MACRO(arguments);" and "MACRO;" declare names that are not seen here
    } else if (has_parentheses_ && !has_equals_ && !is_typedef_) {
      found.kind = Declaration::Kind::prototype;
    } else {
      found.kind = Declaration::Kind::variable;
      read_declarators(found.names);
    }
    return found;
  }

 private:
  std::string_view at(std::size_t i) const {
    return i < tokens_.size() ? tokens_[i].text : std::string_view{};
  }
  bool is_name(std::size_t i) const { return tokens_[i].kind == Token::Kind::identifier; }

  // Reads up to a '{', a '=' or the end.
  void read_head() {
    bool in_bases = false;
    std::size_t i = begin_;
    for (; i < end_; ++i) {
      const std::string_view text = at(i);
      if (tokens_[i].kind == Token::Kind::directive) continue;
      if (text == "{" || (text == ":" && has_parentheses_)) break;  // body or member initialisers
      if (text == "=" && !is_operator_) {
        has_equals_ = true;
        break;
      }
      if (text == "template" && at(i + 1) == "<") {
        i = skip_balanced(tokens_, i + 1) - 1;
      } else if (is_attribute_word(text) && at(i + 1) == "(") {
        i = skip_balanced(tokens_, i + 1) - 1;
      } else if (text == "[" && at(i + 1) == "[") {
        i = skip_balanced(tokens_, i) - 1;
      } else if (is_one_of(text, {"struct", "class", "union", "enum"})) {
        is_type_ = true;
        is_enum_ |= text == "enum";
      } else if (text == "operator") {
        is_operator_ = true;
      } else if (text == "typedef") {
        is_typedef_ = true;
      } else if (text == "using" || text == "namespace" || text == "static_assert") {
        ++words_;
        is_kept_ = text != "using" || at(i + 1) == "namespace";
      } else if (text == ":") {
        in_bases = true;
      } else if (text == "<" && (is_type_ || (i > begin_ && is_name(i - 1)))) {
        const std::size_t end = skip_balanced(tokens_, i);
        if (at(end) == "(") called_.push_back(at(i - 1));  // name<float>(...)
        i = end - 1;
      } else if (text == "(") {
        has_parentheses_ = true;
        if (i > begin_ && is_name(i - 1)) called_.push_back(at(i - 1));
        const std::size_t end = std::min(skip_balanced(tokens_, i), end_);
        // A pointer to a function, or the name of a typedef in parentheses.
        if (at(i + 1) == "*" || is_typedef_)
          for (std::size_t k = i; k < end; ++k)
            if (is_name(k)) called_.push_back(at(k));
        i = end - 1;
        last_word_ = ")";
        continue;
      } else if (is_name(i)) {
        ++words_;
        if (is_type_ && !in_bases) type_names_.push_back(text);
      }
      last_word_ = text;
    }
    head_end_ = i;
  }

  // The names that are followed by the end of a declarator, outside of braces and parentheses; all
  // names of an enum's braces.
  void read_declarators(std::vector<std::string_view>& names) {
    for (std::size_t i = begin_; i < end_; ++i) {
      if (at(i) == "{") {
        const std::size_t end = std::min(skip_balanced(tokens_, i), end_);
        for (std::size_t k = i; is_enum_ && k < end; ++k)
          if (is_name(k)) names.push_back(at(k));
        i = end - 1;
      } else if (at(i) == "(") {
        i = skip_balanced(tokens_, i) - 1;
      } else if (is_name(i) && is_one_of(at(i + 1), {";", ",", "=", "[", "{", ":", "("})) {
        names.push_back(at(i));
      }
    }
  }

  const std::vector<Token>& tokens_;
  std::size_t begin_, end_, head_end_ = 0;
  bool has_equals_ = false, has_parentheses_ = false, is_type_ = false, is_enum_ = false,
       is_operator_ = false, is_typedef_ = false, is_kept_ = false;
  int words_ = 0;
  std::string_view last_word_;
  std::vector<std::string_view> called_, type_names_;
};

}  // namespace spanwise::source
