// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "lifetime.hpp"

#include <pybind11/gil.h>
#include <pybind11/pybind11.h>

#include <atomic>
#include <new>
#include <utility>

#include "python/support/array.hpp"
#include "python/support/gil.hpp"

namespace spanwise::python {

struct Dropped {
  PyObject* object;
  Dropped* next;
};

// From threads without the GIL; pushed by any thread, taken all at once by one that has it.
constinit std::atomic<Dropped*> dropped{nullptr};

void release_all_dropped() noexcept {
  Dropped* entry = dropped.exchange(nullptr, std::memory_order_acquire);
  while (entry != nullptr) {
    Dropped* next = entry->next;
    Py_DECREF(entry->object);
    delete entry;
    entry = next;
  }
}

namespace {

// Whether the list was empty before. Once pushed, the entry may go at any moment.
bool push(Dropped* entry) noexcept {
  Dropped* head = dropped.load(std::memory_order_relaxed);
  do {
    entry->next = head;
  } while (!dropped.compare_exchange_weak(head, entry, std::memory_order_release,
                                          std::memory_order_relaxed));
  return head == nullptr;
}

class HeldObject final : public RefCounted {
 public:
  explicit HeldObject(PyObject* object) noexcept : object_(Py_NewRef(object)) {}
  ~HeldObject() override { release_with_gil(object_); }

 private:
  PyObject* object_;
};

}  // namespace

Ref<RefCounted> hold_object(PyObject* object) { return make_ref<HeldObject>(object); }

void release_object(void* object, void*, std::size_t, StreamUses&) noexcept {
  release_with_gil(static_cast<PyObject*>(object));
}

void release_with_gil(PyObject* object) noexcept {
  if (holds_gil()) [[likely]] {
    Py_DECREF(object);
    return;
  }
  if (!Py_IsInitialized()) return;
  auto* entry = new (std::nothrow) Dropped{object, nullptr};
  if (entry == nullptr) return;  // the object is leaked, as the only safe thing left
  // One pending call empties the list, so only the first on it asks. Where the interpreter's queue
  // is full, the next thread that takes the GIL does the work.
  if (!push(entry)) return;
  Py_AddPendingCall(
      [](void*) {
        release_all_dropped();
        return 0;
      },
      nullptr);
}

ForeignOwner python_owner(PyObject* object) { return quick_owner(object); }

Storage keep_alive(PyObject* owner, void* data, std::size_t bytes, Device device, bool readonly) {
  if (device.is_cpu()) return python_owner(owner).adopt(data, bytes, device, readonly);
  ForeignView view;
  view.owner = python_owner(owner);
  view.memory.data = data;
  view.memory.device = device;
  view.memory.dtype = uint8;
  view.memory.shape = Shape{static_cast<std::int64_t>(bytes)};
  view.memory.row_major = true;
  view.memory.readonly = readonly;
  return share(view)->storage();
}

PyObject* owner_of(const Storage& storage) noexcept {
  return static_cast<PyObject*>(foreign_context(storage, &release_object));
}

}  // namespace spanwise::python
