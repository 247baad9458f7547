// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "python/array/array_object.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/copy.hpp"

/// Functions, methods, attributes and types by CPython's C API, with METH_FASTCALL and slots: for
/// what is called often, ten times cheaper than through pybind11.
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

// Functions and methods whose parameters are read from their declaration, which help() shows.

namespace detail {

/// The identifiers of "take(a, indices, axis=None, *, out=None)", each followed by a null
/// character: the name of the function, then its parameters.
template <std::size_t size>
struct FunctionSignature {
  char identifiers[size]{};
  std::size_t starts[16]{};  ///< of the parameters in `identifiers`
  std::size_t count = 0;
  int required = 0, positional = -1;
  bool is_method = false;

  consteval explicit FunctionSignature(const Literal<size>& literal) {
    std::size_t end = 0, start = 0;
    int depth = 0;
    bool is_default = false, is_quoted = false;
    for (const char c : std::string_view(literal.text, size - 1)) {
      is_quoted ^= c == '\'';
      const bool is_end = !is_quoted && depth == 1 && (c == ',' || c == ')');
      if (!is_quoted) depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (is_end || (depth == 1 && c == '(')) {
        if (is_end) add(start, std::string_view(identifiers + start, end - start), is_default);
        identifiers[end++] = '\0';
        start = end;
        is_default = false;
      } else if (c == '=' && depth == 1) {
        is_default = true;
      } else if (!is_default && c != ' ') {
        identifiers[end++] = c;
      }
    }
    if (positional < 0) positional = static_cast<int>(count);
  }

  constexpr void add(std::size_t start, std::string_view identifier, bool is_default) {
    if (identifier == "$self") {
      is_method = true;
    } else if (identifier == "*") {
      positional = static_cast<int>(count);
    } else if (!identifier.empty() && identifier != "/") {
      starts[count++] = start;
      required += !is_default;
    }
  }
};

template <Literal declaration, auto function, auto quick>
struct DeclaredFunction {
  static constexpr FunctionSignature parsed{declaration};
  static constexpr auto names = []<std::size_t... i>(std::index_sequence<i...>) {
    return std::array<const char*, parsed.count>{parsed.identifiers + parsed.starts[i]...};
  }(std::make_index_sequence<parsed.count>());

  static auto parse_and_call(PyObject* self, PyObject* const* values, Py_ssize_t count,
                             PyObject* kwnames) {
    constexpr std::size_t first = parsed.is_method ? 1 : 0;
    std::array<PyObject*, parsed.count + first> all{};
    if constexpr (parsed.is_method) all[0] = self;
    read_arguments(parsed.identifiers, names.data(), static_cast<int>(parsed.count),
                   parsed.required, parsed.positional, all.data() + first, values, count, kwnames);
    return std::apply(function, all);
  }

  static PyObject* call(PyObject* self, PyObject* const* values, Py_ssize_t count,
                        PyObject* kwnames) noexcept {
    if constexpr (!std::is_null_pointer_v<decltype(quick)>) {
      if (count == 1 && kwnames == nullptr) {
        PyObject* result = guarded<+quick>(values[0]);
        if (result != nullptr || PyErr_Occurred() != nullptr) return result;
      }
      return call_not_inlined(self, values, count, kwnames);
    }
    return guarded<&parse_and_call>(self, values, count, kwnames);
  }
  // Not inlined, so that the stack frame in which quick() runs stays small.
  [[gnu::noinline]] static PyObject* call_not_inlined(PyObject* self, PyObject* const* values,
                                                      Py_ssize_t count,
                                                      PyObject* kwnames) noexcept {
    return guarded<&parse_and_call>(self, values, count, kwnames);
  }
};

template <Literal declaration, Literal doc>
inline constexpr auto documentation = [] {
  constexpr std::string_view between = "\n--\n\n";
  std::array<char, sizeof declaration.text + between.size() + sizeof doc.text - 1> all{};
  char* next = std::copy_n(declaration.text, sizeof declaration.text - 1, all.data());
  next = std::copy_n(between.data(), between.size(), next);
  std::copy_n(doc.text, sizeof doc.text, next);
  return all;
}();

}  // namespace detail

/// The name at the start of a declaration.
template <Literal declaration>
inline constexpr auto declared_name = [] {
  Literal name = declaration;
  bool is_name = true;
  for (char& c : name.text) {
    is_name = is_name && c != '(';
    if (!is_name) c = '\0';
  }
  return name;
}();

/// An entry of a method table: `function` under the name and with the parameters of `declaration`:
/// "clip($self, min=None, *, out=None)" for a method. It takes a PyObject* for each parameter,
/// borrowed, null where absent; of a method the object comes first. See `guarded` for its result.
///
/// A call with one positional argument x returns quick(x), in a small stack frame, unless that is
/// null without a Python error.
template <Literal declaration, Literal doc, auto function, auto quick = nullptr>
PyMethodDef declared() {
  using Entry = detail::DeclaredFunction<declaration, function, quick>;
  if constexpr (Entry::parsed.is_method && Entry::parsed.count == 0)
    return {Entry::parsed.identifiers, guarded<&detail::result_of<+function, PyObject>>,
            METH_NOARGS, detail::documentation<declaration, doc>.data()};
  return {Entry::parsed.identifiers, as_c_function(&Entry::call), METH_FASTCALL | METH_KEYWORDS,
          detail::documentation<declaration, doc>.data()};
}

// Methods, attributes and slots that are implemented in Python, by functions of the package whose
// first argument is the object.

/// function(self, ...) with the arguments of a METH_FASTCALL | METH_KEYWORDS method: a new
/// reference, or null with a Python error set.
PyObject* call_with_self(PyObject* function, PyObject* self, PyObject* const* values = nullptr,
                         Py_ssize_t count = 0, PyObject* kwnames = nullptr);

/// spanwise.<module>.<function>, a borrowed reference. Imported at the first call and kept, since a
/// lookup would dominate calls on small arrays. Throws the errors of the import.
template <Literal module, Literal function>
PyObject* python_function() {
  static PyObject* cached = nullptr;  // guarded by the GIL, which the import may release
  if (cached == nullptr) {
    static const std::string name = std::string("spanwise.") + module.text;
    const pybind11::object owner = pybind11::module_::import(name.c_str());
    cached = pybind11::object(owner.attr(function.text)).release().ptr();
  }
  return cached;
}

template <Literal module, Literal function>
PyObject* method_in_python(PyObject* self, PyObject* const* values, Py_ssize_t count,
                           PyObject* kwnames) {
  return call_with_self(python_function<module, function>(), self, values, count, kwnames);
}

/// An entry of a method table, of the name in `declaration`, whose function is
/// spanwise.<module>.<function>, by default of the same name.
template <Literal module, Literal declaration, Literal doc,
          Literal function = declared_name<declaration>>
PyMethodDef in_python() {
  return method<&method_in_python<module, function>>(
      declared_name<declaration>.text, detail::documentation<declaration, doc>.data());
}

/// The same as a getter, or a slot without arguments.
template <Literal module, Literal function>
PyObject* result_in_python(PyObject* self) {
  return call_with_self(python_function<module, function>(), self);
}

// Types that CPython makes from slots, which are faster than pybind11's classes.

/// A new type of objects of `size` bytes. `name` and the tables in `slots` must live as long as the
/// process; the slots end without an empty entry. Throws error_already_set.
PyTypeObject* make_type(const char* name, std::size_t size, std::vector<PyType_Slot> slots,
                        unsigned long flags = Py_TPFLAGS_DISALLOW_INSTANTIATION,
                        PyTypeObject* base = nullptr);

/// Makes the type known as `name` in the module.
void add_type(pybind11::module_& module, const char* name, PyTypeObject* type);

/// Adds methods or attributes to a type. The tables end with an empty entry and must live as long
/// as the process.
void add_methods(PyTypeObject* type, PyMethodDef* methods);
void add_attributes(PyTypeObject* type, PyGetSetDef* attributes);

/// The end of tp_dealloc: frees the memory of an object whose fields are destroyed.
inline void free_object(PyObject* object) noexcept {
  PyTypeObject* type = Py_TYPE(object);
  type->tp_free(object);
  Py_DECREF(type);  // instances own a reference to their heap type
}

/// An entry of a table of attributes. get(self) returns a new reference or a pybind11 object.
/// set(self, value, nullptr) returns 0; `value` is null for `del`. Both may throw.
template <auto get>
PyGetSetDef attribute(const char* name, const char* doc = nullptr) {
  return {name, guarded<&detail::result_of<get, void>>, nullptr, doc, nullptr};
}
template <auto get, int (*set)(PyObject*, PyObject*, void*)>
PyGetSetDef attribute(const char* name, const char* doc = nullptr) {
  return {name, guarded<&detail::result_of<get, void>>, guarded<set>, doc, nullptr};
}

}  // namespace spanwise::python
