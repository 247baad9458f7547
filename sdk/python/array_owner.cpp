// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>

#include "bind.hpp"
#include "py_array.hpp"

/// Python objects as owners of memory. The last array of an imported buffer may go on a thread that
/// Python does not know, while other locks are held, or after the interpreter has ended; taking the
/// GIL there could wait for ever. So a reference is dropped at once only where the GIL is held
/// already; otherwise it is put on a list that the next holder of the GIL empties.
namespace spanwise::python {

namespace {

struct Owner {
  PyObject* object;
  Owner* next = nullptr;
};

std::atomic<Owner*> abandoned{nullptr};
// Set by Python's atexit: from then on no thread but the one that ends the interpreter may count on it.
std::atomic<bool> is_ending{false};

int drop_abandoned(void* = nullptr) noexcept {
  Owner* owner = abandoned.exchange(nullptr, std::memory_order_acquire);
  while (owner != nullptr) {
    Owner* next = owner->next;
    Py_DECREF(owner->object);
    delete owner;
    owner = next;
  }
  return 0;
}

void abandon(Owner* owner) noexcept {
  Owner* head = abandoned.load(std::memory_order_relaxed);
  do {
    owner->next = head;
  } while (!abandoned.compare_exchange_weak(head, owner, std::memory_order_release, std::memory_order_relaxed));
  // One pending call empties the whole list, so only the first on it asks for one. Where Python's
  // queue of them is full, the next keep_alive() does the work.
  if (head == nullptr) Py_AddPendingCall(&drop_abandoned, nullptr);
}

// ReleaseFn of keep_alive().
void release_owner(void* context, void*, std::size_t, StreamUses&) noexcept {
  auto* owner = static_cast<Owner*>(context);
  if (!Py_IsInitialized()) return;  // the object went with its interpreter
  if (PyGILState_Check()) {
    Py_DECREF(owner->object);
    delete owner;
    return;
  }
  if (!is_ending.load(std::memory_order_acquire)) abandon(owner);
}

}  // namespace

ForeignOwner python_owner(PyObject* owner) {
  if (abandoned.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
    drop_abandoned();
  ForeignOwner holder(&release_owner, new Owner{owner});
  Py_INCREF(owner);
  return holder;
}

Storage keep_alive(PyObject* owner, void* data, std::size_t bytes, Device device, bool readonly) {
  return python_owner(owner).adopt(data, bytes, device, readonly);
}

PyObject* owner_of(const Storage& storage) noexcept {
  const void* context = foreign_context(storage, &release_owner);
  return context != nullptr ? static_cast<const Owner*>(context)->object : nullptr;
}

SW_BIND(array_owner, 6) {
  pybind11::module_::import("atexit").attr("register")(
      pybind11::cpp_function([] { is_ending.store(true, std::memory_order_release); }));
}

}  // namespace spanwise::python
