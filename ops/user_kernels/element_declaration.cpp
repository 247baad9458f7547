// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "parameter.hpp"

#include <utility>

#include "expression_text.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::ops::user_kernels {
namespace {

[[noreturn]] void refuse_use(const std::string& label, const std::string& name) {
  fail<ArgumentError>(label, ": an element body reads its own elements only, and uses ", name,
                      "; use sw.ElementwiseKernel, or a kernel with __global__");
}

void check_body(const std::string& label, const std::string& operation,
                const std::vector<Parameter>& parameters) {
  for (const char* name :
       {"_ind", "threadIdx", "blockIdx", "blockDim", "gridDim", "__shared__", "__syncthreads"})
    if (has_token(operation, name)) refuse_use(label, name);
  if (has_token(operation, "i") && !declares_index(operation)) refuse_use(label, "the index i");
  for (const Parameter& parameter : parameters) {
    if (parameter.kind == Parameter::Kind::raw)
      refuse_use(label, text("the whole array ", parameter.name));
    if (parameter.is_user_type())
      fail<ArgumentError>(label, ": ", parameter.name, " is of type ", parameter.type,
                          "; expected a dtype or a letter that stands for one");
  }
}

// The operation with x for each x[i].
std::string without_index(std::string operation, const std::vector<std::string>& names) {
  operation = replace_element_accesses(operation, names);
  for (const std::string& name : names) {
    const std::string access = text("(*sw_at_", name, ")");
    for (std::size_t start = 0; (start = operation.find(access, start)) != operation.npos;
         start += name.size())
      operation.replace(start, access.size(), name);
  }
  return operation;
}

// PyCUDA's: "float *z, float *x, float a" with z[i] in the operation.
std::vector<Parameter> pointer_elements(const std::string& label, const std::string& declared,
                                        const std::string& preamble, std::string& operation) {
  std::vector<Parameter> parameters = pointer_parameters(label, declared, preamble);
  find_elements(operation, false, parameters);
  for (const Parameter& parameter : parameters)
    if (parameter.kind == Parameter::Kind::element && parameter.needs_whole_array)
      refuse_use(label, text("other elements of ", parameter.name));
  operation = without_index(operation, element_names(parameters));
  return parameters;
}

}  // namespace

ElementDeclaration element_declaration(const std::string& label, const std::string& inputs,
                                       const std::string& outputs, std::string operation,
                                       const std::string& preamble) {
  std::vector<Parameter> parameters = outputs.empty()
                                          ? pointer_elements(label, inputs, preamble, operation)
                                          : value_parameters(label, inputs, outputs);
  check_names(label, parameters);
  check_body(label, operation, parameters);
  ElementDeclaration declared;
  declared.operation = std::move(operation);
  for (Parameter& parameter : parameters)
    (parameter.is_output ? declared.outputs : declared.inputs).push_back(std::move(parameter));
  return declared;
}

}  // namespace spanwise::ops::user_kernels
