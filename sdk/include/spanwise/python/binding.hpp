// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "spanwise/bridge.hpp"
#include "spanwise/core/ref.hpp"
#include "spanwise/python/bridge_kit.hpp"

/// What a pybind11 binding of functions and classes with arrays needs, in the tree or in a module
/// of its own: casters for spanwise::Array, DType, Device, Shape and Ref, functions with CPython's
/// fast calling convention, and the parts of the module spanwise._core. Exceptions of Spanwise
/// become its Python exceptions. Needs the GIL, and the package `spanwise` to be imported.

// Ref is intrusive: several holders may be made from one pointer (the `true` below).
PYBIND11_DECLARE_HOLDER_TYPE(T, spanwise::Ref<T>, true)

namespace spanwise::python {

/// `object` as an Array: a spanwise.Array as it is, any other object through the bridges
/// (sw.asarray). Throws the bridges' errors, or pybind11::error_already_set.
inline Array array_from(pybind11::handle object, const ImportOptions& options = {}) {
  return object_binding().import(object.ptr(), options);
}

/// An argument to which a function writes, such as `out=`. Made from an object alone, by an import
/// that shares its memory: what is written never goes to a copy. Keeps the memory alive.
class OutputArray {
 public:
  /// Messages begin with `caller` and name `argument`, if there is one. Throws SharingError for
  /// memory that only a copy could represent and for numbers and lists, ReadOnlyError, and
  /// BridgeError for objects that are no arrays.
  OutputArray(pybind11::handle object, std::string_view caller, std::string_view argument = {})
      : array_(object_binding().import_output(object.ptr(), caller, argument)) {}
  const Array& array() const noexcept { return array_; }
  operator const Array&() const noexcept { return array_; }
  const Array* operator->() const noexcept { return &array_; }

 private:
  Array array_;
};

// The only places that release or take the GIL. Both classes may be used in threads that outlive
// the interpreter. CPython before 3.14 ends a daemon thread by pthread_exit() if it takes the GIL
// while the interpreter is finalizing; python/support/gil.cpp blocks the thread forever instead,
// without unwinding its stack.

/// Releases the GIL for the lifetime of this object. The calling thread must hold it.
class GilRelease {
 public:
  GilRelease() noexcept : state_(PyEval_SaveThread()) {}
  /// Has no effect if `condition` is false.
  explicit GilRelease(bool condition) noexcept
      : state_(condition ? PyEval_SaveThread() : nullptr) {}
  ~GilRelease() {
    if (state_ == nullptr) return;
    PyEval_RestoreThread(state_);
    object_binding().release_dropped();
  }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

/// f() without the GIL.
template <class F>
auto without_gil(F&& f) {
  const GilRelease unlocked;
  return std::forward<F>(f)();
}

/// f(), without the GIL if `condition`.
template <class F>
auto without_gil(bool condition, F&& f) {
  const GilRelease unlocked(condition);
  return std::forward<F>(f)();
}

/// Holds the GIL for the lifetime of this object. Any thread, also one that holds it already.
class GilAcquire {
 public:
  GilAcquire() noexcept : state_(static_cast<PyGILState_STATE>(object_binding().take_lock())) {}
  ~GilAcquire() { PyGILState_Release(state_); }
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  PyGILState_STATE state_;
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

/// Neither absent nor None.
inline bool given(PyObject* argument) noexcept {
  return argument != nullptr && argument != Py_None;
}

/// bool(argument); `default_value` where it is absent or None.
inline bool truth_or(PyObject* argument, bool default_value) {
  if (!given(argument)) return default_value;
  const int truth = PyObject_IsTrue(argument);
  if (truth < 0) throw pybind11::error_already_set();
  return truth == 1;
}
/// An int, or the result of __index__. Throws TypeError, OverflowError.
inline std::int64_t integer_from(PyObject* argument) {
  // For an exact int __index__ is not called.
  const Py_ssize_t value = PyLong_CheckExact(argument)
                               ? PyLong_AsSsize_t(argument)
                               : PyNumber_AsSsize_t(argument, PyExc_OverflowError);
  if (value == -1 && PyErr_Occurred()) throw pybind11::error_already_set();
  return value;
}
/// The text of a str, valid as long as the object. Throws TypeError for other objects.
inline std::string_view text_in(PyObject* argument) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(argument, &size);
  if (text == nullptr) throw pybind11::error_already_set();
  return {text, static_cast<std::size_t>(size)};
}

/// Sets the Python error for the exception that is being handled, and returns null. For `catch
/// (...)` in slots, which pybind11 does not wrap.
inline PyObject* raise_current() noexcept {
  object_binding().raise_current();
  return nullptr;
}

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

/// A function as PyCFunction, the type that method tables have for all calling conventions. The
/// cast through void (*)() avoids a compiler warning.
template <class Function>
PyCFunction as_c_function(Function* function) noexcept {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

/// An entry of a method table. `doc` opens with "name($self, ...)\n--\n\n".
template <auto function>
PyMethodDef method(const char* name, const char* doc) {
  return {name, as_c_function(guarded<function>), METH_FASTCALL | METH_KEYWORDS, doc};
}

/// Adds a table of functions to the module. It ends with an empty entry and must live as long as
/// the process.
inline void add_functions(pybind11::module_& module, PyMethodDef* functions) {
  if (PyModule_AddFunctions(module.ptr(), functions) < 0) throw pybind11::error_already_set();
}

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

}  // namespace spanwise::python

/// A part of spanwise._core, for sources that are compiled into that module: there is no central
/// list. Each part writes, at namespace scope in its source file,
///
///     SW_BIND(gnumpy_names, bridge_functions) {
///       module.attr("to_garray") = module.attr("to_gnumpy");
///     }
///
/// The names behind the first are the parts that must have run before, here the one that adds
/// to_gnumpy(). The parameter of the body is `pybind11::module_& module`. Module initialisation
/// runs each part after those it names. A name of the module without leading underscore becomes
/// `spanwise.<name>`.
#define SW_BIND(name, ...)                                            \
  static void bind_##name(::pybind11::module_& module);               \
  [[maybe_unused]] static ::spanwise::python::ModulePart part_##name{ \
      #name, ::std::string_view(#__VA_ARGS__), &bind_##name};         \
  static void bind_##name([[maybe_unused]] ::pybind11::module_& module)

namespace pybind11::detail {

/// These casters throw the reason (a BridgeError, a DTypeError, ...) for an unsuitable object
/// instead of returning false. Do not use them in overloaded functions: pybind11 would not try the
/// next one.
template <>
struct type_caster<spanwise::Array> {
  PYBIND11_TYPE_CASTER(spanwise::Array, const_name("spanwise.Array"));
  bool load(handle source, bool convert) {
    if (!convert && spanwise::object_binding().array_in(source.ptr()) == nullptr) return false;
    value = spanwise::python::array_from(source);
    return true;
  }
  static handle cast(const spanwise::Array& array, return_value_policy, handle) {
    return spanwise::python::object_of(array).release();
  }
};

/// The caster of T by two functions of the binding. Derived classes hide `name`.
template <class T, auto from, auto to>
struct converting_caster {
  PYBIND11_TYPE_CASTER(T, const_name(""));
  bool load(handle source, bool) {
    value = (spanwise::object_binding().*from)(source.ptr());
    return true;
  }
  static handle cast(const T& converted, return_value_policy, handle) {
    return spanwise::python::owned((spanwise::object_binding().*to)(converted)).release();
  }
};
template <>
struct type_caster<spanwise::DType>
    : converting_caster<spanwise::DType, &spanwise::ObjectBinding::dtype_from,
                        &spanwise::ObjectBinding::dtype_object> {
  static constexpr auto name = const_name("spanwise.dtype");
};
template <>
struct type_caster<spanwise::Device>
    : converting_caster<spanwise::Device, &spanwise::ObjectBinding::device_from,
                        &spanwise::ObjectBinding::device_object> {
  static constexpr auto name = const_name("spanwise.device");
};
template <>
struct type_caster<spanwise::Shape>
    : converting_caster<spanwise::Shape, &spanwise::ObjectBinding::shape_from,
                        &spanwise::ObjectBinding::shape_object> {
  static constexpr auto name = const_name("tuple[int, ...]");
};

}  // namespace pybind11::detail
