// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <array>
#include <cstddef>
#include <new>
#include <utility>

#include "py_array.hpp"
#include "spanwise/storage.hpp"

namespace spanwise::python {

/// The memory of arrays that went, for the next ones: a program that mixes libraries makes one for
/// each array that it passes on. Guarded by the GIL.
class KeptObjects {
 public:
  /// An object without content; null with a Python error set where there is no memory.
  PyObject* make() noexcept {
    // No tp_alloc: it would clear what construct() fills at once.
    if (count_ == 0) return reinterpret_cast<PyObject*>(PyObject_New(PyArray, array_type));
    return revived(objects_[--count_]);
  }
  /// The same for an import, with the storage of an earlier one in `spare` where one was kept.
  PyObject* make_with(Storage& spare) noexcept {
    if (imports_count_ == 0) return make();
    PyObject* object = imports_[--imports_count_];
    Storage* kept = storage_in(object);
    spare = std::move(*kept);
    kept->~Storage();
    return revived(object);
  }
  /// For an object without content, whose memory is freed where it is not kept.
  void keep(PyObject* object) noexcept {
    PyTypeObject* type = Py_TYPE(object);
    if (type == array_type && count_ < objects_.size()) {
      objects_[count_++] = object;
    } else {
      type->tp_free(object);
      Py_DECREF(type);  // a heap type is counted by its instances, and by what is kept for them
    }
  }
  /// The same, with a storage after Storage::reclaim().
  void keep_with(PyObject* object, Storage&& spare) noexcept {
    if (Py_TYPE(object) != array_type || imports_count_ == imports_.size()) {
      spare = {};
      return keep(object);
    }
    new (storage_in(object)) Storage(std::move(spare));
    imports_[imports_count_++] = object;
  }

 private:
  // PyObject_Init() of an object that has its type.
  static PyObject* revived(PyObject* object) noexcept {
    _Py_NewReference(object);
    return object;
  }
  // Lies where the array was.
  static Storage* storage_in(PyObject* object) noexcept {
    return reinterpret_cast<Storage*>(&reinterpret_cast<PyArray*>(object)->array);
  }

  std::array<PyObject*, 32> objects_{}, imports_{};
  std::size_t count_ = 0, imports_count_ = 0;
};

}  // namespace spanwise::python
