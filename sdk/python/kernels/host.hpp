// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <vector>

#include "spanwise/array.hpp"
#include "spanwise/kernel.hpp"

/// Kernel arguments that say what is to happen around the call: sw.driver.In, Out, InOut, and the
/// untyped memory of sw.driver.mem_alloc.
namespace spanwise::python {

enum class Around : int {
  in,      ///< copied to the device before the kernel
  out,     ///< copied back after it
  in_out,  ///< both
  memory,  ///< memory of the device, whatever the kernel's pointer leads to
};

/// An object of one of those four types.
struct PyWrapped {
  PyObject_HEAD
  PyObject* array;  ///< what the user wrapped, any library's; of memory, a spanwise.Array or None
  Around around;
};

/// Null where `object` is none of the four.
const PyWrapped* wrapped_in(PyObject* object) noexcept;

/// A host array around one call: the memory that the kernel gets is its own where that is on the
/// kernel's device and can be passed as a pointer, else a temporary.
class HostArgument {
 public:
  /// `only_reads`: the kernel's parameter is a pointer to const. Throws ReadOnlyError for Out and
  /// InOut of read-only memory. Needs the GIL.
  HostArgument(const PyWrapped& wrapped, Device device, bool only_reads);

  const Array& on_device() const noexcept { return device_; }
  bool needs_transfer() const noexcept { return is_temporary_; }
  /// Makes the temporary on the current stream and, for In and InOut, fills it. Without the GIL.
  void copy_in();
  /// Copies back for Out and InOut; the data is there on return. Without the GIL.
  void copy_out() const;

 private:
  Array host_, device_;
  Device target_;
  Around around_;
  bool is_temporary_ = false;
};

}  // namespace spanwise::python
