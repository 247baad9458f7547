// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/kernels/kernel_variables.hpp"

#include "parse/lexer.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/interpreter_lock.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise {
namespace {

// Whether the first declaration with the word `name` has __constant__.
bool is_declared_constant(std::string_view source, std::string_view name) {
  bool has_keyword = false;
  for (const parse::Token& token : parse::lex(source)) {
    if (token.text == ";" || token.text == "{" || token.text == "}") has_keyword = false;
    has_keyword |= token.text == "__constant__";
    if (token.text == name) return has_keyword;
  }
  return false;
}

}  // namespace

Array KernelVariables::get(const std::string& owner, const char* place, const std::string& source,
                           const ModuleOptions& options, const std::string& name) {
  const InterpreterUnlocked unlocked;
  const std::lock_guard lock(mutex_);
  for (const Variable& variable : variables_)
    if (variable.name == name && variable.values.device() == options.device) return variable.values;
  // With a kernel that uses the variable, since compilers remove others.
  const std::string with_use =
      text(source, "\nextern \"C\" __global__ void sw_use(const volatile void** p) { *p = &", name,
           "; }");
  try {
    const SourceModule module(with_use, options);
    const bool is_constant = is_declared_constant(source, name.substr(name.rfind(':') + 1));
    variables_.push_back({name, is_constant, copy(module.get_global(name))});
  } catch (const CompileError& error) {
    fail<ArgumentError>(owner,
                        ": get_global: expected the name of a __constant__ or __device__ "
                        "variable of ",
                        place, ", got '", name, "'; declare it there. The compiler's output:\n",
                        error.log());
  }
  any_.store(true, std::memory_order_release);
  return variables_.back().values;
}

void KernelVariables::transfer(const Kernel& kernel, bool to_kernel) {
  const InterpreterUnlocked unlocked;
  const std::lock_guard lock(mutex_);
  for (const Variable& variable : variables_) {
    if (variable.values.device() != kernel.device()) continue;
    try {
      const Array own = kernel.module().get_global(variable.name);
      if (to_kernel)
        copy(variable.values, own);
      else if (!variable.is_constant)
        copy(own, variable.values);
      else  // the next launch on another stream writes `own` after this one
        order_use(Stream::current(kernel.device()), variable.values, true);
    } catch (const ArgumentError&) {
      // The compiler has removed it from a kernel that does not use it.
    }
  }
}

}  // namespace spanwise
