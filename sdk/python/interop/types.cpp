// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "types.hpp"

#include <cstdint>
#include <new>
#include <vector>

namespace spanwise::python {
namespace {

struct TypeEntry {
  PyTypeObject* type = nullptr;
  const Bridge* bridge = nullptr;
  PyObject* erase_on_destruction =
      nullptr;  // a weak reference to `type` whose callback erases the entry
};

// Open addressing over a power of two, at most half full; guarded by the GIL.
struct TypeTable {
  std::vector<TypeEntry> entries = std::vector<TypeEntry>(64);
  std::size_t count = 0;
  int shift = 58;  // the hash's upper bits choose the entry

  std::size_t first_slot(const PyTypeObject* type) const noexcept {
    // Fibonacci hashing: types lie at multiples of 16, so the low bits alone would collide.
    return static_cast<std::size_t>((reinterpret_cast<std::uint64_t>(type) * 0x9E3779B97F4A7C15u) >>
                                    shift);
  }
  TypeEntry& find(const PyTypeObject* type) noexcept {
    std::size_t i = first_slot(type);
    while (entries[i].type != nullptr && entries[i].type != type) i = (i + 1) % entries.size();
    return entries[i];
  }
  void insert(const TypeEntry& entry) {
    if (2 * (count + 1) > entries.size()) rebuild(2 * entries.size(), shift - 1, nullptr);
    find(entry.type) = entry;
    ++count;
  }
  // Erasing rebuilds the table, since linear probing must not leave holes.
  void rebuild(std::size_t size, int new_shift, const PyTypeObject* without) {
    std::vector<TypeEntry> old(size);
    old.swap(entries);
    shift = new_shift;
    for (const TypeEntry& entry : old)
      if (entry.type != nullptr && entry.type != without) find(entry.type) = entry;
  }
  void erase(const PyTypeObject* type) {
    if (find(type).type == nullptr) return;
    --count;
    rebuild(entries.size(), shift, type);
  }
};

TypeTable& table() {
  static TypeTable* const the_table =
      new TypeTable;  // leaked: types may be destroyed after statics
  return *the_table;
}

// Callback of the weak reference: erases the entry of a destroyed type, whose address may be
// reused.
PyObject* erase_type(PyObject* address, PyObject* weak_reference) noexcept {
  auto* type = static_cast<PyTypeObject*>(PyLong_AsVoidPtr(address));
  if (detail::recent_type.type == type) detail::recent_type = {};
  try {
    table().erase(type);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
  Py_DECREF(weak_reference);  // the reference that the entry held
  Py_RETURN_NONE;
}

PyObject* erase_on_destruction(PyTypeObject* type) noexcept {
  static PyMethodDef method = {"erase_type", &erase_type, METH_O, nullptr};
  PyObject* address = PyLong_FromVoidPtr(type);
  if (address == nullptr) return nullptr;
  PyObject* callback = PyCFunction_New(&method, address);
  Py_DECREF(address);
  if (callback == nullptr) return nullptr;
  PyObject* weak = PyWeakref_NewRef(reinterpret_cast<PyObject*>(type), callback);
  Py_DECREF(callback);
  return weak;
}

}  // namespace

constinit detail::RecentType detail::recent_type;

const Bridge* detail::find_bridge_of_type(PyTypeObject* type) noexcept {
  const Bridge* bridge = table().find(type).bridge;
  if (bridge != nullptr) recent_type = {type, bridge};
  return bridge;
}

void remember_bridge(PyTypeObject* type, const Bridge& bridge) noexcept {
  detail::recent_type = {};
  try {
    if (TypeEntry& entry = table().find(type); entry.type != nullptr) {
      entry.bridge = &bridge;
      return;
    }
    PyObject* weak = nullptr;
    if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) {
      weak = erase_on_destruction(type);
      if (weak == nullptr) return PyErr_Clear();
    }
    table().insert({type, &bridge, weak});
  } catch (const std::bad_alloc&) {
    // The cache is optional.
  }
}

}  // namespace spanwise::python
