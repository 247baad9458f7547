// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "parse/lexer.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace spanwise::parse {
namespace {

bool starts_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         (c & 0x80) != 0;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool continues_identifier(char c) { return starts_identifier(c) || is_digit(c); }
bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' || c == '\n';
}

// A single-pass lexer. Follows C++'s translation phases, except that line splices inside a token
// are only supported in directives and comments.
class Lexer {
 public:
  explicit Lexer(std::string_view source)
      : source_(source), position_(source.starts_with("\xef\xbb\xbf") ? 3 : 0) {}

  std::vector<Token> run() {
    while (skip_blanks()) tokens_.push_back(next());
    return std::move(tokens_);
  }

 private:
  char at(std::size_t position) const {
    return position < source_.size() ? source_[position] : '\0';
  }
  bool is_splice(std::size_t position) const {
    return at(position) == '\\' &&
           (at(position + 1) == '\n' || (at(position + 1) == '\r' && at(position + 2) == '\n'));
  }

  void skip_line_comment() {
    while (position_ < source_.size() && at(position_) != '\n') {
      if (is_splice(position_)) {
        ++line_;
        position_ = source_.find('\n', position_);
      }
      ++position_;
    }
  }
  void skip_block_comment() {
    const std::size_t end = source_.find("*/", position_ + 2);
    const std::size_t stop = end == std::string_view::npos ? source_.size() : end + 2;
    advance_to(stop);
  }
  void advance_to(std::size_t stop) {
    line_ +=
        static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(position_),
                                    source_.begin() + static_cast<std::ptrdiff_t>(stop), '\n'));
    position_ = stop;
  }

  // Returns false at the end of the text.
  bool skip_blanks() {
    while (position_ < source_.size()) {
      const char c = at(position_);
      if (c == '\n') {
        ++line_;
        ++position_;
        is_at_line_start_ = true;
      } else if (is_space(c)) {
        ++position_;
      } else if (is_splice(position_)) {
        advance_to(source_.find('\n', position_) + 1);
      } else if (c == '/' && at(position_ + 1) == '/') {
        skip_line_comment();
      } else if (c == '/' && at(position_ + 1) == '*') {
        skip_block_comment();
      } else {
        return true;
      }
    }
    return false;
  }

  Token next() {
    const std::size_t start = position_;
    const int line = line_;
    const Token::Kind kind = consume();
    is_at_line_start_ = false;
    return Token{kind, source_.substr(start, position_ - start), start, line};
  }

  Token::Kind consume() {
    const char c = at(position_);
    if (c == '#' && is_at_line_start_) return directive();
    if (is_digit(c) || (c == '.' && is_digit(at(position_ + 1)))) return number();
    if (c == '"') return quoted('"', Token::Kind::string);
    if (c == '\'') return quoted('\'', Token::Kind::character);
    if (starts_identifier(c)) return identifier();
    const char following = at(position_ + 1);
    const bool is_pair = (c == ':' && following == ':') || (c == '-' && following == '>');
    position_ += is_pair ? 2 : 1;
    return Token::Kind::punctuation;
  }

  Token::Kind directive() {
    while (position_ < source_.size() && at(position_) != '\n') {
      if (is_splice(position_)) {
        advance_to(source_.find('\n', position_) + 1);
      } else if (at(position_) == '/' && at(position_ + 1) == '*') {
        skip_block_comment();
      } else if (at(position_) == '/' && at(position_ + 1) == '/') {
        skip_line_comment();
      } else {
        ++position_;
      }
    }
    return Token::Kind::directive;
  }

  Token::Kind number() {
    while (position_ < source_.size()) {
      const char c = at(position_);
      const bool is_sign = (c == '+' || c == '-') && is_exponent(at(position_ - 1));
      const bool is_separator = c == '\'' && continues_identifier(at(position_ + 1));
      if (!continues_identifier(c) && c != '.' && !is_sign && !is_separator) break;
      ++position_;
    }
    return Token::Kind::number;
  }
  static bool is_exponent(char c) { return c == 'e' || c == 'E' || c == 'p' || c == 'P'; }

  Token::Kind identifier() {
    const std::size_t start = position_;
    while (continues_identifier(at(position_)) && position_ < source_.size()) ++position_;
    const std::string_view word = source_.substr(start, position_ - start);
    const bool is_prefix = word == "L" || word == "u8" || word == "u" || word == "U";
    const bool is_raw =
        word == "R" || word == "LR" || word == "u8R" || word == "uR" || word == "UR";
    if (at(position_) == '"' && is_raw) return raw_string();
    if (at(position_) == '"' && is_prefix) return quoted('"', Token::Kind::string);
    if (at(position_) == '\'' && is_prefix) return quoted('\'', Token::Kind::character);
    return Token::Kind::identifier;
  }

  // An unterminated literal ends at the end of its line, so that the rest of the source is still
  // scanned.
  Token::Kind quoted(char quote, Token::Kind kind) {
    ++position_;
    while (position_ < source_.size() && at(position_) != quote && at(position_) != '\n') {
      if (is_splice(position_)) {
        advance_to(source_.find('\n', position_) + 1);
      } else {
        position_ += at(position_) == '\\' ? 2 : 1;
      }
    }
    position_ = std::min(position_ + (at(position_) == quote ? 1 : 0), source_.size());
    return kind;
  }

  Token::Kind raw_string() {
    const std::size_t open = source_.find('(', position_);
    if (open == std::string_view::npos) return quoted('"', Token::Kind::string);
    std::string close = ")";
    close.append(source_.substr(position_ + 1, open - position_ - 1)).append("\"");
    const std::size_t end = source_.find(close, open);
    advance_to(end == std::string_view::npos ? source_.size() : end + close.size());
    return Token::Kind::string;
  }

  std::string_view source_;
  std::size_t position_;  // after a byte order mark
  int line_ = 1;
  bool is_at_line_start_ = true;  // only blanks since the last newline: '#' starts a directive
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> lex(std::string_view source) { return Lexer(source).run(); }

bool is_name(std::string_view text) {
  const std::vector<Token> tokens = lex(text);
  return tokens.size() == 1 && tokens[0].kind == Token::Kind::identifier && tokens[0].text == text;
}

bool opens_launch(std::span<const Token> tokens, std::size_t i) noexcept {
  for (std::size_t k = 0; k < 3; ++k)
    if (i + k >= tokens.size() || tokens[i + k].text != "<" ||
        tokens[i + k].offset != tokens[i].offset + k)
      return false;
  return true;
}

std::size_t skip_balanced(std::span<const Token> tokens, std::size_t open) {
  const std::string_view opening = tokens[open].text;
  const std::string_view close = opening == "("   ? ")"
                                 : opening == "[" ? "]"
                                 : opening == "{" ? "}"
                                                  : ">";
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    const std::string_view text = tokens[i].text;
    if (text == opening) ++depth;
    if (text == close && --depth == 0) return i + 1;
    // A '<' inside parentheses is a comparison.
    if (opening == "<" && text == "(") i = skip_balanced(tokens, i) - 1;
    if (opening == "<" && (text == ";" || text == "{")) return i;
  }
  return tokens.size();
}

std::vector<std::span<const Token>> split_at_commas(std::span<const Token> list) {
  std::vector<std::span<const Token>> parts;
  int depth = 0;
  std::size_t begin = 0, i = 0;
  for (; i < list.size() && depth >= 0; ++i) {
    const std::string_view text = list[i].text;
    if (text == "(" || text == "[" || text == "{" || text == "<") ++depth;
    if (text == ")" || text == "]" || text == "}" || text == ">") --depth;
    if (text != "," || depth != 0) continue;
    parts.push_back(list.subspan(begin, i - begin));
    begin = i + 1;
  }
  const std::size_t end = depth < 0 ? i - 1 : i;
  if (end > 0) parts.push_back(list.subspan(begin, end - begin));
  return parts;
}

}  // namespace spanwise::parse
