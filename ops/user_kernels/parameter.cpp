// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "parameter.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "expression_text.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/parse/token.hpp"
#include "type_names.hpp"

namespace spanwise::ops::user_kernels {
namespace {

using parse::Token;

std::string joined(const std::vector<std::string_view>& tokens) {
  std::string all;
  for (const std::string_view token : tokens) all.append(all.empty() ? "" : " ").append(token);
  return all;
}

bool is_name(const Token& token) { return token.kind == Token::Kind::identifier; }

bool is_type_parameter(std::string_view name) {
  return name.size() == 1 && std::isupper(static_cast<unsigned char>(name[0])) != 0;
}

[[noreturn]] void refuse_type(const std::string& label, const std::string& type,
                              const char* known_types) {
  fail<ArgumentError>(label, ": expected a type, got '", type, "', which is unknown. ",
                      known_types);
}

// A type of C, a dtype's name, a vector type, or a name in the preamble.
Parameter parse_c_type(const std::string& label, const std::vector<std::string_view>& tokens,
                       std::string_view preamble) {
  Parameter parameter;
  const std::string type = joined(tokens);
  const bool is_vector = !tokens.empty() && is_vector_type(tokens.back());
  if (!is_vector) parameter.dtype = parse::c_dtype(tokens);
  if (!parameter.dtype && tokens.size() == 1) parameter.dtype = numpy_dtype_named(tokens[0]);
  if (parameter.dtype) {
    // C types are kept as written, so that functions of a preamble get the type that they declare.
    parameter.type = std::all_of(tokens.begin(), tokens.end(), parse::is_type_keyword)
                         ? type
                         : c_type(*parameter.dtype);
    return parameter;
  }
  parameter.type = type;
  const bool may_be_included = preamble.find("#include") != std::string_view::npos;
  const bool is_known =
      !tokens.empty() && (is_vector || may_be_included ||
                          std::any_of(tokens.begin(), tokens.end(), [&](std::string_view word) {
                            return word != "struct" && !parse::is_type_keyword(word) &&
                                   has_token(preamble, word);
                          }));
  if (!is_known)
    refuse_type(
        label, type,
        "Known are C's types (float, unsigned int, ...), CUDA's (float4, ...) and dtypes by "
        "name (float32, ...); define any other in preamble=");
  return parameter;
}

// The tokens of each argument, which are separated by commas outside of brackets.
std::vector<std::vector<Token>> split_arguments(std::string_view text) {
  std::vector<std::vector<Token>> parts(1);
  int depth = 0;
  for (const Token& token : parse::lex(text)) {
    if (token.text == "<" || token.text == "(") ++depth;
    if (token.text == ">" || token.text == ")") --depth;
    if (token.text == "," && depth == 0)
      parts.emplace_back();
    else
      parts.back().push_back(token);
  }
  if (parts.size() == 1 && parts[0].empty()) parts.clear();
  return parts;
}

std::vector<std::string_view> texts_of(const std::vector<Token>& tokens) {
  std::vector<std::string_view> texts(tokens.size());
  std::transform(tokens.begin(), tokens.end(), texts.begin(),
                 [](const Token& token) { return token.text; });
  return texts;
}

std::string joined_texts(const std::vector<Token>& tokens) { return joined(texts_of(tokens)); }

Parameter pointer_parameter(const std::string& label, const std::vector<Token>& tokens,
                            std::string_view preamble) {
  if (tokens.size() < 2 || !is_name(tokens.back()))
    fail<ArgumentError>(label, ": expected an argument such as \"float *x\" or \"int n\", got \"",
                        joined_texts(tokens), "\"; give its type, then its name");
  std::vector<std::string_view> type;
  int stars = 0;
  bool is_const = false;
  for (std::size_t k = 0; k + 1 < tokens.size(); ++k) {
    const std::string_view word = tokens[k].text;
    if (word == "*")
      ++stars;
    else if (word == "const")
      is_const |= stars == 0;
    else if (word != "__restrict__" && word != "restrict" && word != "volatile")
      type.push_back(word);
  }
  if (stars > 1)
    fail<ArgumentError>(label, ": argument \"", joined_texts(tokens),
                        "\" is a pointer to pointers; pass one array, and index into it");
  Parameter parameter = parse_c_type(label, type, preamble);
  parameter.name = tokens.back().text;
  parameter.kind = stars == 1 ? Parameter::Kind::raw : Parameter::Kind::number;
  parameter.is_output = stars == 1 && !is_const;
  return parameter;
}

Parameter value_parameter(const std::string& label, std::vector<Token> tokens, bool is_output) {
  Parameter parameter;
  if (tokens.size() == 3 && tokens[0].text == "raw") {
    parameter.kind = Parameter::Kind::raw;
    tokens.erase(tokens.begin());
  }
  if (tokens.size() != 2 || !is_name(tokens[1]))
    fail<ArgumentError>(label,
                        ": expected an argument such as \"float32 x\", \"T y\" or \"raw T z\", "
                        "got \"",
                        joined_texts(tokens),
                        "\"; pointers belong to the syntax in which all arguments are "
                        "in one string");
  parameter.name = tokens[1].text;
  parameter.is_output = is_output;
  if (is_type_parameter(tokens[0].text)) {
    parameter.type_parameter = tokens[0].text;
    return parameter;
  }
  parameter.dtype = numpy_dtype_named(tokens[0].text);
  if (!parameter.dtype)
    refuse_type(label, std::string(tokens[0].text),
                "Known are dtypes by name (float32, int64, bool, ...) and single capital letters "
                "for any dtype (T)");
  parameter.type = c_type(*parameter.dtype);
  return parameter;
}

}  // namespace

std::vector<Parameter> pointer_parameters(const std::string& label, std::string_view text,
                                          std::string_view preamble) {
  std::vector<Parameter> parameters;
  for (const std::vector<Token>& tokens : split_arguments(text))
    parameters.push_back(pointer_parameter(label, tokens, preamble));
  return parameters;
}

std::vector<Parameter> value_parameters(const std::string& label, std::string_view inputs,
                                        std::string_view outputs) {
  std::vector<Parameter> parameters;
  for (const std::vector<Token>& tokens : split_arguments(inputs))
    parameters.push_back(value_parameter(label, tokens, false));
  for (const std::vector<Token>& tokens : split_arguments(outputs))
    parameters.push_back(value_parameter(label, tokens, true));
  return parameters;
}

Parameter parse_type(const std::string& label, std::string_view text, std::string_view preamble) {
  const std::vector<Token> tokens = parse::lex(text);
  Parameter parameter;
  if (tokens.size() == 1 && is_type_parameter(tokens[0].text) &&
      !has_token(preamble, tokens[0].text)) {
    parameter.type_parameter = tokens[0].text;
    return parameter;
  }
  return parse_c_type(label, texts_of(tokens), preamble);
}

void check_names(const std::string& label, const std::vector<Parameter>& parameters) {
  static constexpr std::size_t max_count = 24;
  if (parameters.size() > max_count)
    fail<ArgumentError>(label, ": ", parameters.size(), " arguments are more than the ", max_count,
                        " that a kernel takes here; write it as a SourceModule");
  std::set<std::string> seen;
  for (const Parameter& parameter : parameters) {
    const std::string& name = parameter.name;
    if (name == "i" || name == "n" || name == "_ind" || name.starts_with("sw_"))
      fail<ArgumentError>(label, ": an argument cannot be named '", name,
                          "', which is reserved in the operation; rename it");
    if (!seen.insert(name).second)
      fail<ArgumentError>(label, ": two arguments are named '", name, "'; rename one");
  }
}

void find_elements(const std::string& body, bool has_own_index,
                   std::vector<Parameter>& parameters) {
  bool any_element = false;
  for (Parameter& parameter : parameters) {
    if (parameter.kind != Parameter::Kind::raw) continue;
    const ArrayUses uses = uses_of(body, parameter.name);
    parameter.needs_whole_array = uses.other_elements || uses.as_whole || has_own_index;
    parameter.is_output &= uses.may_write || !(uses.own_element || uses.other_elements);
    if (!uses.own_element) continue;
    parameter.kind = Parameter::Kind::element;
    any_element = true;
  }
  if (any_element) return;
  for (Parameter& parameter : parameters)
    if (parameter.kind == Parameter::Kind::raw) parameter.kind = Parameter::Kind::element;
}

std::vector<std::string> element_names(const std::vector<Parameter>& parameters) {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters)
    if (parameter.kind == Parameter::Kind::element) names.push_back(parameter.name);
  return names;
}

}  // namespace spanwise::ops::user_kernels
