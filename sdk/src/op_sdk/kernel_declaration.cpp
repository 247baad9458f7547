// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "op_sdk/kernel_declaration.hpp"

#include <cctype>
#include <set>
#include <utility>

#include "core/string_utils.hpp"
#include "kernels/signature.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/parse/c_text.hpp"

namespace spanwise::op_sdk {

using parse::ParameterDeclaration;
using parse::SourceKernel;
using parse::Token;

namespace {

constexpr std::string_view grammar =
    "expected \"name: layout dtype[extents]\", for example \"image: strided uint8[h, w, 3]\", "
    "where layout is contiguous or strided";

// Splits at commas outside parentheses.
std::vector<std::string_view> split_extents(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int nesting = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++nesting;
    if (i < text.size() && text[i] == ')') --nesting;
    if (i < text.size() && (text[i] != ',' || nesting > 0)) continue;
    parts.push_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (parts.back().empty()) parts.pop_back();  // "[]" and "[n,]"
  return parts;
}

}  // namespace

DeclaredParameter DeclaredParameter::parse(std::string_view declaration, Names& names,
                                           const std::string& where) {
  const std::string caller = text(where, ": in \"", declaration, "\"");
  const auto expect = [&](bool condition, const auto&... problem) {
    if (!condition) fail<ArgumentError>(caller, ": ", problem...);
  };
  // In extents "//" is a division, not a comment, so only the text before them has tokens of C.
  declaration = trimmed(declaration);
  const std::size_t open = declaration.find('[');
  const std::string_view head = declaration.substr(0, open);
  expect(head.find(':') != head.npos, grammar);
  const ParameterDeclaration declared =
      parse::parse_parameter(parse::lex(head), parse::Dialect::kernel_op);
  expect(is_identifier(declared.name), "\"", declared.name, "\" is no name; ", grammar);
  expect(declared.layout == "contiguous" || declared.layout == "strided", "unknown layout \"",
         declared.layout, "\"; ", grammar);
  expect(open == declaration.npos || declaration.ends_with(']'), "\"[\" without \"]\" at the end; ",
         grammar);
  DeclaredParameter parameter{.name = declared.name, .strided = declared.layout == "strided"};
  const std::string& dtype = declared.type;
  if (dtype.size() == 1 && std::isupper(static_cast<unsigned char>(dtype[0]))) {
    parameter.dtype_letter = dtype[0];
  } else {
    expect(is_identifier(dtype), "\"", dtype, "\" is no dtype; ", grammar);
    parameter.dtype = DType::parse(dtype);
  }
  if (open != declaration.npos)
    for (const auto extent :
         split_extents(declaration.substr(open + 1, declaration.size() - open - 2)))
      parameter.extents.push_back(ExtentExpression::parse(extent, names, caller));
  expect(!parameter.strided || parameter.rank() > 0,
         "a strided parameter has at least one axis; declare it contiguous, as a pointer");
  return parameter;
}

CType c_type(DType dtype, const std::string& where) {
  // Types with other names than in the library's own kernels, which element_text() has.
  static const std::vector<std::pair<DType, CType>> types{
      {bool_, {"bool", ""}},
      {float16, {"__half", "cuda_fp16.h"}},
      {bfloat16, {"__nv_bfloat16", "cuda_bf16.h"}},
      {complex64, {"spanwise::complex<float>", "spanwise/complex.cuh"}},
      {complex128, {"spanwise::complex<double>", "spanwise/complex.cuh"}},
  };
  for (const auto& [known, type] : types)
    if (known == dtype) return type;
  if (dtype.is_computable()) return {element_text(dtype), ""};
  fail<ArgumentError>(where, ": no C type for dtype ", dtype);
}

KernelDeclaration::KernelDeclaration(KernelOpSpec op_spec) : spec(std::move(op_spec)) {
  if (spec.name.empty()) fail<ArgumentError>("kernel_op: expected a name for the op");
  read_scalars();
  read_parameters();
  check_unique_names();
  sort_axes();
  check_letters();
  read_overwrites();
  choose_kernel();
  read_template_parameters();
  read_arguments();
  read_launch();
}

void KernelDeclaration::read_scalars() {
  for (const auto& [name, value] : spec.scalars) {
    if (!value.dtype().is_integer()) continue;
    names.add(name);
    preset.push_back(value.as_int64());
  }
}

void KernelDeclaration::read_parameters() {
  const auto read = [&](const std::vector<std::string>& declarations, const char* field) {
    std::vector<DeclaredParameter> parameters;
    parameters.reserve(declarations.size());
    for (const std::string& declaration : declarations)
      parameters.push_back(
          DeclaredParameter::parse(declaration, names, text("kernel_op ", spec.name, ", ", field)));
    return parameters;
  };
  inputs = read(spec.inputs, "inputs");
  outputs = read(spec.outputs, "outputs");
  if (outputs.empty()) refuse(": expected at least one output");
  preset.resize(static_cast<std::size_t>(names.size()), 0);
}

void KernelDeclaration::check_unique_names() const {
  std::set<std::string> taken;
  const auto take = [&](const std::string& name) {
    if (!taken.insert(name).second)
      refuse(": the name ", name,
             " is used twice; inputs, outputs and scalars need different names");
    if (names.find(name) >= 0 && !spec.scalars.contains(name))
      refuse(": ", name, " is both an array and an extent");
  };
  for (const DeclaredParameter& input : inputs) take(input.name);
  for (const DeclaredParameter& output : outputs) take(output.name);
  for (const auto& [name, value] : spec.scalars) take(name);
}

// The first extent that is a single name binds it; all others are checked.
void KernelDeclaration::sort_axes() {
  std::set<int> bound;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (int axis = 0; axis < inputs[i].rank(); ++axis) {
      const ExtentExpression& extent = inputs[i].extents[static_cast<std::size_t>(axis)];
      const int name = extent.lone_name();
      const bool binds = name >= 0 && !is_preset(name) && bound.insert(name).second;
      (binds ? binding : checked)
          .push_back({static_cast<int>(i), axis, &extent, binds ? name : -1});
    }
  }
  for (const BoundAxis& axis : checked)
    check_bound(*axis.expression, inputs[static_cast<std::size_t>(axis.input)].name);
  for (const DeclaredParameter& output : outputs)
    for (const ExtentExpression& extent : output.extents) check_bound(extent, output.name);
}

void KernelDeclaration::check_bound(const ExtentExpression& expression,
                                    const std::string& where) const {
  for (const int name : expression.names()) {
    const bool is_bound = std::ranges::find(binding, name, &BoundAxis::name) != binding.end();
    if (!is_bound && !is_preset(name))
      refuse(", ", where, ": \"", names[name], "\" in \"", expression.text(),
             "\" has no value; expected an extent that is declared by itself on an "
             "axis of an input, or an integer scalar");
  }
}

void KernelDeclaration::check_letters() const {
  for (const DeclaredParameter& output : outputs)
    if (output.dtype_letter != 0 && !has_input_of(output.dtype_letter))
      refuse(", ", output.name, ": no input has the dtype ", output.dtype_letter,
             "; name a dtype, such as float32");
}

void KernelDeclaration::read_overwrites() {
  const auto index_of = [&](const std::vector<DeclaredParameter>& parameters,
                            const std::string& name, const char* kind) {
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i].name == name) return static_cast<int>(i);
    refuse(", overwrites: expected the name of an ", kind, ", got ", name);
  };
  std::set<int> taken;
  for (const auto& [output, input] : spec.overwrites) {
    const int to = index_of(outputs, output, "output"), from = index_of(inputs, input, "input");
    if (!taken.insert(from).second)
      refuse(", overwrites: two outputs are computed in the memory of ", input, "; expected one");
    const DeclaredParameter &written = outputs[static_cast<std::size_t>(to)],
                            &overwritten = inputs[static_cast<std::size_t>(from)];
    const bool same_extents = std::ranges::equal(written.extents, overwritten.extents, {},
                                                 &ExtentExpression::text, &ExtentExpression::text);
    if (written.strided != overwritten.strided || written.dtype != overwritten.dtype ||
        written.dtype_letter != overwritten.dtype_letter || !same_extents)
      refuse(", overwrites: ", output, " and ", input,
             " are not declared alike; expected one layout, dtype and shape");
    overwrites[to].push_back(from);
  }
}

void KernelDeclaration::read_launch() {
  block = read_extents(spec.block, "block");
  grid = read_extents(spec.grid, "grid");
  if (block.empty()) refuse(": expected a block of 1 to 3 extents, got none");
  const std::string where = text("kernel_op ", spec.name, ", shared");
  shared = ExtentExpression::parse(spec.shared, names, where);
  check_bound(shared, "shared");
}

std::vector<ExtentExpression> KernelDeclaration::read_extents(const std::vector<std::string>& texts,
                                                              const char* field) {
  if (texts.size() > 3) refuse(": ", field, " has ", texts.size(), " extents; expected at most 3");
  std::vector<ExtentExpression> extents;
  for (const std::string& extent : texts) {
    extents.push_back(
        ExtentExpression::parse(extent, names, text("kernel_op ", spec.name, ", ", field)));
    check_bound(extents.back(), field);
  }
  return extents;
}

// The choice of the __global__ function of the source, and of the argument for each parameter.

namespace {

bool is_view(const ParameterDeclaration& parameter) {
  return parameter.type.find("View") != std::string::npos &&
         parameter.type.find('<') != std::string::npos && !parameter.is_pointer;
}

std::string parameter_list(const SourceKernel& kernel) {
  const auto declaration = [](const ParameterDeclaration& parameter) {
    return text(parameter.type, ' ', parameter.name);
  };
  return text(kernel.name, '(', joined(kernel.parameters, ", ", declaration), ')');
}

}  // namespace

std::vector<std::string> template_parameter_names(const std::string& source,
                                                  const SourceKernel& kernel) {
  const std::vector<Token> tokens = parse::lex(source);
  std::vector<std::string> names;
  for (const auto parameter : kernels::template_parameters(tokens, kernel)) {
    // This parameter has a default, and so has each after it.
    if (std::ranges::find(parameter, "=", &Token::text) != parameter.end()) break;
    names.emplace_back(kernels::template_parameter_name(parameter));
  }
  std::erase(names, "");
  return names;
}

void KernelDeclaration::choose_kernel() {
  const std::vector<SourceKernel> all = parse::scan_kernels(spec.source).kernels;
  const std::string& name = spec.kernel.empty() ? spec.name : spec.kernel;
  auto chosen = std::ranges::find_if(all, [&](const SourceKernel& candidate) {
    return candidate.name == name || candidate.qualified_name == name;
  });
  if (chosen == all.end() && spec.kernel.empty() && all.size() == 1) chosen = all.begin();
  if (chosen == all.end())
    refuse(": the source has no kernel ", name, "; its kernels are ",
           all.empty() ? "none" : joined(all, ", ", &SourceKernel::name),
           "; pass the name of one as kernel=");
  kernel = *chosen;
}

void KernelDeclaration::read_template_parameters() {
  if (!kernel.is_template) return;
  template_parameters = template_parameter_names(spec.source, kernel);
  for (const std::string& name : template_parameters) {
    const bool is_scalar = names.find(name) >= 0 && spec.scalars.contains(name);
    if (!is_scalar && (name.size() != 1 || !has_input_of(name[0])))
      refuse(": no input or scalar determines the template parameter ", name, " of ", kernel.name,
             "; declare an input with the dtype letter ", name,
             ", or an integer scalar of that name");
  }
}

void KernelDeclaration::read_arguments() {
  const std::vector<std::string> texts =
      spec.arguments.empty() ? default_arguments() : spec.arguments;
  if (texts.size() != kernel.parameters.size())
    refuse(": arguments has ", texts.size(), " entries; the kernel is ", parameter_list(kernel));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    arguments.push_back(read_argument(texts[i]));
    check_argument(arguments.back(), kernel.parameters[i], texts[i]);
  }
}

// The kernel's parameter names if all of them are declared names; if none is, the default order of
// KernelOpSpec::arguments.
std::vector<std::string> KernelDeclaration::default_arguments() const {
  std::vector<std::string> in_order, by_name;
  for (const DeclaredParameter& input : inputs) in_order.push_back(input.name);
  for (const DeclaredParameter& output : outputs) in_order.push_back(output.name);
  for (int i = 0; i < names.size(); ++i)
    if (!is_preset(i)) in_order.push_back(names[i]);
  const auto is_declared = [&](const std::string& name) {
    return spec.scalars.contains(name) || std::ranges::find(in_order, name) != in_order.end();
  };
  for (const ParameterDeclaration& parameter : kernel.parameters)
    if (is_declared(parameter.name)) by_name.push_back(parameter.name);
  if (by_name.empty()) return in_order;
  if (by_name.size() != kernel.parameters.size())
    refuse(": only some parameters of ", parameter_list(kernel),
           " have declared names; list the argument of each in arguments=");
  return by_name;
}

KernelArgument KernelDeclaration::read_argument(const std::string& argument) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].name == argument) return {KernelArgument::Kind::input, static_cast<int>(i)};
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].name == argument) return {KernelArgument::Kind::output, static_cast<int>(i)};
  const auto scalar = spec.scalars.find(argument);
  if (scalar != spec.scalars.end()) return {KernelArgument::Kind::scalar, 0, {}, scalar->second};
  const std::string where = text("kernel_op ", spec.name, ", arguments");
  ExtentExpression expression = ExtentExpression::parse(argument, names, where);
  check_bound(expression, "arguments");
  return {KernelArgument::Kind::expression, 0, std::move(expression)};
}

void KernelDeclaration::check_argument(const KernelArgument& argument,
                                       const ParameterDeclaration& parameter,
                                       const std::string& argument_text) const {
  const std::string caller =
      text("kernel_op ", spec.name, ": ", argument_text, " is passed to parameter \"",
           parameter.type, " ", parameter.name, "\" of ", kernel.name);
  const DeclaredParameter* declared = parameter_of(argument);
  if (declared == nullptr) {
    if (parameter.is_pointer || is_view(parameter))
      fail<ArgumentError>(caller, "; expected an input or an output there");
    return;
  }
  if (declared->strided && parameter.is_pointer)
    fail<ArgumentError>(caller,
                        "; a strided array needs a parameter "
                        "spanwise::View<T, N>: a pointer cannot carry strides; change the "
                        "parameter, or declare the array contiguous");
  if (!declared->strided && is_view(parameter))
    fail<ArgumentError>(caller, "; declare the array strided");
  // A non-pointer of known dtype is a number; types from headers are unknown here.
  if (!parameter.is_pointer && parameter.dtype)
    fail<ArgumentError>(caller, "; expected a pointer or a spanwise::View");
  if (argument.kind != KernelArgument::Kind::input && parameter.is_const)
    fail<ArgumentError>(caller, ", which is const; an output is written");
  const bool are_known = declared->dtype && parameter.dtype && parameter.is_pointer;
  if (are_known && *declared->dtype != *parameter.dtype)
    fail<ArgumentError>(caller, "; the array is declared ", *declared->dtype,
                        ", the parameter points to ", *parameter.dtype);
}

}  // namespace spanwise::op_sdk
