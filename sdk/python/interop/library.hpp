// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <optional>

#include "interface.hpp"
#include "spanwise/bridge.hpp"

/// What the bridges to single libraries have in common.
namespace spanwise::python {

/// A library's array class. It is looked for among the modules that the program has imported, so
/// that asking whether an object is an array of a library never imports the library.
class ForeignClass {
 public:
  constexpr ForeignClass(const char* module, const char* name) noexcept
      : module_(module), name_(name) {}
  /// Null while the program has not imported the module; borrowed.
  PyObject* get() const noexcept;
  /// isinstance(), though without asking an object for its __class__; leaves no Python error.
  bool has(PyObject* object) const noexcept;

 private:
  const char* module_;
  const char* name_;
  mutable PyObject* class_ = nullptr;  // a reference for the life of the process
};

/// The module, imported. Throws BridgeError saying how to install it where there is none.
pybind11::module_ import_library(const char* module, const char* package);
/// The same for libraries that pip cannot install; `remedy` says what can.
pybind11::module_ import_library(const char* module, const char* library, const char* remedy);

/// A new spanwise.Array around `array`, to hand to a library's own function.
pybind11::object object_of(const Array& array);

/// ShareBlocker of libraries whose arrays can always be written to, where `array` is read-only.
std::optional<ShareBlocker> readonly_obstacle(const Array& array, std::string_view library);
/// ShareBlocker of libraries with arrays on GPUs only, where `array` is not on one.
std::optional<ShareBlocker> host_obstacle(const Array& array, std::string_view library);
/// A private C-contiguous copy on a GPU: the array's own, else the default one, else the first.
Array copy_on_gpu(const Array& array);

/// x.<name> as a bool; throws what getting it raises.
bool truth_of(PyObject* object, const Name& name);
/// x.<name>() as a bool; throws what calling it raises.
bool answer_of(PyObject* object, const Name& name);

}  // namespace spanwise::python
