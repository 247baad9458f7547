// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "elementwise_text.hpp"

#include <string_view>

#include "expression_text.hpp"
#include "spanwise/error.hpp"
#include "spanwise/source/token.hpp"

namespace spanwise::ops::user_kernels {
namespace {

/// Writes one kernel.
class ElementwiseText {
 public:
  ElementwiseText(const ElementwiseCode& code, std::span<const ConvertedArgument> operands,
                  const ElementwiseShape& shape)
      : code_(code), operands_(operands), shape_(shape) {}

  std::string cpu_source() {
    std::string types;
    const std::string list = cpu_parameters(types);
    if (!shape_.is_flat) types += walk_struct("sw_walk", shape_.rank, walk_operands());
    return text(prologue(code_.spec.common, operands_, types), "extern \"C\" __global__ void ",
                code_.spec.common.name, "(", list, ") {\n", whole_array_pointers(),
                index_size_object(), before(), cpu_loop(), after(), "}\n");
  }

  strided::Body gpu_body() {
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
    body.declarations = gpu_array_pointers() + index_size_object();
    body.before = before();
    body.after = after();
    body.compute = [text = *this](std::span<const std::string> elements) {
      return text.gpu_computation(elements);
    };
    return body;
  }

 private:
  bool has_pointer_style() const { return code_.spec.style == ParameterStyle::pointers; }

  std::string before() const {
    return with_line_directives(text("loop_prep of ", code_.spec.common.name),
                                terminated(code_.spec.loop_prep));
  }
  std::string after() const {
    return with_line_directives(text("after_loop of ", code_.spec.common.name),
                                terminated(code_.spec.after_loop));
  }

  // The number of operands of the walk: arrays accessed by element, and the index.
  int walk_operands() const {
    int count = code_.needs_index ? 1 : 0;
    for (const ConvertedArgument& operand : operands_) count += operand.is_element();
    return count;
  }

  static std::string terminated(const std::string& statements) {
    return statements.empty() ? "" : statements + "\n;";
  }

  std::string cpu_parameters(std::string& types) const {
    std::string list;
    for (std::size_t i = 0; i < operands_.size(); ++i)
      list += parameter_text(operands_[i], shape_.forms[i], has_pointer_style(), types);
    list += whole_array_parameters(types);
    if (!shape_.is_flat) list += "const sw_walk sw_w, ";
    return list + "const long long n, const long long sw_chunk";
  }

  // In a kernel that is not flat, arrays that are also used as a whole are passed as such.
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
    for (const ConvertedArgument& operand : operands_)
      if (shape_.is_flat && operand.is_element() && operand.parameter->needs_whole_array)
        out += text("  ", constness(operand), element_type(operand), "* const ",
                    operand.parameter->name, " = sw_p_", operand.parameter->name, ";\n");
    return out;
  }

  std::string index_size_object() const {
    return has_token(code_.operation, "_ind") ? "  const sw_count _ind{n};\n" : "";
  }

  // The same for arrays as the GPU's kernel names them.
  std::string gpu_array_pointers() const {
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

  // A return in the operation ends the element, not the thread's loop.
  std::string body() const {
    const std::string operation = with_line_directives(
        text("operation of ", code_.spec.common.name), terminated(code_.operation));
    if (!has_token(code_.operation, "return")) return operation;
    return text("    [&] { do {", operation, "    } while (0); }();\n");
  }

  std::string flat_body() const {
    std::string out;
    if (code_.needs_index) out += "    const long long i = sw_k;\n";
    for (const ConvertedArgument& operand : operands_)
      if (operand.is_element())
        out += element(operand, text("sw_p_", operand.parameter->name, "[sw_k]"));
    return out + body();
  }

  std::string gpu_computation(std::span<const std::string> elements) const {
    std::string out;
    std::size_t array = 0;
    for (const ConvertedArgument& operand : operands_)
      if (operand.is_element()) out += element(operand, elements[array++]);
    if (code_.needs_index) out += text("    const long long i = ", elements[array], ";\n");
    return out + body();
  }

  // ---- the CPU: loops over a block's elements

  std::string cpu_loop() const {
    const std::string share =
        "  const long long sw_first = (long long)blockIdx.x * sw_chunk;\n"
        "  const long long sw_last = sw_first + sw_chunk < n ? sw_first + sw_chunk : n;\n";
    if (shape_.is_flat)
      return text(share, "  for (long long sw_k = sw_first; sw_k < sw_last; ++sw_k) {\n",
                  flat_body(), "  }\n");
    return share + cpu_walk_loop();
  }

  std::string cpu_walk_loop() const {
    const int last = shape_.rank - 1;
    std::string bases, elements;
    int index = 0;
    const auto offset = [&] { return offset_text("sw_w", shape_.rank, index); };
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      const ConvertedArgument& operand = operands_[k];
      if (!operand.is_element()) continue;
      const std::string& name = operand.parameter->name;
      const int step = shape_.forms[k].step;
      bases += text("    ", constness(operand), element_type(operand), "* const sw_row_", name,
                    " = sw_p_", name, " + (", offset(), ");\n");
      if (step == 2)
        bases += text("    const long long sw_step", index, " = sw_w.s", index, "[", last, "];\n");
      elements += element(operand, text("sw_row_", name, "[",
                                        step == 0   ? "0"
                                        : step == 1 ? "sw_k"
                                                    : text("sw_k * sw_step", index),
                                        "]"));
      ++index;
    }
    if (code_.needs_index) {
      bases += text("    const long long sw_i = ", offset(), ", sw_i_step = sw_w.s", index, "[",
                    last, "];\n");
      elements += "    const long long i = sw_i + sw_k * sw_i_step;\n";
    }
    return loop_over_runs("sw_w", shape_.rank,
                          text(bases, "    for (long long sw_k = 0; sw_k < sw_run; ++sw_k) {\n",
                               elements, body(), "    }\n"));
  }

  const ElementwiseCode& code_;
  std::span<const ConvertedArgument> operands_;
  const ElementwiseShape& shape_;
};

// Whether `&` takes an address in the code, rather than being a binary operator.
bool takes_addresses(std::string_view code) {
  const std::vector<source::Token> tokens = source::lex(code);
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    if (!tokens[k].text.ends_with("&") || tokens[k].text.ends_with("&&")) continue;
    if (k == 0) return true;
    const source::Token& before = tokens[k - 1];
    const bool is_operand = before.kind == source::Token::Kind::identifier ||
                            before.kind == source::Token::Kind::number || before.text == ")" ||
                            before.text == "]";
    if (!is_operand || before.text == "return") return true;
  }
  return false;
}

bool has_memory_instructions(std::string_view code) {
  const std::vector<source::Token> tokens = source::lex(code);
  return std::any_of(tokens.begin(), tokens.end(), [](const source::Token& token) {
    return token.text.starts_with("atomic") || token.text == "asm" || token.text == "__asm__" ||
           token.text == "volatile";
  });
}

}  // namespace

bool is_long(const std::string& operation) {
  constexpr std::size_t longest = 400;
  return has_token(operation, "for") || has_token(operation, "while") || operation.size() > longest;
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

std::string elementwise_source(const ElementwiseCode& code,
                               std::span<const ConvertedArgument> operands,
                               const ElementwiseShape& shape) {
  return ElementwiseText(code, operands, shape).cpu_source();
}

strided::Body elementwise_body(const ElementwiseCode& code,
                               std::span<const ConvertedArgument> operands,
                               const ElementwiseShape& shape) {
  return ElementwiseText(code, operands, shape).gpu_body();
}

}  // namespace spanwise::ops::user_kernels
