// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernel_text.hpp"

#include "embedded/user_kernel_text.hpp"
#include "expression_text.hpp"
#include "spanwise/error.hpp"
#include "spanwise/source/token.hpp"
#include "type_names.hpp"

namespace spanwise::ops::user_kernels {
namespace {

bool is_identifier(std::string_view text) {
  const std::vector<source::Token> tokens = source::lex(text);
  return tokens.size() == 1 && tokens[0].kind == source::Token::Kind::identifier &&
         tokens[0].text == text;
}

std::string_view library_text(std::string_view name) {
  return embedded::file_text(embedded::user_kernel_text, name);
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
    const std::size_t found = log.find(before);
    if (found == std::string_view::npos) continue;
    const std::string_view rest = log.substr(found + before.size());
    const std::string_view name = rest.substr(0, rest.find(after));
    if (is_identifier(name)) return std::string(name);
  }
  return "";
}

}  // namespace

std::string label_of(const CommonSpec& spec) { return text(spec.kind, " '", spec.name, "'"); }

std::string checked_label(const CommonSpec& spec) {
  std::string label = label_of(spec);
  if (!is_identifier(spec.name))
    fail<ArgumentError>(label, ": expected a name that C++ allows for a function, got '", spec.name,
                        "'; use letters, digits and _");
  return label;
}

OperandForm raw_form(const ConvertedArgument& operand) {
  OperandForm form;
  form.dtype = operand.dtype;
  if (operand.array == nullptr) {
    form.access = OperandForm::Access::value;
    return form;
  }
  const bool is_dense = operand.array->layout().is_row_major();
  form.access = is_dense ? OperandForm::Access::dense : OperandForm::Access::strided;
  form.rank = static_cast<std::uint8_t>(std::max(1, operand.array->rank()));
  return form;
}

OperandForm element_form(const ConvertedArgument& operand, const Walk* walk, int index) {
  OperandForm form;
  form.dtype = operand.dtype;
  form.access = OperandForm::Access::element;
  form.step = 1;
  if (walk != nullptr) {
    const std::int64_t step = walk->stride(walk->rank() - 1, index);
    form.step = step == 0 ? 0 : step == 1 ? 1 : 2;
  }
  return form;
}

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
  if (has_half || types.find("__half") != std::string::npos) out += "#include <cuda_fp16.h>\n";
  if (has_bfloat16 || types.find("__nv_bfloat16") != std::string::npos)
    out += "#include <cuda_bf16.h>\n";
  if (has_complex) out += library_text("complex_numbers.cuh");
  out += library_text("raw.cuh");
  // The preamble may use type parameters, and types of operands may be defined in it.
  out += type_parameter_typedefs(operands);
  out += with_line_directives(text("preamble of ", spec.name), spec.preamble);
  return out + types;
}

std::string with_line_directives(const std::string& label, const std::string& body) {
  if (body.empty()) return "";
  return text("\n#line 1 \"", label, "\"\n", body, "\n#line 1 \"made by Spanwise\"\n");
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

std::string walk_struct(const std::string& name, int rank, int count) {
  std::string members = text("long long shape[", rank, "]");
  for (int k = 0; k < count; ++k) members += text(", s", k, "[", rank, "]");
  return text("struct ", name, " { ", members, "; };\n");
}

std::string offset_text(const std::string& walk, int rank, int k) {
  std::string sum;
  for (int axis = 0; axis < rank; ++axis)
    sum += text(axis > 0 ? " + " : "", "sw_at[", axis, "] * ", walk, ".s", k, "[", axis, "]");
  return sum;
}

std::string loop_over_runs(const std::string& walk, int rank, const std::string& row) {
  const int last = rank - 1;
  const std::string extent = walk + ".shape[sw_axis]";
  return text(
      "  long long sw_at[", rank, "], sw_rest = sw_first;\n", "  for (int sw_axis = ", last,
      "; sw_axis >= 0; --sw_axis) {\n", "    sw_at[sw_axis] = sw_axis > 0 ? sw_rest % ", extent,
      " : sw_rest;\n    if (sw_axis > 0) sw_rest /= ", extent, ";\n  }\n",
      "  for (long long sw_left = sw_last - sw_first; sw_left > 0;) {\n",
      "    const long long sw_room = ", walk, ".shape[", last, "] - sw_at[", last, "];\n",
      "    const long long sw_run = sw_room < sw_left ? sw_room : sw_left;\n", row,
      "    sw_left -= sw_run;\n    sw_at[", last, "] += sw_run;\n", "    for (int sw_axis = ", last,
      "; sw_axis > 0 && sw_at[sw_axis] == ", extent,
      "; --sw_axis) {\n      sw_at[sw_axis] = 0;\n      ++sw_at[sw_axis - 1];\n    }\n  }\n");
}

KernelArg PackedNumbers::argument(std::size_t first) const {
  return KernelArg::bytes(std::as_bytes(std::span(numbers_).subspan(first)));
}

KernelArg PackedNumbers::raw(const Array& array, const Layout& layout) {
  const std::size_t first = numbers_.size();
  numbers_.push_back(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(array.data())));
  for (const std::int64_t extent : layout.shape) numbers_.push_back(extent);
  if (layout.rank() == 0) numbers_.push_back(1);
  for (const std::int64_t step : layout.strides) numbers_.push_back(step);
  if (layout.rank() == 0) numbers_.push_back(1);
  return argument(first);
}

KernelArg PackedNumbers::walk(const Walk& walk) {
  const std::size_t first = numbers_.size();
  for (int axis = 0; axis < walk.rank(); ++axis) numbers_.push_back(walk.extent(axis));
  for (int operand = 0; operand < walk.operands(); ++operand)
    for (int axis = 0; axis < walk.rank(); ++axis) numbers_.push_back(walk.stride(axis, operand));
  return argument(first);
}

KernelArg address_of(const Array& array) {
  return KernelArg::address(reinterpret_cast<std::uintptr_t>(array.data()));
}

namespace {

KernelArg value_of(const ConvertedArgument& operand) {
  if (!operand.bytes.empty()) return KernelArg::bytes(operand.bytes);
  return KernelArg::bytes(std::span(static_cast<const std::byte*>(operand.number.data()),
                                    static_cast<std::size_t>(operand.dtype.itemsize())));
}

// Numbers of an array as a whole.
std::size_t numbers_of(const Array& array, const Shape* whole) {
  const int rank = std::max(array.rank(), whole != nullptr ? whole->size() : 0);
  return 3 + 2 * static_cast<std::size_t>(rank);
}

bool is_used_as_whole(const ConvertedArgument& operand, const Shape* whole) {
  return whole != nullptr && operand.is_element() && operand.parameter->needs_whole_array;
}

}  // namespace

bool is_pointer(const OperandForm& form, bool wants_pointer) noexcept {
  return form.access == OperandForm::Access::element ||
         (form.access == OperandForm::Access::dense && wants_pointer);
}

void add_operands(const Operands& operands, const OperandForms& forms, bool wants_pointer,
                  const Shape* whole, std::span<const Walk* const> walks,
                  std::vector<KernelArg>& arguments, PackedNumbers& numbers) {
  std::size_t count = 0;
  for (const ConvertedArgument& operand : operands.all())
    if (operand.is_raw() || is_used_as_whole(operand, whole))
      count += numbers_of(*operand.array, whole);
  for (const Walk* walk : walks)
    count +=
        static_cast<std::size_t>(walk->rank()) * static_cast<std::size_t>(1 + walk->operands());
  numbers.reserve(count);
  for (std::size_t i = 0; i < forms.count; ++i) {
    const ConvertedArgument& operand = operands[i];
    if (forms[i].access == OperandForm::Access::value)
      arguments.push_back(value_of(operand));
    else if (is_pointer(forms[i], wants_pointer))
      arguments.push_back(address_of(*operand.array));
    else
      arguments.push_back(numbers.raw(*operand.array, operand.array->layout()));
  }
  for (const ConvertedArgument& operand : operands.all())
    if (is_used_as_whole(operand, whole))
      arguments.push_back(
          numbers.raw(*operand.array, operand.array->layout().broadcast_to(*whole)));
  for (const Walk* walk : walks) arguments.push_back(numbers.walk(*walk));
}

Kernel compiled(const CommonSpec& spec, const std::string& source, const std::string& kernel,
                Device device, std::string_view user_code) {
  ModuleOptions options;
  options.options = spec.options;
  options.device = device;
  try {
    return SourceModule(source, options).get_function(kernel);
  } catch (const CompileError& error) {
    const std::string name = unknown_name(error.log());
    const std::string remedy =
        name.empty() ? ""
                     : text(" '", name,
                            "' is neither an argument nor known otherwise; declare it "
                            "among the arguments, or define it in preamble=.");
    const std::string shown_code = source::with_line_numbers(user_code);
    throw CompileError(text(label_of(spec), ": does not compile for ", device, ".", remedy,
                            " The compiler's output:\n", error.log(), '\n', shown_code),
                       error.log(), shown_code);
  }
}

}  // namespace spanwise::ops::user_kernels
