// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/module_cache.hpp"
#include "kernels/module_state.hpp"
#include "spanwise/kernel.hpp"

namespace spanwise {
namespace {

kernels::ModuleState& module_in(const Ref<RefCounted>& state) noexcept {
  return static_cast<kernels::ModuleState&>(*state);
}

}  // namespace

SourceModule::SourceModule(std::string_view source, ModuleOptions options)
    : state_(kernels::find_or_build(source, options)) {}

Function SourceModule::get_function(std::string_view name) const {
  return Function(
      make_ref<kernels::FunctionState>(Ref<kernels::ModuleState>(&module_in(state_)), name));
}

Array SourceModule::get_global(std::string_view name) const {
  return kernels::global_variable(Ref<kernels::ModuleState>(&module_in(state_)), name);
}

std::vector<std::string> SourceModule::function_names() const {
  return module_in(state_).function_names();
}

Device SourceModule::device() const noexcept { return module_in(state_).device(); }

bool SourceModule::from_cache() const noexcept { return module_in(state_).from_cache(); }

}  // namespace spanwise
