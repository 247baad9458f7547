// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "array.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/copy.hpp"

/// Functions and methods with the calling convention METH_FASTCALL | METH_KEYWORDS, for frequently
/// called functions: ten times cheaper than a call through pybind11.
namespace spanwise::python {

/// A string as a template argument.
template <std::size_t size>
struct Literal {
  char text[size];
  consteval Literal(const char (&literal)[size]) { std::copy_n(literal, size, text); }
};

/// The parameters of a function, in order.
template <std::size_t n>
struct CallSignature {
  const char* caller;
  std::array<const char*, n> names;
  int required;    ///< the first `required` parameters have no default
  int positional;  ///< the first `positional` parameters may be passed by position

  /// The arguments in the order of `names`, borrowed, null where absent. Throws TypeError (as
  /// pybind11::error_already_set) for calls that do not fit.
  std::array<PyObject*, n> read(PyObject* const* values, Py_ssize_t count, PyObject* kwnames) const;
};

namespace detail {
void read_arguments(const char* caller, const char* const* names, int size, int required,
                    int positional, PyObject** out, PyObject* const* values, Py_ssize_t count,
                    PyObject* kwnames);
}  // namespace detail

template <std::size_t n>
std::array<PyObject*, n> CallSignature<n>::read(PyObject* const* values, Py_ssize_t count,
                                                PyObject* kwnames) const {
  std::array<PyObject*, n> out{};
  detail::read_arguments(caller, names.data(), static_cast<int>(n), required, positional,
                         out.data(), values, count, kwnames);
  return out;
}

/// integer_from(argument); `default_value` where it is absent or None.
std::int64_t integer_or(PyObject* argument, std::int64_t default_value);
/// The array API's copy=: None (or absent) if needed, True always, False never.
CopyMode copy_mode_from(PyObject* copy);
/// copyif=: None (or absent) or False never, True if needed.
CopyMode copyif_mode_from(PyObject* copyif);
/// dtype_from(argument) and device_from(argument); `default_value` where it is absent or None.
DType dtype_or(PyObject* argument, DType default_value);
Device device_or(PyObject* argument, Device default_value);

/// Whether the type has __len__, in its sequence slots or (PyTorch's tensors) its mapping slots.
inline bool may_have_length(PyObject* object) noexcept {
  const PyTypeObject* type = Py_TYPE(object);
  return (type->tp_as_sequence != nullptr && type->tp_as_sequence->sq_length != nullptr) ||
         (type->tp_as_mapping != nullptr && type->tp_as_mapping->mp_length != nullptr);
}
/// Whether len(object) succeeds. It distinguishes sequences from integers: arrays have __index__ in
/// all libraries, but len() fails for those of rank 0. Leaves no Python error.
inline bool has_length(PyObject* object) noexcept {
  if (!may_have_length(object)) return false;
  if (PyObject_Size(object) >= 0) return true;
  PyErr_Clear();
  return false;
}

/// Whether work on `bytes` bytes of `device` releases the GIL: always on a GPU, for which it may
/// have to wait, and from 64 KiB on the CPU. For fewer bytes a GilRelease takes longer than the
/// work.
inline bool is_long(Device device, std::int64_t bytes) noexcept {
  return !device.is_cpu() || bytes >= 1 << 16;
}
inline bool is_long(const Array& array) noexcept { return is_long(array.device(), array.nbytes()); }
/// The same of a copy between `a` and `b`: between two devices, or of many bytes on one. Queueing a
/// copy on one GPU does not wait.
inline bool is_long(const Array& a, const Array& b) noexcept {
  return a.device() != b.device() || is_long(cpu, a.nbytes() + b.nbytes());
}

}  // namespace spanwise::python
