// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <pybind11/pybind11.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "array.hpp"
#include "gil.hpp"
#include "spanwise/copy.hpp"

/// Functions and methods in CPython's own calling convention, METH_FASTCALL | METH_KEYWORDS, for
/// what programs call often: an order of magnitude cheaper than through pybind11.
namespace spanwise::python {

/// The parameters of a function by name, in order.
template <std::size_t n>
struct Signature {
  const char* who;
  std::array<const char*, n> names;
  int required;    ///< so many must be given
  int positional;  ///< so many may be given by position

  /// The arguments in the order of `names`, borrowed, null where absent. Throws TypeError (as
  /// pybind11::error_already_set) for calls that do not fit.
  std::array<PyObject*, n> read(PyObject* const* values, Py_ssize_t count, PyObject* words) const;
};

namespace detail {
void read_arguments(const char* who, const char* const* names, int size, int required,
                    int positional, PyObject** out, PyObject* const* values, Py_ssize_t count,
                    PyObject* words);
}  // namespace detail

template <std::size_t n>
std::array<PyObject*, n> Signature<n>::read(PyObject* const* values, Py_ssize_t count,
                                            PyObject* words) const {
  std::array<PyObject*, n> out{};
  detail::read_arguments(who, names.data(), static_cast<int>(n), required, positional, out.data(),
                         values, count, words);
  return out;
}

/// Neither absent nor None.
inline bool given(PyObject* argument) noexcept {
  return argument != nullptr && argument != Py_None;
}

/// An argument that is true or false; `otherwise` where it is not given.
bool truth_in(PyObject* argument, bool otherwise);
/// An integer, or whatever has __index__. Throws TypeError, OverflowError.
inline std::int64_t integer_from(PyObject* argument) {
  // Of an int itself nobody needs to be asked for its __index__.
  const Py_ssize_t value = PyLong_CheckExact(argument)
                               ? PyLong_AsSsize_t(argument)
                               : PyNumber_AsSsize_t(argument, PyExc_OverflowError);
  if (value == -1 && PyErr_Occurred()) throw pybind11::error_already_set();
  return value;
}
/// The same; `otherwise` where it is not given.
std::int64_t integer_in(PyObject* argument, std::int64_t otherwise);
/// The array API's copy=: None (or absent) if needed, True always, False never.
CopyMode mode_in(PyObject* copy);
/// dtype= and device=; `otherwise` where they are not given.
DType dtype_in(PyObject* argument, DType otherwise);
Device device_in(PyObject* argument, Device otherwise);

using FastCall = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

/// Whether the type has __len__, as a sequence or, like PyTorch's tensors, as a mapping alone.
inline bool may_have_length(PyObject* object) noexcept {
  const PyTypeObject* type = Py_TYPE(object);
  return (type->tp_as_sequence != nullptr && type->tp_as_sequence->sq_length != nullptr) ||
         (type->tp_as_mapping != nullptr && type->tp_as_mapping->mp_length != nullptr);
}
/// Whether len() counts the object's items. Arrays of every library have __index__; those that are
/// single integers have no length.
inline bool has_length(PyObject* object) noexcept {
  if (!may_have_length(object)) return false;
  if (PyObject_Size(object) >= 0) return true;
  PyErr_Clear();
  return false;
}

/// A function that throws, as CPython wants it: null and a Python error instead.
template <FastCall function>
PyObject* guarded(PyObject* self, PyObject* const* values, Py_ssize_t count,
                  PyObject* words) noexcept {
  try {
    return function(self, values, count, words);
  } catch (...) {
    return raise_current();
  }
}

/// For a method table, where CPython keeps every calling convention under one type; through void
/// (*)() no compiler warns of it.
template <class Function>
PyCFunction as_c_function(Function* function) noexcept {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

/// An entry of a method table. `doc` opens with "name($self, ...)\n--\n\n".
template <FastCall function>
PyMethodDef method(const char* name, const char* doc) {
  return {name, as_c_function(&guarded<function>), METH_FASTCALL | METH_KEYWORDS, doc};
}

/// Lets other Python threads run while something is waited for or much is copied. Small work on the
/// CPU is done sooner than the lock is given away and taken back, and so is queueing work on a GPU.
class Unlocked {
 public:
  static Unlocked where(bool is_long) noexcept { return Unlocked(is_long); }
  Unlocked(Device device, std::int64_t bytes) noexcept
      : Unlocked(!device.is_cpu() || bytes >= small) {}
  explicit Unlocked(const Array& array) noexcept : Unlocked(array.device(), array.nbytes()) {}
  /// Between two devices the host may wait; within one it does so for large work alone.
  Unlocked(const Array& a, const Array& b) noexcept
      : Unlocked(a.device() != b.device() || a.nbytes() + b.nbytes() >= small) {}

 private:
  explicit Unlocked(bool is_long) noexcept : released_(is_long) {}

  static constexpr std::int64_t small = 1 << 16;
  GilRelease released_;
};

/// Adds a table of functions, which ends with an empty entry and lives as long as the process.
void add_functions(pybind11::module_& module, PyMethodDef* functions);

}  // namespace spanwise::python
