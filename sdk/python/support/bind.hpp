// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <string_view>
#include <utility>

/// Registration of the parts of the extension module, without a central list. Each part writes, at
/// namespace scope in its source file,
///
///     SW_BIND(gnumpy_names, bridge_functions) {
///       module.attr("to_garray") = module.attr("to_gnumpy");
///     }
///
/// The names behind the first are the parts that must have run before, here the one that adds
/// to_gnumpy(). The parameter of the body is `pybind11::module_& module`. Module initialisation
/// runs each part after those it names. A name of the module without leading underscore becomes
/// `spanwise.<name>`.
namespace spanwise::python {

using BindFunction = void (*)(pybind11::module_& module);

/// One part of the module; lives as long as the process.
struct ModulePart {
  ModulePart(const char* part_name, std::string_view parts_before, BindFunction function) noexcept
      : name(part_name), after(parts_before), bind(function), next(first) {
    first = this;
  }
  ModulePart(const ModulePart&) = delete;
  ModulePart& operator=(const ModulePart&) = delete;

  std::string_view name;
  std::string_view after;  ///< names, separated by ", "
  BindFunction bind;
  ModulePart* next;
  // Constant-initialised: valid before the constructor of the first ModulePart, in any order of
  // files.
  static inline ModulePart* first = nullptr;
};

/// Wraps a const member function for pybind11's def(). Given the member function itself, pybind11
/// would accept None as the object and call it on a null pointer.
template <class C, class Result, class... Args>
auto member(Result (C::*function)(Args...) const) {
  return [function](const C& self, Args... args) -> Result {
    return (self.*function)(std::forward<Args>(args)...);
  };
}
template <class C, class Result, class... Args>
auto member(Result (C::*function)(Args...) const noexcept) {
  return member(static_cast<Result (C::*)(Args...) const>(function));
}

}  // namespace spanwise::python

#define SW_BIND(name, ...)                                            \
  static void bind_##name(::pybind11::module_& module);               \
  [[maybe_unused]] static ::spanwise::python::ModulePart part_##name{ \
      #name, ::std::string_view(#__VA_ARGS__), &bind_##name};         \
  static void bind_##name([[maybe_unused]] ::pybind11::module_& module)
