// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "parse/declarations.hpp"

#include <algorithm>

#include "parse/declaration_reader.hpp"
#include "parse/source_scan.hpp"

namespace spanwise::parse {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

// Implements split_declarations() in one pass over the tokens.
class Splitter {
 public:
  explicit Splitter(const std::vector<Token>& tokens) : tokens_(tokens) {}

  std::vector<Declaration> run() {
    for (index_ = 0; index_ < tokens_.size(); ++index_) step();
    return std::move(declarations_);
  }

 private:
  struct State {
    std::size_t begin = none;  // of the current declaration
    int braces = 0, parentheses = 0;
    bool is_function = false;  // the braces are a body, which ends the declaration
    int namespaces = 0;
  };

  std::string_view text_at(std::size_t i) const {
    return i < tokens_.size() ? tokens_[i].text : std::string_view{};
  }

  void step() {
    const std::string_view text = text_at(index_);
    if (tokens_[index_].kind == Token::Kind::directive) return read_directive(text);
    const bool is_outside = state_.braces == 0 && state_.parentheses == 0;
    if (is_outside && text == "}") {  // of a namespace
      state_.namespaces -= state_.namespaces > 0 ? 1 : 0;
      state_.begin = none;
      return;
    }
    if (state_.begin == none) {
      if (text == ";") return;
      state_.begin = index_;
    }
    if (is_outside && text == "template" && text_at(index_ + 1) == "<") {
      index_ = skip_balanced(tokens_, index_ + 1) - 1;
    } else if (state_.braces == 0 && text == "(") {
      ++state_.parentheses;
    } else if (state_.braces == 0 && text == ")") {
      state_.parentheses -= state_.parentheses > 0 ? 1 : 0;
    } else if (state_.parentheses > 0) {
      return;
    } else if (text == "{") {
      open_brace();
    } else if (text == "}") {
      const bool is_continued = text_at(index_ + 1) == "," || text_at(index_ + 1) == "{" ||
                                text_at(index_ + 1) == "catch";
      if (--state_.braces == 0 && state_.is_function && !is_continued) finish();
    } else if (text == ";" && state_.braces == 0) {
      finish();
    }
  }

  void open_brace() {
    if (state_.braces++ > 0) return;
    std::size_t first = state_.begin;
    if (text_at(first) == "inline") ++first;
    const bool is_linkage = text_at(first) == "extern" && first + 2 == index_ &&
                            tokens_[first + 1].kind == Token::Kind::string;
    if (text_at(first) == "namespace" || is_linkage) {
      state_.braces = 0;
      ++state_.namespaces;
      state_.begin = none;
      return;
    }
    state_.is_function = DeclarationReader(tokens_, state_.begin, index_).is_function();
  }

  void finish() {
    declarations_.push_back(
        DeclarationReader(tokens_, state_.begin, index_ + 1).read(state_.is_function));
    state_.begin = none;
    state_.is_function = false;
  }

  void read_directive(std::string_view text) {
    const std::vector<Token> parts = lex(text.substr(1));
    const std::string_view word = parts.empty() ? std::string_view{} : parts[0].text;
    if (word == "if" || word == "ifdef" || word == "ifndef") {
      conditionals_.push_back(state_);
      if (is_if_zero(parts)) index_ = end_of_branch(tokens_, index_);
    } else if ((word == "else" || word.starts_with("elif")) && !conditionals_.empty()) {
      next_branch(conditionals_.back());
    } else if (word == "endif" && !conditionals_.empty()) {
      conditionals_.pop_back();
    }
  }

  // Returns to the state at the #if. Declarations that a branch divides become one.
  void next_branch(const State& before) {
    const std::size_t begin = std::min(state_.begin, before.begin);
    while (!declarations_.empty() && before.begin != none &&
           declarations_.back().begin >= before.begin)
      declarations_.pop_back();
    state_ = before;
    state_.begin = begin;
  }

  const std::vector<Token>& tokens_;
  std::vector<Declaration> declarations_;
  std::size_t index_ = 0;
  State state_;
  std::vector<State> conditionals_;
};

}  // namespace

std::vector<Declaration> split_declarations(const std::vector<Token>& tokens) {
  return Splitter(tokens).run();
}

}  // namespace spanwise::parse
