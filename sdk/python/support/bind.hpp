// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <utility>

/// Registration of the parts of the extension module, without a central list. Each part writes, at
/// namespace scope in its source file,
///
///     SW_BIND(streams, 30) {
///       pybind11::class_<Stream>(module, "Stream") ...
///     }
///
/// The parameter of the body is `pybind11::module_& module`. Module initialisation runs the parts
/// in ascending order: errors 0, dtypes 10, devices 20, streams 30, config 40, arrays 50, bridges
/// 60, kernels 70, graph 80. A name of the module without leading underscore becomes
/// `spanwise.<name>`.
namespace spanwise::python {

using BindFunction = void (*)(pybind11::module_& module);

/// One part of the module; lives as long as the process.
struct Part {
  Part(const char* part_name, int part_order, BindFunction function) noexcept
      : name(part_name), order(part_order), bind(function), next(first) {
    first = this;
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  const char* name;
  int order;
  BindFunction bind;
  Part* next;
  // Constant-initialised: valid before the constructor of the first Part, in any order of files.
  static inline Part* first = nullptr;
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

#define SW_BIND(name, order)                                                                \
  static void bind_##name(::pybind11::module_& module);                                     \
  [[maybe_unused]] static ::spanwise::python::Part part_##name{#name, order, &bind_##name}; \
  static void bind_##name([[maybe_unused]] ::pybind11::module_& module)
