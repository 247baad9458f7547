// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <span>

#include "parse/source_scan.hpp"

namespace spanwise::parse {
namespace {

std::string_view closing(std::string_view open) {
  if (open == "(") return ")";
  if (open == "[") return "]";
  if (open == "{") return "}";
  return ">";
}

// The index after attributes and directives between a parameter list and its body.
std::size_t skip_attributes(const std::vector<Token>& tokens, std::size_t i) {
  while (i < tokens.size()) {
    const Token& token = tokens[i];
    if (token.kind == Token::Kind::directive || token.text == "noexcept") {
      ++i;
    } else if (is_attribute_word(token.text) && i + 1 < tokens.size() &&
               tokens[i + 1].text == "(") {
      i = skip_balanced(tokens, i + 1);
    } else if (token.text == "[") {
      i = skip_balanced(tokens, i);
    } else {
      break;
    }
  }
  return i;
}

std::vector<SourceParameter> read_parameters(std::span<const Token> tokens,
                                             const TypeAliases& aliases) {
  std::vector<SourceParameter> parameters;
  int depth = 0;
  std::size_t begin = 0;
  const auto finish = [&](std::size_t end) {
    const auto part = tokens.subspan(begin, end - begin);
    const bool is_void = part.size() == 1 && part[0].text == "void";
    if (!part.empty() && !is_void) parameters.push_back(read_parameter(part, aliases));
    begin = end + 1;
  };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view text = tokens[i].text;
    if (text == "(" || text == "[" || text == "{" || text == "<") ++depth;
    if (text == ")" || text == "]" || text == "}" || text == ">") --depth;
    if (text == "," && depth == 0) finish(i);
  }
  finish(tokens.size());
  return parameters;
}

}  // namespace

std::size_t skip_balanced(const std::vector<Token>& tokens, std::size_t open) {
  const std::string_view opening = tokens[open].text, close = closing(opening);
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

bool is_attribute_word(std::string_view word) {
  static constexpr std::array<std::string_view, 12> keywords{
      "__launch_bounds__", "__cluster_dims__", "__block_size__", "__maxnreg__",
      "__attribute__",     "__attribute",      "__align__",      "alignas",
      "__declspec",        "noexcept",         "explicit",       "decltype"};
  return std::ranges::find(keywords, word) != keywords.end();
}

KernelSite read_kernel_header(const std::vector<Token>& tokens, std::size_t start,
                              const TypeAliases& aliases) {
  KernelSite site;
  for (std::size_t i = start + 1; i + 1 < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.text == ";" || token.text == "{" || token.text == "}") break;
    if (token.text == "[") {
      i = skip_balanced(tokens, i) - 1;
    } else if (token.text == "<") {
      break;  // name<float>(...): the primary template is the kernel
    } else if (token.kind == Token::Kind::identifier && tokens[i + 1].text == "(") {
      const std::size_t end = skip_balanced(tokens, i + 1);
      const std::size_t body = skip_attributes(tokens, end);
      const bool ends_declarator =
          body < tokens.size() && (tokens[body].text == "{" || tokens[body].text == ";");
      // A macro such as BOUNDS(256), followed by the rest of the declaration.
      if (is_attribute_word(token.text) || !ends_declarator) {
        i = end - 1;
        continue;
      }
      site.kernel.name = token.text;
      site.kernel.line = token.line;
      site.kernel.is_definition = tokens[body].text == "{";
      site.parameters_end = tokens[end - 1].offset + 1;
      site.kernel.parameters =
          read_parameters(std::span(tokens).subspan(i + 2, end - i - 3), aliases);
      break;
    }
  }
  return site;
}

}  // namespace spanwise::parse
