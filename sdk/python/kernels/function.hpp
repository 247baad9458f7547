// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include "spanwise/kernels/kernel.hpp"

/// The object struct of spanwise.KernelFunction: a plain heap type with a vectorcall slot, so that
/// a launch from Python costs little more than one from C++.
namespace spanwise::python {

struct PyKernelFunction {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  Kernel kernel;
  PyObject* origin;  ///< (module, name, declarations of bind() or None), for pickling
};

/// The result of f[grid, block, stream]: a kernel with its launch configuration. Called with the
/// kernel's arguments.
struct PyKernelLaunch {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  Kernel kernel;
  LaunchConfig config;
  PyObject* stream_owner;  ///< the stream object that `config` was made from, or null
};

/// Set by module initialisation, constant afterwards.
extern PyTypeObject* kernel_function_type;
extern PyTypeObject* kernel_launch_type;

inline PyObject* origin_of(PyObject* object) noexcept {
  return reinterpret_cast<PyKernelFunction*>(object)->origin;
}

inline Kernel& kernel_in(PyObject* object) noexcept {
  return reinterpret_cast<PyKernelFunction*>(object)->kernel;
}

/// New references; null with a Python error set when out of memory. `origin` is borrowed.
PyObject* wrap_kernel(Kernel kernel, PyObject* origin) noexcept;
PyObject* wrap_launch(const Kernel& kernel, const LaunchConfig& config, PyObject* stream) noexcept;

/// f[grid, block], f[grid, block, stream] and f[grid, block, stream, shared].
PyObject* kernel_subscript(PyObject* self, PyObject* key);

/// The methods and attributes of KernelFunction; both tables end with an empty entry.
extern PyMethodDef kernel_methods[];
extern PyGetSetDef kernel_attributes[];

}  // namespace spanwise::python
