// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments/signature.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/string_utils.hpp"
#include "parse/source_scan.hpp"

namespace spanwise::kernels {
namespace {

using parse::Token;
using Tokens = std::span<const Token>;

// The list between the '<' at tokens[0] and its '>', split at commas outside of nested brackets.
std::vector<Tokens> split_template_list(Tokens tokens) {
  std::vector<Tokens> parts;
  int depth = 0;
  std::size_t begin = 1;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view text = tokens[i].text;
    if (text == "<" || text == "(" || text == "{") ++depth;
    const bool closes = text == ">" || text == ")" || text == "}";
    if (closes) --depth;
    if ((text == "," && depth == 1) || depth == 0) {
      parts.push_back(tokens.subspan(begin, i - begin));
      begin = i + 1;
    }
    if (depth == 0) break;
  }
  return parts;
}

}  // namespace

std::string_view template_parameter_name(Tokens parameter) {
  std::string_view name;
  for (const Token& token : parameter) {
    if (token.text == "=") break;
    if (token.kind == Token::Kind::identifier) name = token.text;
  }
  return parameter.size() > 1 ? name : std::string_view{};
}

// Reads the last "template <...>" before the kernel's name.
std::vector<Tokens> template_parameters(const std::vector<Token>& tokens,
                                        const parse::SourceKernel& kernel) {
  std::size_t head = tokens.size();
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].text == kernel.name && tokens[i].line == kernel.line) break;
    if (tokens[i].text != "template" || tokens[i + 1].text != "<") continue;
    head = i + 1;
    i = parse::skip_balanced(tokens, head) - 1;
  }
  return head == tokens.size() ? std::vector<Tokens>{}
                               : split_template_list(Tokens(tokens).subspan(head));
}

parse::SourceKernel template_instance(const parse::KernelSource& source,
                                       const parse::SourceKernel& declared,
                                       std::string_view name) {
  const std::vector<Token> text = parse::lex(source.text), instance = parse::lex(name);
  const auto open =
      std::ranges::find_if(instance, [](const Token& token) { return token.text == "<"; });
  const std::vector<Tokens> parameters = template_parameters(text, declared);
  const std::vector<Tokens> arguments = split_template_list(Tokens(open, instance.end()));
  std::map<std::string_view, std::string> substitutions;
  for (std::size_t i = 0; i < std::min(parameters.size(), arguments.size()); ++i)
    if (const auto parameter = template_parameter_name(parameters[i]); !parameter.empty())
      substitutions[parameter] = joined(arguments[i], " ", &Token::text);

  // A declaration with the types substituted, scanned at the end of the source, whose type aliases
  // apply to it.
  std::string declaration = "\n__global__ void spanwise_instance(";
  for (const parse::SourceParameter& parameter : declared.parameters) {
    if (!declaration.ends_with('(')) declaration += ", ";
    for (const Token& token : parse::lex(parameter.type)) {
      const auto argument = substitutions.find(token.text);
      declaration += argument != substitutions.end() ? argument->second : token.text;
      declaration += ' ';
    }
    declaration += parameter.name;
  }
  parse::KernelSource scanned = parse::scan_kernels(source.text + declaration + ");");
  parse::SourceKernel out = declared;
  const bool is_declared = !scanned.kernels.empty() &&
                           scanned.kernels.back().name == "spanwise_instance" &&
                           scanned.kernels.back().parameters.size() == declared.parameters.size();
  if (is_declared) out.parameters = std::move(scanned.kernels.back().parameters);
  return out;
}

}  // namespace spanwise::kernels
