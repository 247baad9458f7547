// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "lifetime.hpp"

#include <pybind11/gil.h>
#include <pybind11/pybind11.h>

#include <atomic>
#include <new>

#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"

namespace spanwise::python {

struct DroppedReference {
  PyObject* object;
  DroppedReference* next;
};

// Lock-free stack: pushed by threads without the GIL, emptied by a thread that holds it.
constinit std::atomic<DroppedReference*> dropped_references{nullptr};

void release_all_dropped() noexcept {
  DroppedReference* entry = dropped_references.exchange(nullptr, std::memory_order_acquire);
  while (entry != nullptr) {
    DroppedReference* next = entry->next;
    Py_DECREF(entry->object);
    delete entry;
    entry = next;
  }
}

namespace {

// Returns whether the stack was empty. Another thread may free `entry` as soon as it is pushed.
bool push(DroppedReference* entry) noexcept {
  DroppedReference* head = dropped_references.load(std::memory_order_relaxed);
  do {
    entry->next = head;
  } while (!dropped_references.compare_exchange_weak(head, entry, std::memory_order_release,
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
  auto* entry = new (std::nothrow) DroppedReference{object, nullptr};
  if (entry == nullptr) return;  // out of memory: leaks the object
  // One pending call empties the stack, so only the push onto an empty stack adds one. If the
  // interpreter's queue of pending calls is full, the next thread that takes the GIL empties it.
  if (!push(entry)) return;
  Py_AddPendingCall(
      [](void*) {
        release_all_dropped();
        return 0;
      },
      nullptr);
}

Storage storage_owned_by(PyObject* owner, void* data, std::size_t bytes, Device device,
                         bool readonly) {
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
