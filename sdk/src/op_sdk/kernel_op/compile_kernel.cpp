// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "core/string_utils.hpp"
#include "op_sdk/kernel_op/kernel_op.hpp"

namespace spanwise::op_sdk {
namespace {

std::string template_arguments(const KernelDeclaration& declaration, const TypeBindings& bindings) {
  return joined(declaration.template_parameters, ", ", [&](const std::string& name) {
    const auto scalar = declaration.spec.scalars.find(name);
    return scalar != declaration.spec.scalars.end()
               ? text(scalar->second)
               : c_type(bindings.at(name[0]), declaration.spec.name).name;
  });
}

// Defines dtype letters as type aliases, not macros: headers use the same letters for template
// parameters, which may shadow a type but would be replaced by a macro.
std::string with_letters(const KernelDeclaration& declaration, const TypeBindings& bindings) {
  std::string includes, types;
  for (const auto& [letter, dtype] : bindings) {
    const CType type = c_type(dtype, declaration.spec.name);
    if (!type.header.empty()) includes += text("#include <", type.header, ">\n");
    types += text("using ", letter, " = ", type.name, ";\n");
  }
  if (types.empty()) return declaration.spec.source;
  return includes + types + "#line 1\n" + declaration.spec.source;
}

// Checks pointee types that were unknown before the dtype letters were bound.
void check_pointees(const KernelDeclaration& declaration, const TypeBindings& bindings,
                    std::span<const KernelParameter> parameters) {
  for (std::size_t i = 0; i < declaration.arguments.size() && i < parameters.size(); ++i) {
    const DeclaredParameter* declared = declaration.parameter_of(declaration.arguments[i]);
    if (declared == nullptr) continue;
    const DType dtype = dtype_of(*declared, bindings);
    const KernelParameter& parameter = parameters[i];
    const bool is_wrong = parameter.is_pointer && parameter.dtype && *parameter.dtype != dtype;
    if (is_wrong)
      fail<GraphError>(declaration.spec.name, ": ", declared->name, " is ", dtype,
                       ", but parameter \"", parameter.type, " ", parameter.name,
                       "\" of the kernel points to another type; write it with the dtype letter");
  }
}

}  // namespace

Kernel compile_kernel(const KernelDeclaration& declaration, const TypeBindings& bindings,
                      Device device) {
  ModuleOptions options = declaration.spec.options;
  options.device = device;
  std::string kernel_name = declaration.kernel.qualified_name;
  if (!declaration.template_parameters.empty()) {
    kernel_name += text("<", template_arguments(declaration, bindings), ">");
    options.names.push_back(kernel_name);
  }
  const SourceModule module(with_letters(declaration, bindings), std::move(options));
  Kernel kernel = module.get_function(kernel_name);
  check_pointees(declaration, bindings, kernel.parameters());
  return kernel;
}

}  // namespace spanwise::op_sdk
