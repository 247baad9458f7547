// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <span>

#include "interface.hpp"
#include "spanwise/bridge.hpp"

/// What Bridge::look() of libraries without a C interface reads: attributes, and no error.
namespace spanwise::python {

/// x.<name> of the objects of one class, whose getter is remembered as long as the class stays as
/// it is: looking it up takes as long as most getters do themselves. An attribute that is none of
/// the class' own, written in C, is asked for as any other.
class CachedAttribute {
 public:
  constexpr explicit CachedAttribute(const char* name) noexcept : name_(name) {}
  /// Null where there is none or getting it fails; leaves no Python error.
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
  // CPython gives each state of each class a number of its own, which changes with the class.
  mutable PyTypeObject* type_ = nullptr;
  mutable unsigned int version_ = 0;
  mutable getter get_ = nullptr;
  mutable void* closure_ = nullptr;
};

/// What says how an array of one library lies.
struct LayoutAttributes {
  CachedAttribute shape{"shape"}, strides{"strides"}, dtype{"dtype"};
};

/// x.<name>, a tuple of integers, written to `room`; their number, or -1 where it is anything else
/// or too long. Leaves no Python error.
int read_integers(PyObject* object, const CachedAttribute& name,
                  std::span<std::int64_t> room) noexcept;

/// x.<name> as int() takes it, an address; 0 where it is none, or null. Leaves no Python error.
std::uintptr_t read_address(PyObject* object, const CachedAttribute& name) noexcept;

/// Shape, strides in bytes and dtype of an array that has them as NumPy's do, into `memory`. False
/// where they are anything else. `is_packed` says that it lies in C order, where the strides follow
/// from the shape: some libraries make a tuple of them at each look. Leaves no Python error.
bool read_layout(PyObject* array, const LayoutAttributes& attributes, BorrowedTensor& memory,
                 bool is_packed = false) noexcept;

}  // namespace spanwise::python
