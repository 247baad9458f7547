// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/directive.hpp"

#include <cstddef>
#include <utility>

#include "core/string_utils.hpp"
#include "parse/kernel_source.hpp"

namespace spanwise::kernels {
namespace {

// A directive as one line: joins continued lines and removes comments, except inside quotes, where
// "//" is part of a path.
std::string without_comments(std::string_view text) {
  std::string out;
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("\\\n")) {
      i += 1;
    } else if (rest.starts_with("\\\r\n")) {
      i += 2;
    } else if (!is_quoted && rest.starts_with("//")) {
      break;
    } else if (!is_quoted && rest.starts_with("/*")) {
      const std::size_t end = rest.find("*/", 2);
      if (end == std::string_view::npos) break;
      out += ' ';
      i += end + 1;
    } else {
      is_quoted ^= text[i] == '"';
      out += text[i];
    }
  }
  return out;
}

std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  std::size_t size = 0;
  while (size < text.size() && is_word_character(text[size])) ++size;
  const std::string_view word = text.substr(0, size);
  text.remove_prefix(size);
  return word;
}

// Appends the headers that __has_include tests in the condition of an #if.
void read_has_include(std::string_view condition, std::vector<HeaderName>& out) {
  constexpr std::string_view name = "__has_include";
  for (std::size_t at = condition.find(name); at != std::string_view::npos;
       at = condition.find(name, at + 1)) {
    std::string_view rest = condition.substr(at + name.size());
    if (rest.starts_with("_next")) rest.remove_prefix(5);
    rest = trimmed(rest);
    if (!rest.starts_with('(')) continue;  // e.g. defined(__has_include)
    if (HeaderName header = parse_header_name(rest.substr(1)); !header.text.empty())
      out.push_back(std::move(header));
  }
}

void read_directive(std::string_view token, IncludeDirectives& out) {
  const std::string line = without_comments(token);
  std::string_view rest = trimmed(line);
  rest.remove_prefix(rest.starts_with('#') ? 1 : 0);
  const std::string_view word = take_word(rest);
  if (word == "include" || word == "include_next" || word == "import") {
    out.includes.push_back(parse_header_name(rest));
  } else if (word == "define") {
    const std::string_view name = take_word(rest);
    if (rest.starts_with('(')) return;
    HeaderName header = parse_header_name(rest);
    if (!header.text.empty()) out.macros.push_back({std::string(name), std::move(header)});
  } else if (word == "if" || word == "elif") {
    read_has_include(rest, out.includes);
  }
}

}  // namespace

HeaderName parse_header_name(std::string_view text) {
  text = trimmed(text);
  const char first = text.empty() ? char{0} : text.front();
  if (first == '"' || first == '<') {
    const std::size_t end = text.find(first == '"' ? '"' : '>', 1);
    if (end == std::string_view::npos) return {};
    return {std::string(text.substr(1, end - 1)),
            first == '"' ? HeaderName::Quoting::quoted : HeaderName::Quoting::bracketed};
  }
  std::string_view rest = text;
  const std::string_view word = take_word(rest);
  rest = trimmed(rest);
  // An object-like MACRO can be resolved, also in __has_include(MACRO); MACRO(x) cannot.
  if (word.empty() || rest.starts_with('(')) return {};
  return {std::string(word), HeaderName::Quoting::macro};
}

IncludeDirectives read_directives(std::string_view source) {
  IncludeDirectives out;
  for (const parse::Token& token : parse::lex(source))
    if (token.kind == parse::Token::Kind::directive) read_directive(token.text, out);
  return out;
}

}  // namespace spanwise::kernels
