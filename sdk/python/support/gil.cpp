// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "gil.hpp"

#include <pybind11/pybind11.h>
#include <unistd.h>
#include <unwind.h>

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

SW_BIND(gil) { set_interpreter_lock(python_gil); }

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
