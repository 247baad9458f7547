// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "python/support/gil.hpp"

#include <pybind11/gil.h>
#include <pybind11/pybind11.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <new>

#include "python/array/array_object.hpp"
#include "spanwise/core/interpreter_lock.hpp"
#include "spanwise/python/binding.hpp"

namespace spanwise::python {
namespace {

bool interpreter_is_ending() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0 || Py_IsInitialized() == 0;
#else
  return _Py_IsFinalizing() != 0 || Py_IsInitialized() == 0;
#endif
}

// Blocks the thread until the process ends, as CPython 3.14 does. The thread does not hold the GIL.
[[noreturn]] void stop_thread() noexcept {
  for (;;) pause();
}

void* release_gil() noexcept { return holds_gil() ? PyEval_SaveThread() : nullptr; }

void acquire_gil(void* released) noexcept {
  PyEval_RestoreThread(static_cast<PyThreadState*>(released));
}

constexpr InterpreterLock python_gil{&release_gil, &acquire_gil};

}  // namespace

bool holds_gil() noexcept {
  // Not PyGILState_Check(): it returns 1 in every thread once a sub-interpreter exists.
  PyThreadState* mine = PyGILState_GetThisThreadState();
  return mine != nullptr && mine == pybind11::detail::get_thread_state_unchecked();
}

int take_gil() noexcept {
  // During finalization PyGILState_Ensure() cannot create a thread state for a thread without one.
  if (PyGILState_GetThisThreadState() == nullptr && interpreter_is_ending()) stop_thread();
  const PyGILState_STATE state = PyGILState_Ensure();
  release_dropped();
  return state;
}

}  // namespace spanwise::python

/// Replaces the personality routine of every C++ frame of this module (linker option
/// --wrap=__gxx_personality_v0 in CMakeLists.txt). CPython before 3.14 calls pthread_exit() in any
/// function that takes the GIL during finalization. That unwinds the stack: destructors would use
/// Python objects without the GIL, and noexcept functions and catch (...) would abort the process.
/// It can happen below any call into Python, not only in GilRelease and GilAcquire, so the thread
/// is blocked at the first frame of this module that has a destructor or handler to run.
extern "C" {

_Unwind_Reason_Code __real___gxx_personality_v0(int version, _Unwind_Action actions,
                                                _Unwind_Exception_Class type,
                                                _Unwind_Exception* exception,
                                                _Unwind_Context* context);

[[gnu::visibility("hidden")]] _Unwind_Reason_Code __wrap___gxx_personality_v0(
    int version, _Unwind_Action actions, _Unwind_Exception_Class type, _Unwind_Exception* exception,
    _Unwind_Context* context) {
  if ((actions & _UA_FORCE_UNWIND) != 0 && spanwise::python::interpreter_is_ending())
    spanwise::python::stop_thread();
  return __real___gxx_personality_v0(version, actions, type, exception, context);
}

}  // extern "C"

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

SW_BIND(gil) { set_interpreter_lock(python_gil); }

}  // namespace spanwise::python
