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

using source::SourceKernel;
using source::SourceParameter;
using source::Token;

bool is_view(const SourceParameter& parameter) {
  return parameter.type.find("View") != std::string::npos &&
         parameter.type.find('<') != std::string::npos && !parameter.is_pointer;
}

std::string kernel_names(const std::vector<SourceKernel>& kernels) {
  return kernels.empty() ? "none" : joined(kernels, ", ", &SourceKernel::name);
}

std::string parameter_list(const SourceKernel& kernel) {
  std::string list = kernel.name + "(";
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
    list += text(i ? ", " : "", kernel.parameters[i].type, " ", kernel.parameters[i].name);
  return list + ")";
}

}  // namespace

std::vector<std::string> template_parameter_names(const std::string& source,
                                                  const SourceKernel& kernel) {
  const std::vector<Token> tokens = source::lex(source);
  std::vector<std::string> names;
  for (const auto parameter : kernels::template_parameters(tokens, kernel)) {
    // This one and all after it have defaults.
    if (std::ranges::find(parameter, "=", &Token::text) != parameter.end()) break;
    names.emplace_back(kernels::template_parameter_name(parameter));
  }
  std::erase(names, "");
  return names;
}

void KernelDeclaration::choose_kernel() {
  const std::vector<SourceKernel> all = source::scan_kernels(spec.source).kernels;
  const auto named = [&](const std::string& name) {
    return std::ranges::find_if(all, [&](const SourceKernel& candidate) {
      return candidate.name == name || candidate.qualified_name == name;
    });
  };
  auto chosen = named(spec.kernel.empty() ? spec.name : spec.kernel);
  if (chosen == all.end() && spec.kernel.empty() && all.size() == 1) chosen = all.begin();
  if (chosen == all.end())
    refuse(": the source has no kernel ", spec.kernel.empty() ? spec.name : spec.kernel,
           "; its kernels are ", kernel_names(all), "; say which with kernel=");
  kernel = *chosen;
}

void KernelDeclaration::read_template_parameters() {
  if (!kernel.is_template) return;
  template_parameters = template_parameter_names(spec.source, kernel);
  for (const std::string& name : template_parameters) {
    bool known = names.find(name) >= 0 && spec.scalars.contains(name);
    for (const DeclaredParameter& input : inputs)
      known = known || (name.size() == 1 && input.dtype_letter == name[0]);
    if (!known)
      refuse(": no input or scalar determines the template parameter ", name, " of ", kernel.name,
             "; declare an input with the dtype letter ", name,
             ", or an integer scalar of that name");
  }
}

void KernelDeclaration::read_arguments() {
  std::vector<std::string> given = spec.arguments.empty() ? default_arguments() : spec.arguments;
  if (given.size() != kernel.parameters.size())
    refuse(": arguments has ", given.size(), " entries; the kernel is ", parameter_list(kernel));
  for (std::size_t i = 0; i < given.size(); ++i) {
    arguments.push_back(read_argument(given[i]));
    check_argument(arguments.back(), kernel.parameters[i], given[i]);
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
           " have declared names; say with arguments= what each gets");
  return by_name;
}

KernelArgument KernelDeclaration::read_argument(const std::string& given) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].name == given) return {KernelArgument::Kind::input, static_cast<int>(i)};
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].name == given) return {KernelArgument::Kind::output, static_cast<int>(i)};
  const auto scalar = spec.scalars.find(given);
  if (scalar != spec.scalars.end()) return {KernelArgument::Kind::scalar, 0, {}, scalar->second};
  const std::string where = text("kernel_op ", spec.name, ", arguments");
  Expression expression = Expression::parse(given, names, where);
  check_bound(expression, "arguments");
  return {KernelArgument::Kind::expression, 0, std::move(expression)};
}

void KernelDeclaration::check_argument(const KernelArgument& argument,
                                       const SourceParameter& parameter,
                                       const std::string& given) const {
  const std::string caller =
      text("kernel_op ", spec.name, ": ", given, " is passed to parameter \"", parameter.type, " ",
           parameter.name, "\" of ", kernel.name);
  const bool is_array =
      argument.kind == KernelArgument::Kind::input || argument.kind == KernelArgument::Kind::output;
  if (!is_array) {
    if (parameter.is_pointer || is_view(parameter))
      fail<ArgumentError>(caller, "; expected an input or an output there");
    return;
  }
  const auto& all = argument.kind == KernelArgument::Kind::input ? inputs : outputs;
  const DeclaredParameter& declared = all[static_cast<std::size_t>(argument.index)];
  if (declared.strided) {
    if (parameter.is_pointer)
      fail<ArgumentError>(caller,
                          "; a strided array needs a parameter "
                          "spanwise::View<T, N>: a pointer cannot carry strides; change the "
                          "parameter, or declare the array contiguous");
  } else {
    if (is_view(parameter)) fail<ArgumentError>(caller, "; declare the array strided");
  }
  // A non-pointer of known dtype is a number; types from headers are unknown here.
  if (!parameter.is_pointer && parameter.dtype)
    fail<ArgumentError>(caller, "; expected a pointer or a spanwise::View");
  if (argument.kind != KernelArgument::Kind::input && parameter.is_const)
    fail<ArgumentError>(caller, ", which is const; an output is written");
  const bool both_known = declared.dtype && parameter.dtype && parameter.is_pointer;
  if (both_known && *declared.dtype != *parameter.dtype)
    fail<ArgumentError>(caller, "; the array is declared ", *declared.dtype,
                        ", the parameter points to ", *parameter.dtype);
}

}  // namespace spanwise::op_sdk
