// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <array>
#include <cstddef>
#include <new>
#include <utility>

#include "array.hpp"
#include "spanwise/core/storage.hpp"
#include "type.hpp"

namespace spanwise::python {

/// Free lists of spanwise.Array objects, which programs that mix libraries create for each array
/// that they pass on. At most 32 entries each. Guarded by the GIL.
class ObjectFreeList {
 public:
  /// An object whose fields are not constructed; null with a Python error when out of memory.
  PyObject* make() noexcept {
    // Not tp_alloc, which clears the memory that construct() initialises.
    if (count_ == 0) return reinterpret_cast<PyObject*>(PyObject_New(PyArray, array_type));
    return revived(objects_[--count_]);
  }
  /// The same for an import; moves the storage of an earlier import to `spare` if one is in the
  /// list.
  PyObject* make_for_import(Storage& spare) noexcept {
    if (imports_count_ == 0) return make();
    PyObject* object = imports_[--imports_count_];
    Storage* storage = storage_in(object);
    spare = std::move(*storage);
    storage->~Storage();
    return revived(object);
  }
  /// Takes an object whose fields are destroyed; frees it if the list is full or it is of a
  /// subclass.
  void keep(PyObject* object) noexcept {
    if (Py_TYPE(object) == array_type && count_ < objects_.size())
      objects_[count_++] = object;  // it keeps its reference to the type
    else
      free_object(object);
  }
  /// The same, together with a storage after Storage::reclaim().
  void keep_for_import(PyObject* object, Storage&& spare) noexcept {
    if (Py_TYPE(object) != array_type || imports_count_ == imports_.size()) {
      spare = {};
      return keep(object);
    }
    new (storage_in(object)) Storage(std::move(spare));
    imports_[imports_count_++] = object;
  }
  /// An array from try_keep_element() with its fields intact; the caller overwrites its element.
  /// Null without a Python error if the last one in the list has another dtype, or there is none.
  PyObject* make_element(DType dtype) noexcept {
    if (elements_count_ == 0) return nullptr;
    PyObject* object = elements_[--elements_count_];
    if (array_in(object).dtype() == dtype) return revived(object);
    discard(object);  // makes room for arrays of the dtype that is now in use
    return nullptr;
  }
  /// Takes an array of wrap_copy_of() from tp_dealloc. Returns false, and does not take it, if its
  /// storage is shared or read-only, or the list is full.
  bool try_keep_element(PyObject* object) noexcept {
    const Storage& storage = array_in(object).storage();
    if (elements_count_ == max_elements_ || Py_TYPE(object) != array_type || storage.readonly() ||
        !storage.is_exclusive())
      return false;
    elements_[elements_count_++] = object;
    return true;
  }
  /// Enables try_keep_element(), or disables it and frees its arrays.
  void enable_elements(bool is_enabled) noexcept {
    max_elements_ = is_enabled ? elements_.size() : 0;
    if (!is_enabled) clear_elements();
  }
  void clear_elements() noexcept {
    while (elements_count_ > 0) discard(elements_[--elements_count_]);
  }

 private:
  void discard(PyObject* element) noexcept {
    array_in(element).~Array();
    keep(element);
  }
  // As PyObject_Init(), for an object whose type is set already.
  static PyObject* revived(PyObject* object) noexcept {
    _Py_NewReference(object);
    return object;
  }
  // A spare storage is in the memory of the object's destroyed Array.
  static Storage* storage_in(PyObject* object) noexcept {
    return reinterpret_cast<Storage*>(&reinterpret_cast<PyArray*>(object)->array);
  }

  std::array<PyObject*, 32> objects_{}, imports_{}, elements_{};
  std::size_t count_ = 0, imports_count_ = 0, elements_count_ = 0, max_elements_ = 32;
};

}  // namespace spanwise::python
