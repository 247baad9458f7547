// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "core/string_utils.hpp"
#include "kernels/arguments/signature.hpp"
#include "op_sdk/kernel_op/declaration.hpp"

// Selects the __global__ function of the source, and maps the arguments to its parameters.
namespace spanwise::op_sdk {
namespace {

using parse::SourceKernel;
using parse::SourceParameter;
using parse::Token;

bool is_view(const SourceParameter& parameter) {
  return parameter.type.find("View") != std::string::npos &&
         parameter.type.find('<') != std::string::npos && !parameter.is_pointer;
}

std::string parameter_list(const SourceKernel& kernel) {
  const auto declaration = [](const SourceParameter& parameter) {
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
  for (const SourceParameter& parameter : kernel.parameters)
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
  Expression expression = Expression::parse(argument, names, where);
  check_bound(expression, "arguments");
  return {KernelArgument::Kind::expression, 0, std::move(expression)};
}

void KernelDeclaration::check_argument(const KernelArgument& argument,
                                       const SourceParameter& parameter,
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
