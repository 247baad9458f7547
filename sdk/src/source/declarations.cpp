// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "source/declarations.hpp"

#include <algorithm>
#include <initializer_list>

#include "source/source_scan.hpp"

namespace spanwise::source {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);
using Kind = Declaration::Kind;

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Determines kind and names of one declaration.
class Reader {
 public:
  Reader(const std::vector<Token>& tokens, std::size_t begin, std::size_t end)
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
    if (is_operator_ && has_function_body) found.kind = Kind::function;
    if (is_operator_ || is_kept_) return found;
    found.names = std::move(called_);
    if (has_function_body) {
      found.kind = Kind::function;
    } else if (is_type_ && !has_parentheses_) {
      found.kind = Kind::type;
      found.names.insert(found.names.end(), type_names_.begin(), type_names_.end());
      read_declarators(found.names);
    } else if (has_parentheses_ && !has_equals_ && !is_typedef_) {
      // "MACRO(arguments);" declares names that are not visible here.
      if (words_ < 2) return found.names.clear(), found;
      found.kind = Kind::prototype;
    } else {
      found.kind = Kind::variable;
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

class Splitter {
 public:
  explicit Splitter(const std::vector<Token>& tokens) : tokens_(tokens) {}

  std::vector<Declaration> run() {
    for (index_ = 0; index_ < tokens_.size(); ++index_) step();
    return std::move(found_);
  }

 private:
  struct State {
    std::size_t begin = none;  // of the current declaration
    int braces = 0, parentheses = 0;
    bool is_function = false;  // the braces are a body, which ends the declaration
    int namespaces = 0;
  };

  std::string_view at(std::size_t i) const {
    return i < tokens_.size() ? tokens_[i].text : std::string_view{};
  }

  void step() {
    const std::string_view text = at(index_);
    if (tokens_[index_].kind == Token::Kind::directive) return directive(text);
    const bool outside = state_.braces == 0 && state_.parentheses == 0;
    if (outside && text == "}") {  // of a namespace
      state_.namespaces -= state_.namespaces > 0 ? 1 : 0;
      state_.begin = none;
      return;
    }
    if (state_.begin == none) {
      if (text == ";") return;
      state_.begin = index_;
    }
    if (outside && text == "template" && at(index_ + 1) == "<") {
      index_ = skip_balanced(tokens_, index_ + 1) - 1;
    } else if (state_.braces == 0 && text == "(") {
      ++state_.parentheses;
    } else if (state_.braces == 0 && text == ")") {
      state_.parentheses -= state_.parentheses > 0 ? 1 : 0;
    } else if (state_.parentheses > 0) {
      return;
    } else if (text == "{") {
      open();
    } else if (text == "}") {
      const bool goes_on = at(index_ + 1) == "," || at(index_ + 1) == "{" || at(index_ + 1) == "catch";
      if (--state_.braces == 0 && state_.is_function && !goes_on) finish();
    } else if (text == ";" && state_.braces == 0) {
      finish();
    }
  }

  void open() {
    if (state_.braces++ > 0) return;
    std::size_t first = state_.begin;
    if (at(first) == "inline") ++first;
    const bool is_linkage = at(first) == "extern" && first + 2 == index_ &&
                            tokens_[first + 1].kind == Token::Kind::string;
    if (at(first) == "namespace" || is_linkage) {
      state_.braces = 0;
      ++state_.namespaces;
      state_.begin = none;
      return;
    }
    state_.is_function = Reader(tokens_, state_.begin, index_).is_function();
  }

  void finish() {
    found_.push_back(Reader(tokens_, state_.begin, index_ + 1).read(state_.is_function));
    state_.begin = none;
    state_.is_function = false;
  }

  void directive(std::string_view text) {
    const std::vector<Token> words = lex(text.substr(1));
    const std::string_view word = words.empty() ? std::string_view{} : words[0].text;
    if (word == "if" && words.size() == 2 && words[1].text == "0") {
      conditionals_.push_back(state_);
      skip_dead_branch();
    } else if (word == "if" || word == "ifdef" || word == "ifndef") {
      conditionals_.push_back(state_);
    } else if ((word == "else" || word.starts_with("elif")) && !conditionals_.empty()) {
      next_branch(conditionals_.back());
    } else if (word == "endif" && !conditionals_.empty()) {
      conditionals_.pop_back();
    }
  }

  // Returns to the state at the #if. Declarations that a branch divides become one.
  void next_branch(const State& before) {
    const std::size_t begin = std::min(state_.begin, before.begin);
    while (!found_.empty() && before.begin != none && found_.back().begin >= before.begin)
      found_.pop_back();
    state_ = before;
    state_.begin = begin;
  }

  void skip_dead_branch() {
    for (int depth = 0; index_ + 1 < tokens_.size(); ++index_) {
      const Token& next = tokens_[index_ + 1];
      if (next.kind != Token::Kind::directive) continue;
      const std::vector<Token> words = lex(next.text.substr(1));
      const std::string_view word = words.empty() ? std::string_view{} : words[0].text;
      if (depth == 0 && (word == "else" || word == "endif" || word.starts_with("elif"))) return;
      if (word.starts_with("if")) ++depth;
      if (word == "endif") --depth;
    }
  }

  const std::vector<Token>& tokens_;
  std::vector<Declaration> found_;
  std::size_t index_ = 0;
  State state_;
  std::vector<State> conditionals_;
};

}  // namespace

std::vector<Declaration> split_declarations(const std::vector<Token>& tokens) {
  return Splitter(tokens).run();
}

}  // namespace spanwise::source
