// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spanwise/core/dtype.hpp"
#include "spanwise/core/scalar.hpp"
#include "spanwise/python/bridge_kit.hpp"

/// Numbers, tuples, dicts and strings of Python as values of C++.
namespace spanwise::python {

/// Calls `use(word)` for each word of a text whose words are separated by single spaces.
template <class Use>
void for_each_word(std::string_view text, Use&& use) {
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    use(word);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
}

/// A tuple of the integers, each multiplied by `factor`: 1 for a shape, the itemsize for strides in
/// bytes.
inline pybind11::tuple integer_tuple(std::span<const std::int64_t> values,
                                     std::int64_t factor = 1) {
  pybind11::tuple result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    PyObject* number = PyLong_FromLongLong(values[i] * factor);
    if (number == nullptr) throw pybind11::error_already_set();
    PyTuple_SET_ITEM(result.ptr(), static_cast<Py_ssize_t>(i), number);
  }
  return result;
}

/// Clears the TypeError or OverflowError of a value that is not a number of the wanted kind, if one
/// is set. Throws another error, which code of the value has raised, such as its __index__.
inline void clear_conversion_error() {
  if (PyErr_Occurred() == nullptr) return;
  for (PyObject* kind : {PyExc_TypeError, PyExc_OverflowError})
    if (PyErr_ExceptionMatches(kind)) return PyErr_Clear();
  throw pybind11::error_already_set();
}

/// PySlice_Unpack(). Throws ArgumentError for a step of 0.
void unpack_slice(PyObject* slice, Py_ssize_t& start, Py_ssize_t& stop, Py_ssize_t& step);

// Paths and settings are bytes of the system, which need not be UTF-8.

/// Them as Python represents them, os.fsdecode().
inline pybind11::str system_text(std::string_view bytes) {
  return owned(
      PyUnicode_DecodeFSDefaultAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size())));
}
/// os.fsencode() of a str or path.
inline std::string system_bytes(pybind11::handle path) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(path.ptr(), &bytes) == 0) throw pybind11::error_already_set();
  return pybind11::bytes(owned(bytes));
}
/// Text for people in which bytes that are not UTF-8 are written as "\xff".
inline pybind11::str readable_text(std::string_view text) {
  return owned(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

// Owned copies of containers, and owned references to modules. Code that runs while a container is
// read (an item's __index__ or __array__, another thread) may change it, which invalidates
// borrowed items and its length. tests/architecture enforces the use of these functions.

/// The items of `sequence` as a tuple; an exact tuple itself, since tuples do not change. Throws
/// the errors of iterating it, TypeError for an object that is not iterable.
inline pybind11::tuple items_of(PyObject* sequence) { return owned(PySequence_Tuple(sequence)); }

/// A new dict with the entries of a mapping, to which no other code has a reference. Throws the
/// errors of dict(mapping), TypeError for an object that is no mapping.
inline pybind11::dict entries_of(PyObject* mapping) {
  return owned(PyObject_CallOneArg(reinterpret_cast<PyObject*>(&PyDict_Type), mapping));
}

/// sys.modules[name], or null if it is not imported. Leaves no Python error.
inline pybind11::object loaded_module(const char* name) noexcept {
  PyObject* module = PyDict_GetItemString(PyImport_GetModuleDict(), name);  // borrowed
  return pybind11::reinterpret_borrow<pybind11::object>(module);
}

// The dtype of a Python number as an operand, for arrays and for variables of graphs.

/// The kinds of Python numbers, in ascending order of promotion.
enum class NumberKind { none, bool_, int_, float_, complex };

/// By exact type (except bool): NumPy's scalars derive from Python's, but have a dtype.
inline NumberKind number_kind(PyObject* object) noexcept {
  if (PyFloat_CheckExact(object)) return NumberKind::float_;
  if (PyLong_CheckExact(object)) return NumberKind::int_;
  if (PyBool_Check(object)) return NumberKind::bool_;
  return PyComplex_CheckExact(object) ? NumberKind::complex : NumberKind::none;
}

/// Whether the object is a Python number, whose dtype depends on the other operands.
inline bool is_weak_number(PyObject* object) noexcept {
  return number_kind(object) != NumberKind::none;
}

/// The dtype of a Python number next to operands of dtype `strong`, if there are any, by NumPy 2's
/// rule (NEP 50): the number may raise the kind, never the width. `default_float` is the dtype of
/// a float alone or next to bools and integers: float64, in graphs config "floatX".
inline DType number_dtype(NumberKind number, std::optional<DType> strong,
                          DType default_float = float64) {
  const bool is_inexact = strong && (strong->is_floating() || strong->is_complex());
  switch (number) {
    case NumberKind::int_:
      return strong && !strong->is_bool() ? *strong : int64;
    case NumberKind::float_:
      return is_inexact ? *strong : default_float;
    case NumberKind::complex:
      if (strong && strong->is_complex()) return *strong;
      return is_inexact && *strong != float64 ? complex64 : complex128;
    default:
      return bool_;
  }
}

// Conversion between Python's bool, int, float and complex and Scalar.

/// Whether scalar_from() accepts the object: an instance of bool, int, float or complex.
inline bool is_python_scalar(PyObject* object) noexcept {
  return PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object);
}
/// Whether the object is such a number, a list or a tuple, which have no device.
inline bool is_number_or_list(PyObject* object) noexcept {
  return PyList_Check(object) || PyTuple_Check(object) || is_python_scalar(object);
}

/// The number as an element of `dtype`, converted as NumPy 2 converts Python numbers on assignment:
/// a float is truncated for an integer dtype. Throws OverflowError (as pybind11::error_already_set)
/// for an int or float outside the range of an integer dtype, DTypeError for a complex number and a
/// real dtype or for a dtype that is not computable, ArgumentError for NaN and an integer dtype.
Scalar scalar_from(PyObject* number, DType dtype);

/// A bool, int, float or complex. Throws DTypeError for dtypes without a Python number.
pybind11::object python_number(const Scalar& scalar);

/// Raises TypeError "<argument>: expected <expected>, got <object> of type <type>".
[[noreturn]] void raise_unexpected(pybind11::handle object, const char* argument,
                                   const char* expected);

/// The name of type T in error messages for Python users.
template <class T>
constexpr const char* python_name() noexcept {
  if constexpr (std::same_as<T, std::string>) {
    return "a str";
  } else if constexpr (std::same_as<T, bool>) {
    return "a bool";
  } else if constexpr (std::unsigned_integral<T>) {
    return sizeof(T) == 8 ? "an int from 0 to 2**64 - 1" : "an int from 0 to 2**32 - 1";
  } else if constexpr (std::integral<T>) {
    return sizeof(T) == 8 ? "an int of 64 bits" : "an int of 32 bits";
  } else if constexpr (std::floating_point<T>) {
    return "a float";
  } else if constexpr (std::same_as<T, std::vector<std::string>>) {
    return "a list of str";
  } else if constexpr (std::same_as<T, std::vector<int>> ||
                       std::same_as<T, std::vector<std::int64_t>>) {
    return "a list of int";
  } else if constexpr (requires { typename T::mapped_type; }) {
    return "a dict of other keys and values";
  } else {
    return "another type";
  }
}

/// `object` as a T, by pybind11's conversions. Throws TypeError (as pybind11::error_already_set),
/// which names the argument, if it has none. Use handle::cast<T>() only for objects whose type
/// is known: its errors name C++ types.
template <class T>
T value_of(pybind11::handle object, const char* argument) {
  try {
    return object.cast<T>();
  } catch (const pybind11::cast_error&) {
    raise_unexpected(object, argument, python_name<T>());
  }
}

}  // namespace spanwise::python
