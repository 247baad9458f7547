// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "bridge_lifetime.hpp"

namespace spanwise::python {

/// A Python object that native code may hold, and let go of on any thread, with or without the GIL.
using SharedObject = std::shared_ptr<PyObject>;

inline SharedObject share_object(pybind11::object object) {
  return SharedObject(object.release().ptr(), &release_with_gil);
}

/// Others may run Python while this lives.
class WithoutGil {
 public:
  WithoutGil() noexcept : state_(PyEval_SaveThread()) {}
  ~WithoutGil() { PyEval_RestoreThread(state_); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

/// The calling thread may use Python while this lives, whether it could before or not.
class WithGil {
 public:
  WithGil() noexcept : state_(PyGILState_Ensure()) {}
  ~WithGil() { PyGILState_Release(state_); }
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace spanwise::python
