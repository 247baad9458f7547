// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <array>
#include <cstddef>
#include <new>
#include <utility>

#include "array.hpp"
#include "spanwise/storage.hpp"

namespace spanwise::python {

/// The memory of arrays that went, for the next ones: a program that mixes libraries makes one for
/// each array that it passes on. Guarded by the GIL.
class ObjectFreeList {
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
  /// An array of wrap_copy_of(), whole, for keep_element(): its element is still to be written.
  /// Null without a Python error where none of that dtype is kept.
  PyObject* make_element(DType dtype) noexcept {
    if (elements_count_ == 0) return nullptr;
    PyObject* object = elements_[--elements_count_];
    if (array_in(object).dtype() == dtype) return revived(object);
    discard(object);  // so that a program's next dtype takes its place
    return nullptr;
  }
  /// Keeps an array of wrap_copy_of() whose last reference has gone. False where its memory is
  /// still in use or enough are kept.
  bool keep_element(PyObject* object) noexcept {
    const Storage& storage = array_in(object).storage();
    if (elements_count_ == most_elements_ || Py_TYPE(object) != array_type || storage.readonly() ||
        !storage.is_exclusive())
      return false;
    elements_[elements_count_++] = object;
    return true;
  }
  /// Whether keep_element() keeps any.
  void keep_elements(bool is_on) noexcept {
    most_elements_ = is_on ? elements_.size() : 0;
    if (!is_on) drop_elements();
  }
  void drop_elements() noexcept {
    while (elements_count_ > 0) discard(elements_[--elements_count_]);
  }

 private:
  void discard(PyObject* element) noexcept {
    array_in(element).~Array();
    keep(element);
  }
  // PyObject_Init() of an object that has its type.
  static PyObject* revived(PyObject* object) noexcept {
    _Py_NewReference(object);
    return object;
  }
  // Lies where the array was.
  static Storage* storage_in(PyObject* object) noexcept {
    return reinterpret_cast<Storage*>(&reinterpret_cast<PyArray*>(object)->array);
  }

  std::array<PyObject*, 32> objects_{}, imports_{}, elements_{};
  std::size_t count_ = 0, imports_count_ = 0, elements_count_ = 0, most_elements_ = 32;
};

}  // namespace spanwise::python
