// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <cstddef>
#include <span>
#include <vector>

#include "host.hpp"
#include "spanwise/kernels/kernel.hpp"
#include "values.hpp"

namespace spanwise::python {

/// The Python arguments of a call as kernel arguments, with the objects that must live until the
/// launch returns. A call with at most 16 spanwise.Arrays, ints and floats allocates no memory.
class PackedArguments {
 public:
  /// Throws KernelArgumentError, ReadOnlyError or CopyNeededError, naming kernel and argument, or
  /// OutOfMemoryError or DeviceError as is. Needs the GIL. `values` must outlive this object.
  PackedArguments(const Kernel& kernel, PyObject* const* values, std::size_t count);
  PackedArguments(const PackedArguments&) = delete;
  PackedArguments& operator=(const PackedArguments&) = delete;

  std::span<const KernelArg> arguments() const noexcept { return {arguments_, count_}; }
  /// Whether an argument is copied before or after the kernel.
  bool needs_transfers() const noexcept;
  /// Copies In and InOut arguments to temporaries, on the current stream. Call before arguments(),
  /// without the GIL.
  void copy_in();
  /// Copies Out and InOut arguments back and waits for the copies. Call without the GIL.
  void copy_out() const;

 private:
  KernelArg argument_from(std::size_t index, PyObject* object);
  KernelArg argument_of_rarer_type(std::size_t index, PyObject* object);
  KernelArg wrapped_argument(std::size_t index, const PyWrapped& wrapped);
  KernelArg foreign_array(PyObject* object);
  // Rethrows the current exception as the constructor documents it.
  [[noreturn]] void rethrow_for_argument(std::size_t index) const;

  static constexpr std::size_t inline_count = 16;

  const Kernel& kernel_;
  std::size_t count_;
  KernelArg* arguments_;
  alignas(KernelArg) std::byte inline_arguments_[inline_count * sizeof(KernelArg)];
  std::vector<KernelArg> heap_arguments_;
  // Elements of arguments_ point to elements of these, which must not move: each vector is reserved
  // for count_ elements before the first push.
  std::vector<Array> foreign_arrays_;
  std::vector<ValueBytes> structs_;
  std::vector<HostArgument> host_arguments_;
};

}  // namespace spanwise::python
