// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <cstring>

#include "dlpack_capsule.hpp"
#include "dlpack_tensor.hpp"
#include "python/interop/lifetime.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::dlpack {
namespace {

bool is_equal(const char* name, const char* expected) noexcept {
  return name != nullptr && std::strcmp(name, expected) == 0;
}

// The destructor of capsules whose tensor was not taken. It runs wherever Python drops the capsule,
// also while an exception is set.
template <class Managed>
void delete_capsule(PyObject* capsule) noexcept {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  const char* name = PyCapsule_GetName(capsule);
  if (is_equal(name, capsule_name) || is_equal(name, versioned_capsule_name)) {
    auto* tensor = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
    if (tensor != nullptr) tensor->deleter(tensor);
  }
  PyErr_Restore(type, value, traceback);
}

template <class Managed>
PyObject* new_capsule(Managed* tensor, const char* name) noexcept {
  PyObject* capsule = PyCapsule_New(tensor, name, &delete_capsule<Managed>);
  if (capsule == nullptr) tensor->deleter(tensor);
  return capsule;
}

}  // namespace

std::optional<std::pair<long, long>> integer_pair_in(PyObject* object) noexcept {
  if (!PyTuple_Check(object) || PyTuple_GET_SIZE(object) != 2) return std::nullopt;
  // Either is often an IntEnum.
  const long first = PyLong_AsLong(PyTuple_GET_ITEM(object, 0)),
             second = PyLong_AsLong(PyTuple_GET_ITEM(object, 1));
  if (PyErr_Occurred() == nullptr) return std::pair(first, second);
  PyErr_Clear();
  return std::nullopt;
}

bool is_capsule(PyObject* object) noexcept {
  if (!PyCapsule_CheckExact(object)) return false;
  const char* name = PyCapsule_GetName(object);
  for (const char* expected :
       {capsule_name, versioned_capsule_name, used_capsule_name, used_versioned_capsule_name})
    if (is_equal(name, expected)) return true;
  return false;
}

ForeignView view_of_capsule(PyObject* capsule) {
  const char* name = PyCapsule_GetName(capsule);
  if (is_equal(name, used_capsule_name) || is_equal(name, used_versioned_capsule_name))
    fail<ArgumentError>("dlpack: this capsule was used before, and can be used once only; call ",
                        "__dlpack__() again for another");
  if (is_equal(name, versioned_capsule_name)) {
    void* tensor = PyCapsule_GetPointer(capsule, name);
    PyCapsule_SetName(capsule, used_versioned_capsule_name);
    return view_of(static_cast<ManagedTensorVersioned*>(tensor),
                   &release_python<release_versioned>);
  }
  if (is_equal(name, capsule_name)) {
    void* tensor = PyCapsule_GetPointer(capsule, name);
    PyCapsule_SetName(capsule, used_capsule_name);
    return view_of(static_cast<ManagedTensor*>(tensor), &release_python<release_unversioned>);
  }
  fail<BridgeError>("dlpack: a capsule named \"", name != nullptr ? name : "",
                    "\"; expected \"dltensor_versioned\" or \"dltensor\"");
}

PyObject* capsule_of(const Array& array, bool versioned, std::uint64_t extra_flags) {
  if (versioned) return new_capsule(exported(array, extra_flags), versioned_capsule_name);
  return new_capsule(exported_unversioned(array), capsule_name);
}

}  // namespace spanwise::dlpack
