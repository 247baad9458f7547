// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "spanwise/core/array.hpp"
#include "spanwise/kernels/kernel.hpp"

/// A Python object becomes a kernel argument: arrays, numbers, structs, host arrays that are copied
/// around the launch (sw.driver.In, Out, InOut), and untyped device memory (sw.driver.mem_alloc).
namespace spanwise::python {

enum class WrappedKind : int {
  in,      ///< copied to the device before the kernel
  out,     ///< copied back after it
  in_out,  ///< both
  memory,  ///< device memory for a pointer parameter of any type
};

struct PyWrapped;

/// A host array as an argument of one launch. The kernel gets its memory if it is on the kernel's
/// device and C-contiguous, else a temporary.
class HostArgument {
 public:
  /// `only_reads`: the kernel's parameter is a pointer to const. Throws ReadOnlyError for Out and
  /// InOut of read-only memory. Needs the GIL.
  HostArgument(const PyWrapped& wrapped, Device device, bool only_reads);

  const Array& on_device() const noexcept { return device_; }
  const Array& host() const noexcept { return host_; }
  bool needs_transfer() const noexcept { return is_temporary_; }
  bool is_copied_back() const noexcept { return is_temporary_ && kind_ != WrappedKind::in; }
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

/// The bytes of a struct.
using ValueBytes = std::string;

/// NumPy scalars (structured ones as bytes), ctypes numbers, structs and pointers, bytes objects,
/// and complex numbers as kernel arguments; nothing for other objects. Throws DTypeError for a
/// NumPy scalar of an unsupported dtype. Needs the GIL.
std::optional<std::variant<KernelArg, ValueBytes>> value_from(PyObject* object);

/// Says which field of a struct that value_from() converts is not where the struct `type` of
/// `source` has it; "" if there is none. Needs the GIL.
std::string struct_mismatch(PyObject* value, const std::string& type, std::string_view source);

/// Fast path: a scalar of one of NumPy's types that value_from() has converted before, read without
/// calling Python; nothing for other objects. Needs the GIL.
std::optional<KernelArg> cached_type_number(PyObject* object);

/// A Python int as int64, or as uint64 if it exceeds int64. Throws KernelArgumentError.
KernelArg integer_argument(PyObject* object);

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
  /// without the GIL. Throws KernelArgumentError if two that are copied back share memory.
  void copy_in();
  /// Copies Out and InOut arguments back and waits for the copies. Call without the GIL.
  void copy_out() const;

 private:
  KernelArg argument_from(std::size_t index, PyObject* object);
  KernelArg argument_of_rarer_type(std::size_t index, PyObject* object);
  KernelArg wrapped_argument(std::size_t index, const PyWrapped& wrapped);
  KernelArg foreign_array(PyObject* object);
  void check_struct(std::size_t index, PyObject* object) const;
  void check_outputs() const;
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
