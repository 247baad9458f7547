// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <cstddef>
#include <span>
#include <vector>

#include "host.hpp"
#include "spanwise/kernel.hpp"
#include "values.hpp"

namespace spanwise::python {

/// A call's Python arguments as kernel arguments, and what they need to stay alive until the launch
/// returns. The usual call (our arrays, ints, floats) takes no memory.
class PackedArguments {
 public:
  /// Throws KernelArgumentError, ReadOnlyError or CopyNeededError naming kernel and argument. Needs
  /// the GIL; the objects must live as long as this one.
  PackedArguments(const Kernel& function, PyObject* const* values, std::size_t count);
  PackedArguments(const PackedArguments&) = delete;
  PackedArguments& operator=(const PackedArguments&) = delete;

  std::span<const KernelArg> arguments() const noexcept { return {arguments_, count_}; }
  /// Some argument is copied before or after the kernel.
  bool needs_transfers() const noexcept;
  /// Copies In and InOut to temporaries on the current stream; call before using arguments().
  /// Without the GIL.
  void copy_in();
  /// Copies Out and InOut back, and waits for them. Without the GIL.
  void copy_out() const;

 private:
  KernelArg argument_from(std::size_t index, PyObject* object);
  KernelArg other_argument(std::size_t index, PyObject* object);
  KernelArg wrapped_argument(std::size_t index, const PyWrapped& wrapped);
  KernelArg foreign_array(PyObject* object);
  [[noreturn]] void explain(std::size_t index) const;

  static constexpr std::size_t inline_count = 16;

  const Kernel& function_;
  std::size_t count_;
  KernelArg* arguments_;
  alignas(KernelArg) std::byte inline_arguments_[inline_count * sizeof(KernelArg)];
  std::vector<KernelArg> more_arguments_;
  // Their elements are pointed to, so each gets its final size before the first element.
  std::vector<Array> foreign_arrays_;
  std::vector<ValueBytes> structs_;
  std::vector<HostArgument> host_arguments_;
};

}  // namespace spanwise::python
