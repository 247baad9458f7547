// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include "spanwise/core/array.hpp"
#include "spanwise/kernels/kernel.hpp"

/// Wrapped kernel arguments: host arrays that are copied around the launch (sw.driver.In, Out,
/// InOut), and untyped device memory (sw.driver.mem_alloc).
namespace spanwise::python {

enum class WrappedKind : int {
  in,      ///< copied to the device before the kernel
  out,     ///< copied back after it
  in_out,  ///< both
  memory,  ///< device memory for a pointer parameter of any type
};

/// An object of one of those four types.
struct PyWrapped {
  PyObject_HEAD
  PyObject* array;  ///< an array of any library; for `memory` a spanwise.Array, or None if freed
  WrappedKind kind;
};

/// Null if `object` is none of the four.
const PyWrapped* wrapped_in(PyObject* object) noexcept;

/// A host array as an argument of one launch. The kernel gets its memory if it is on the kernel's
/// device and C-contiguous, else a temporary.
class HostArgument {
 public:
  /// `only_reads`: the kernel's parameter is a pointer to const. Throws ReadOnlyError for Out and
  /// InOut of read-only memory. Needs the GIL.
  HostArgument(const PyWrapped& wrapped, Device device, bool only_reads);

  const Array& on_device() const noexcept { return device_; }
  bool needs_transfer() const noexcept { return is_temporary_; }
  /// Makes the temporary on the current stream and, for In and InOut, fills it. Without the GIL.
  void copy_in();
  /// For Out and InOut, copies the temporary back and waits for the copy. Without the GIL.
  void copy_out() const;

 private:
  Array host_, device_;
  Device target_;
  WrappedKind kind_;
  bool is_temporary_ = false;
};

}  // namespace spanwise::python
