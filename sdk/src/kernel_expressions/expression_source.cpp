// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernel_expressions/expression_source.hpp"

#include <string>
#include <utility>
#include <vector>

#include "core/string_utils.hpp"
#include "embedded/kernel_expression_text.hpp"
#include "kernel_expressions/expression_parameters.hpp"
#include "parse/compiler_options.hpp"
#include "parse/lexer.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::kernel_expressions {
namespace {

std::string_view library_text(std::string_view name) {
  return embedded::file_text(embedded::kernel_expression_text, name);
}

// The undeclared name in messages of NVRTC, g++ and clang++; empty if there is none.
std::string unknown_name(std::string_view log) {
  constexpr std::pair<std::string_view, std::string_view> patterns[] = {
      {"identifier \"", "\" is undefined"},
      {"error: \xe2\x80\x98", "\xe2\x80\x99 was not declared"},
      {"error: '", "' was not declared"},
      {"undeclared identifier '", "'"},
  };
  for (const auto& [before, after] : patterns) {
    std::size_t start = log.find(before);
    if (start == std::string_view::npos) continue;
    start += before.size();
    const std::string_view name = log.substr(start, log.find(after, start) - start);
    if (parse::is_name(name)) return std::string(name);
  }
  return "";
}

// "N" of "#define N 4"; empty for "#undef N".
std::string_view defined_name(std::string_view directive) {
  constexpr std::string_view begin = "#define ";
  if (!directive.starts_with(begin)) return "";
  directive.remove_prefix(begin.size());
  return directive.substr(0, directive.find_first_of(" ("));
}

// The macros that the options of `spec` define, as directives; names of ours may be the same, and
// NVRTC has no #pragma push_macro.
std::vector<std::string> macros_of(const CommonSpec& spec) {
  std::vector<std::string> macros = parse::preprocessor_options(spec.options).directives;
  std::erase_if(macros, [](const std::string& line) { return defined_name(line).empty(); });
  return macros;
}

std::string hidden(const std::vector<std::string>& macros) {
  std::string out;
  for (const std::string& line : macros) out += text("#undef ", defined_name(line), '\n');
  return out;
}

std::string shown(const std::vector<std::string>& macros) {
  std::string out;
  for (const std::string& line : macros) out += line + '\n';
  return out;
}

// A typedef for each type parameter of `operands`.
std::string type_parameter_typedefs(std::span<const ConvertedArgument> operands) {
  std::string out, seen;
  for (const ConvertedArgument& operand : operands) {
    const std::string& type_parameter = operand.parameter->type_parameter;
    if (type_parameter.empty() || seen.find(type_parameter) != std::string::npos) continue;
    seen += type_parameter;
    out += text("typedef ", c_type(operand.dtype), " ", type_parameter, ";\n");
  }
  return out;
}

}  // namespace

std::pair<std::string, std::string> macros_around_library(const CommonSpec& spec) {
  std::vector<std::string> macros = macros_of(spec);
  for (const parse::Token& token : parse::lex(spec.preamble))  // which may change them
    if (token.kind == parse::Token::Kind::directive)
      std::erase_if(macros, [&](const std::string& line) {
        return has_token(std::string_view(token.text).substr(1), defined_name(line));
      });
  return {hidden(macros), shown(macros)};
}

std::string without_user_macros(const CommonSpec& spec, std::string_view library) {
  const auto [hide, show] = macros_around_library(spec);
  return text(hide, library, show);
}

std::string label_of(const CommonSpec& spec) { return text(spec.kind, " '", spec.name, "'"); }

std::string checked_label(const CommonSpec& spec) {
  std::string label = label_of(spec);
  if (!parse::is_name(spec.name))
    fail<ArgumentError>(label, ": expected a name that C++ allows for a function, got '", spec.name,
                        "'; use letters, digits and _");
  return label;
}

OperandForm raw_form(const ConvertedArgument& operand) {
  using Access = OperandForm::Access;
  if (operand.array == nullptr) return {.access = Access::value, .dtype = operand.dtype};
  return {.access = operand.array->layout().is_row_major() ? Access::dense : Access::strided,
          .rank = static_cast<std::uint8_t>(std::max(1, operand.array->rank())),
          .dtype = operand.dtype};
}

OperandForm element_form(const ConvertedArgument& operand, const Walk* walk, int index) {
  const std::int64_t step = walk == nullptr ? 1 : walk->stride(walk->rank() - 1, index);
  const std::uint8_t form_step = step == 0 ? 0 : step == 1 ? 1 : 2;
  return {.access = OperandForm::Access::element, .step = form_step, .dtype = operand.dtype};
}

std::string prologue(const CommonSpec& spec, std::span<const ConvertedArgument> operands,
                     const std::string& types) {
  bool has_half = false, has_bfloat16 = false, has_complex = false;
  for (const ConvertedArgument& operand : operands) {
    if (operand.parameter->is_user_type()) continue;
    has_half |= operand.dtype == float16;
    has_bfloat16 |= operand.dtype == bfloat16;
    has_complex |= operand.dtype.is_complex();
  }
  has_complex |= types.find("complex<") != std::string::npos;
  std::string out;
  const auto add_half = [&](const char* header, const char* type) {
    out += text("#include <", header, ">\n#define SW_HALF ", type, "\n",
                library_text("half_operators.cuh"), "#undef SW_HALF\n");
  };
  if (has_half || types.find("__half") != std::string::npos) add_half("cuda_fp16.h", "__half");
  if (has_bfloat16 || types.find("__nv_bfloat16") != std::string::npos)
    add_half("cuda_bf16.h", "__nv_bfloat16");
  if (has_complex) out += "#include <spanwise/complex.cuh>\nusing spanwise::complex;\n";
  out += library_text("raw_array.cuh");
  out += shown(macros_of(spec));  // compiled() hides them
  // The preamble may use type parameters, and types of operands may be defined in it.
  out += type_parameter_typedefs(operands);
  out += with_line_directives(text("preamble of ", spec.name), spec.preamble);
  return out + types;
}

Array get_variable(KernelVariables& variables, const CommonSpec& spec,
                   std::span<const Parameter> parameters, const std::string& name, Device device) {
  std::string types;
  for (const Parameter& parameter : parameters)
    if (!parameter.type_parameter.empty())
      types += text("typedef float ", parameter.type_parameter, ";\n");
  return variables.get(label_of(spec),
                       "preamble=", hidden(macros_of(spec)) + types + prologue(spec, {}, ""),
                       {.options = spec.options, .device = device}, name);
}

std::string element_type(const ConvertedArgument& operand) {
  return operand.parameter->type.empty() ? c_type(operand.dtype) : operand.parameter->type;
}

const char* constness(const ConvertedArgument& operand) {
  return operand.parameter->is_output ? "" : "const ";
}

std::string parameter_text(const ConvertedArgument& operand, const OperandForm& form,
                           bool wants_pointer, std::string& types) {
  const std::string &name = operand.parameter->name, type = element_type(operand);
  if (operand.array != nullptr && operand.parameter->is_user_type())
    types += text("static_assert(sizeof(", type, ") == ", operand.dtype.itemsize(),
                  ", \"the structs of argument '", name, "' have ", operand.dtype.itemsize(),
                  " bytes, unlike ", type, "\");\n");
  switch (form.access) {
    case OperandForm::Access::value:
      return text("const ", type, " ", name, ", ");
    case OperandForm::Access::element:
      return text(constness(operand), type, "* sw_p_", name, ", ");
    case OperandForm::Access::dense:
      if (wants_pointer) return text(constness(operand), type, "* ", name, ", ");
      [[fallthrough]];
    case OperandForm::Access::strided:
      types += text("typedef sw_raw<", constness(operand), type, ", ", int{form.rank}, ", ",
                    form.access == OperandForm::Access::dense ? "true" : "false", "> sw_raw_", name,
                    ";\n");
      return text("const sw_raw_", name, " ", name, ", ");
    default:
      return "";
  }
}

std::string whole_array_text(const ConvertedArgument& operand, int axes, std::string& types) {
  const std::string& name = operand.parameter->name;
  types += text("typedef sw_raw<", constness(operand), element_type(operand), ", ", axes,
                ", false> sw_raw_", name, ";\n");
  return text("const sw_raw_", name, " ", name, ", ");
}

std::int64_t* ParameterValues::new_numbers(int count) {
  const auto size = static_cast<std::size_t>(count);
  return numbers_.emplace_back(std::make_unique_for_overwrite<std::int64_t[]>(size)).get();
}

void ParameterValues::add_raw(const Array& array, const Layout& layout) {
  const int rank = std::max(1, layout.rank());
  std::int64_t* const numbers = new_numbers(1 + 2 * rank);
  all_.add(numbers, array);
  numbers[0] = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(array.data()));
  numbers[1] = numbers[1 + rank] = 1;  // an array of rank 0 has one axis in the kernel
  std::ranges::copy(layout.shape, numbers + 1);
  std::ranges::copy(layout.strides, numbers + 1 + rank);
}

void ParameterValues::add_walk(const Walk& walk) {
  std::int64_t* next = new_numbers(walk.rank() * (1 + walk.operands()));
  add(next);
  for (int axis = 0; axis < walk.rank(); ++axis) *next++ = walk.extent(axis);
  for (int operand = 0; operand < walk.operands(); ++operand)
    for (int axis = 0; axis < walk.rank(); ++axis) *next++ = walk.stride(axis, operand);
}

void ParameterValues::add_operands(const Operands& operands, const OperandForms& forms,
                                   bool wants_pointer, bool has_elements) {
  for (std::size_t i = 0; i < forms.count; ++i) {
    const ConvertedArgument& operand = operands[i];
    if (operand.is_element() && !has_elements) continue;
    if (forms[i].access == OperandForm::Access::value)
      add(operand.bytes.empty() ? operand.number.data() : operand.bytes.data());
    else if (operand.is_element() ||
             (forms[i].access == OperandForm::Access::dense && wants_pointer))
      add_address(*operand.array);
    else
      add_raw(*operand.array, operand.array->layout());
  }
}

void ParameterValues::add_whole_arrays(const Operands& operands, const Shape& shape) {
  for (const ConvertedArgument& operand : operands.all())
    if (operand.is_element() && operand.parameter->needs_whole_array)
      add_raw(*operand.array, operand.array->layout().broadcast_to(shape));
}

// The parameters are sw_p_x, sw_p0 for the first array that is accessed by element, and x.
std::string with_operand_names(std::string message, const Operands& operands) {
  std::vector<std::string_view> elements;
  for (const ConvertedArgument& operand : operands.all())
    if (operand.is_element()) elements.push_back(operand.parameter->name);
  constexpr std::string_view begin = "argument ", end = "')";
  for (std::size_t at = message.find(begin); at != message.npos; at = message.find(begin, at + 1)) {
    const std::size_t close = message.find(end, at);
    if (close == message.npos) break;
    const std::string_view declared = std::string_view(message).substr(at, close - at);
    if (declared.find("sw_") == declared.npos) continue;
    std::string_view name = declared.substr(declared.find_last_of(" *") + 1);
    if (name.starts_with("sw_p_")) name.remove_prefix(5);
    if (name.starts_with("sw_p")) {
      const auto k = parse_number<std::size_t>(name.substr(4)).value_or(elements.size());
      if (k < elements.size()) name = elements[k];
    }
    message.replace(at, close + end.size() - at, text("argument '", name, "'"));
  }
  return message;
}

Kernel compiled(const CommonSpec& spec, const std::string& source, const std::string& kernel,
                Device device, std::string_view user_code) {
  // The library's templates are C++17.
  std::vector<std::string> options = spec.options;
  for (std::string& option : options)
    for (const std::string_view older : {"c++03", "c++11", "c++14"})
      if (option.ends_with(older)) option.replace(option.size() - 2, 2, "17");
  try {
    return SourceModule(hidden(macros_of(spec)) + source, {.options = options, .device = device})
        .get_function(kernel);
  } catch (const CompileError& error) {
    const std::string name = unknown_name(error.log());
    const std::string remedy =
        name.empty() ? ""
                     : text(" '", name,
                            "' is neither an argument nor known otherwise; declare it "
                            "among the arguments, or define it in preamble=.");
    const std::string shown_code = parse::with_line_numbers(user_code);
    throw CompileError(text(label_of(spec), ": does not compile for ", device, ".", remedy,
                            " The compiler's output:\n", error.log(), '\n', shown_code),
                       error.log(), shown_code);
  }
}

}  // namespace spanwise::kernel_expressions
