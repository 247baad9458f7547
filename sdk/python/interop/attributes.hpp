// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <span>

#include "interface.hpp"
#include "spanwise/bridge.hpp"

/// Fast reading of Python attributes, for Bridge::try_describe() of libraries without a C
/// interface.
namespace spanwise::python {

/// Reads x.<name> with an inline cache of the C getter of the last class, valid while the class is
/// not modified: the lookup takes as long as most getters. Attributes that are not getset
/// descriptors of the class are read by PyObject_GetAttr().
class CachedAttribute {
 public:
  constexpr explicit CachedAttribute(const char* name) noexcept : name_(name) {}
  /// Null if there is no such attribute or reading it fails. Leaves no Python error.
  pybind11::object of(PyObject* object) const noexcept {
    PyTypeObject* type = Py_TYPE(object);
    if (type != type_ || type->tp_version_tag != version_) [[unlikely]]
      find(type);
    if (get_ == nullptr) return attribute_or_null(object, name_);
    PyObject* value = get_(object, closure_);
    if (value == nullptr) PyErr_Clear();
    return pybind11::reinterpret_steal<pybind11::object>(value);
  }

 private:
  void find(PyTypeObject* type) const noexcept;

  Name name_;
  // The cached class and its tp_version_tag, which CPython changes when the class is modified.
  mutable PyTypeObject* type_ = nullptr;
  mutable unsigned int version_ = 0;
  mutable getter get_ = nullptr;
  mutable void* closure_ = nullptr;
};

/// The attributes of one library's arrays that describe their layout.
struct LayoutAttributes {
  CachedAttribute shape{"shape"}, strides{"strides"}, dtype{"dtype"};
};

/// Writes the integers of the tuple x.<name> to `scratch` and returns their number; -1 if it is no
/// tuple of integers, or too long. Leaves no Python error.
int read_integers(PyObject* object, const CachedAttribute& name,
                  std::span<std::int64_t> scratch) noexcept;

/// int(x.<name>) as an address; 0 if it is absent, None or no integer. Leaves no Python error.
std::uintptr_t read_address(PyObject* object, const CachedAttribute& name) noexcept;

/// Sets shape, strides (bytes) and dtype of `memory` from attributes like NumPy's. Returns false if
/// they have other types. With `is_packed` (C-contiguous) the strides are not read: some libraries
/// make a new tuple of them at each access. Leaves no Python error.
bool read_layout(PyObject* array, const LayoutAttributes& attributes, BorrowedTensor& memory,
                 bool is_packed = false) noexcept;

}  // namespace spanwise::python
