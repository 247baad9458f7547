// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <utility>

/// How the parts of the extension module find their way into it without a central list: each part
/// says, at namespace scope in a source file of its own,
///
///     SW_BIND(streams, 30) {
///       pybind11::class_<Stream>(module, "Stream") ...
///     }
///
/// The body gets `pybind11::module_& module`. Parts run in ascending order: errors 0, dtypes 10,
/// devices 20, streams 30, config 40, arrays 50, bridges 60, kernels 70, graph 80; leave room
/// between. A public name (no leading underscore) of the module becomes `spanwise.<name>`.
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
  // Constant-initialised, so it is there before the first part, whatever the order of the files.
  static inline Part* first = nullptr;
};

/// A member function for pybind11's def(), which by itself would take None for the object and call
/// the function on a null pointer.
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
