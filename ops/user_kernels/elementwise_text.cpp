// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "elementwise_text.hpp"

#include <string_view>

#include "expression_text.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/parse/token.hpp"

namespace spanwise::ops::user_kernels {
namespace {

/// Writes one kernel.
class ElementwiseText {
 public:
  ElementwiseText(const ElementwiseCode& code, std::span<const ConvertedArgument> operands,
                  const ElementwiseShape& shape)
      : code_(code), operands_(operands), shape_(shape) {}

  strided::Body body() {
    strided::Body body;
    body.name = code_.spec.common.name;
    std::string types;
    const bool needs_memory = outputs_need_memory(code_.spec);
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const ConvertedArgument& operand = operands_[i];
      const std::string declared =
          parameter_text(operand, shape_.forms[i], has_pointer_style(), types);
      if (operand.is_element()) {
        body.arrays.push_back({element_type(operand), role_of(operand, needs_memory)});
      } else if (!declared.empty()) {
        body.parameters += declared;
        body.arguments += operand.parameter->name + ", ";
      }
    }
    if (code_.needs_index || body.arrays.empty())
      body.arrays.push_back({"", strided::ArrayRole::index});
    for (const ConvertedArgument* operand : whole_arrays())
      body.arguments += operand->parameter->name + ", ";
    body.parameters += whole_array_parameters(types) + "const long long n, ";
    body.arguments += "n, ";
    body.prelude = prologue(code_.spec.common, operands_, types);
    body.declarations = whole_array_pointers();
    if (has_token(code_.operation, "_ind")) body.declarations += "  const sw_count _ind{n};\n";
    body.before = statements("loop_prep of ", code_.spec.loop_prep);
    body.after = statements("after_loop of ", code_.spec.after_loop);
    body.compute = [text = *this](std::span<const std::string> elements) {
      return text.computation(elements);
    };
    return body;
  }

 private:
  bool has_pointer_style() const { return code_.spec.style == ParameterStyle::pointers; }

  std::string statements(const char* part, const std::string& code) const {
    return with_line_directives(text(part, code_.spec.common.name),
                                code.empty() ? "" : code + "\n;");
  }

  // The arrays that are passed as sw_raw: unless flat, those that are also used as a whole.
  std::vector<const ConvertedArgument*> whole_arrays() const {
    std::vector<const ConvertedArgument*> all;
    for (const ConvertedArgument& operand : operands_)
      if (!shape_.is_flat && operand.is_element() && operand.parameter->needs_whole_array)
        all.push_back(&operand);
    return all;
  }
  std::string whole_array_parameters(std::string& types) const {
    std::string list;
    for (const ConvertedArgument* operand : whole_arrays())
      list += whole_array_text(*operand, shape_.axes, types);
    return list;
  }

  // In a flat kernel, arrays that are also used as a whole are pointers.
  std::string whole_array_pointers() const {
    std::string out;
    int array = 0;
    for (const ConvertedArgument& operand : operands_) {
      if (!operand.is_element()) continue;
      if (shape_.is_flat && operand.parameter->needs_whole_array)
        out += text("  ", constness(operand), element_type(operand), "* const ",
                    operand.parameter->name, " = sw_p", array, ";\n");
      ++array;
    }
    return out;
  }

  // Defines x, or x[i], of the operation as the element `expression`.
  std::string element(const ConvertedArgument& operand, const std::string& expression) const {
    const std::string type = element_type(operand), &name = operand.parameter->name;
    if (has_pointer_style())
      return text("    ", constness(operand), type, "* const sw_at_", name, " = &(", expression,
                  ");\n");
    const char* reference = operand.parameter->is_output ? "& " : " ";
    return text("    ", constness(operand), type, reference, name, " = ", expression, ";\n");
  }

  std::string computation(std::span<const std::string> elements) const {
    std::string out;
    std::size_t array = 0;
    for (const ConvertedArgument& operand : operands_)
      if (operand.is_element()) out += element(operand, elements[array++]);
    if (code_.needs_index) out += text("    const long long i = ", elements[array], ";\n");
    return out + parse::element_statements(text("operation of ", code_.spec.common.name),
                                            code_.operation);
  }

  const ElementwiseCode& code_;
  std::span<const ConvertedArgument> operands_;
  const ElementwiseShape& shape_;
};

// Whether `&` takes an address in the code, rather than being a binary operator.
bool takes_addresses(std::string_view code) {
  const std::vector<parse::Token> tokens = parse::lex(code);
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    if (!tokens[k].text.ends_with("&") || tokens[k].text.ends_with("&&")) continue;
    if (k == 0) return true;
    const parse::Token& before = tokens[k - 1];
    const bool is_operand = before.kind == parse::Token::Kind::identifier ||
                            before.kind == parse::Token::Kind::number || before.text == ")" ||
                            before.text == "]";
    if (!is_operand || before.text == "return") return true;
  }
  return false;
}

bool has_memory_instructions(std::string_view code) {
  const std::vector<parse::Token> tokens = parse::lex(code);
  return std::any_of(tokens.begin(), tokens.end(), [](const parse::Token& token) {
    return token.text.starts_with("atomic") || token.text == "asm" || token.text == "__asm__" ||
           token.text == "volatile";
  });
}

}  // namespace

bool is_long_operation(const std::string& operation) {
  constexpr std::size_t max_characters = 400;
  return has_token(operation, "for") || has_token(operation, "while") ||
         operation.size() > max_characters;
}

bool outputs_need_memory(const ElementwiseSpec& spec) {
  const std::string all = text(spec.common.preamble, "\n", spec.loop_prep, "\n", spec.operation);
  if (has_memory_instructions(all)) return true;
  return spec.style == ParameterStyle::pointers && takes_addresses(spec.operation);
}

strided::ArrayRole role_of(const ConvertedArgument& operand, bool needs_memory) {
  const Parameter& parameter = *operand.parameter;
  if (!parameter.is_output)
    return parameter.is_user_type() ? strided::ArrayRole::read_in_place : strided::ArrayRole::read;
  needs_memory |= parameter.is_user_type() || parameter.needs_whole_array;
  return needs_memory ? strided::ArrayRole::write_in_place : strided::ArrayRole::update;
}

strided::Body elementwise_body(const ElementwiseCode& code,
                               std::span<const ConvertedArgument> operands,
                               const ElementwiseShape& shape) {
  return ElementwiseText(code, operands, shape).body();
}

}  // namespace spanwise::ops::user_kernels
