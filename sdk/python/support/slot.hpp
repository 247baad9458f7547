// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <type_traits>

#include "array.hpp"

namespace spanwise::python {

namespace detail {
template <auto function, class Signature = decltype(function)>
struct Guarded;
template <auto function, class Result, class... Arguments>
struct Guarded<function, Result (*)(Arguments...)> {
  static constexpr bool is_object = std::is_base_of_v<pybind11::object, Result>;
  using Returned = std::conditional_t<is_object || std::is_void_v<Result>, PyObject*, Result>;

  static Returned call(Arguments... arguments) noexcept {
    try {
      if constexpr (is_object)
        return function(arguments...).release().ptr();
      else if constexpr (std::is_void_v<Result>)
        return function(arguments...), Py_NewRef(Py_None);
      else
        return function(arguments...);
    } catch (...) {
      raise_current();
      if constexpr (std::is_pointer_v<Returned>)
        return nullptr;
      else
        return -1;
    }
  }
};
// Adapts get(self) to a getter or a METH_NOARGS method, which get a second, unused argument.
template <auto get, class Unused>
auto result_of(PyObject* self, Unused*) {
  return get(self);
}

}  // namespace detail

/// `function` for CPython, as a slot, getter, setter or method: exceptions become a null result, or
/// -1, with a Python error. A pybind11 object becomes a new reference, no result None.
template <auto function>
inline constexpr auto guarded = &detail::Guarded<function>::call;

/// A slot of a type that CPython makes from a PyType_Spec.
template <class F>
PyType_Slot slot(int id, F* function) {
  return {id, reinterpret_cast<void*>(function)};
}

}  // namespace spanwise::python
