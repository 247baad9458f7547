// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "kernels/module_state.hpp"
#include "runtime/backend.hpp"
#include "runtime/settings.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/kernels/kernel.hpp"

/// The steps of a launch, which Kernel::launch() calls.
namespace spanwise::kernels {

/// Throws KernelArgumentError for a wrong number of arguments.
[[noreturn]] void fail_count(const KernelState& function, std::size_t count);

/// The arguments of one launch: checked, converted, and laid out for the driver. Launches of up to
/// 16 arguments and 512 bytes of values do not allocate.
class BoundArguments {
 public:
  /// Throws KernelArgumentError or ReadOnlyError. `arguments` must outlive this object: structs and
  /// numbers of the parameter's type are passed without copying.
  BoundArguments(const KernelState& function, std::span<const KernelArg> arguments);
  BoundArguments(const BoundArguments&) = delete;
  BoundArguments& operator=(const BoundArguments&) = delete;

  /// pointers()[i] points to the bytes of argument i.
  void* const* pointers() const noexcept { return pointers_; }

 private:
  // False, without an effect, if the argument does not match the rule of its parameter.
  bool try_bind(std::size_t index, const ParameterRule& rule, const KernelArg& argument);
  bool try_bind_array(std::size_t index, const ParameterRule& rule, const Array& array);
  bool try_bind_view(std::size_t index, const ParameterRule& rule, const Array& array);
  bool try_bind_number(std::size_t index, const ParameterRule& rule, const KernelArg& argument);
  bool try_bind_scalar(std::size_t index, const ParameterRule& rule, const Scalar& number);
  bool try_bind_address(std::size_t index, const ParameterRule& rule, const Scalar& address);
  bool try_bind_opaque(std::size_t index, const ParameterRule& rule, const KernelArg& argument);
  bool try_bind_bytes(std::size_t index, const ParameterRule& rule,
                      std::span<const std::byte> bytes);
  // Sets the address of argument `index`, or stores a copy of its value. Return true, for use in
  // the conditions of try_bind().
  bool set_address(std::size_t index, const void* address) noexcept {
    pointers_[index] = const_cast<void*>(address);
    return true;
  }
  template <class T>
  bool store(std::size_t index, const T& value);
  std::byte* reserve(std::size_t bytes);

  static constexpr std::size_t inline_count = 16;
  static constexpr std::size_t inline_bytes = 512;

  const KernelState& function_;
  void** pointers_;
  std::size_t used_ = 0;
  void* inline_pointers_[inline_count];
  alignas(16) std::byte inline_values_[inline_bytes];
  std::vector<void*> more_pointers_;
  std::vector<std::unique_ptr<std::byte[]>> more_values_;
};

/// C-contiguous copies of arrays for parameters that are declared contiguous, made before a launch
/// and copied back after it on the current stream.
class ContiguousArguments {
 public:
  /// Whether an argument has to be copied. False where the number of arguments is wrong, which the
  /// launch reports.
  static bool are_needed(const KernelState& function, std::span<const KernelArg> arguments);

  /// Makes the copies. Throws the error of the launch for an array that its parameter does not
  /// accept in any layout, and KernelArgumentError for an array that the kernel may write and whose
  /// elements overlap in memory, or overlap those of another such array.
  ContiguousArguments(const KernelState& function, std::span<const KernelArg> arguments);

  std::span<const KernelArg> arguments() const noexcept { return arguments_; }
  /// Copies the arrays that the kernel may have written back, in the order of the parameters.
  void copy_out() const;

 private:
  struct ContiguousCopy {
    Array original, contiguous;
    bool is_written;
  };
  void replace(const KernelState& function, std::size_t index, const KernelArg& argument);
  // Throws KernelArgumentError if another array that the kernel may write overlaps `written`: one
  // of the results would be lost.
  void check_overlaps(const KernelState& function, const Array& written,
                      std::span<const KernelArg> arguments) const;

  std::vector<KernelArg> arguments_;
  std::deque<ContiguousCopy> copies_;  // arguments point to its elements
};

/// The stream of the launch: that of `config`, else the current one.
runtime::StreamState& stream_of(const KernelState& function, const LaunchConfig& config);

/// The last steps of every launch: binds the arguments, orders the stream after earlier work on
/// their arrays, and queues `kernel`, which is the function's or one compiled from the same source.
/// `check` may be null. Throws KernelArgumentError, ReadOnlyError, DeviceError.
void queue_launch(const KernelState& function, runtime::LoadedKernel& kernel,
                  const LaunchConfig& config, std::span<const KernelArg> arguments,
                  const runtime::LaunchCheck* check);

/// A launch under config "kernel_check". The kernel, recompiled with checks where its source is
/// available, runs on copies of its arrays between guard zones and, on the CPU, of its variables;
/// for "order" in several orders of threads. Throws KernelFaultError for a fault, with all memory
/// unchanged. Else the CPU then runs the kernel itself, and a GPU copies the result to the arrays.
/// Waits for the device.
void checked_launch(const KernelState& function, const LaunchConfig& config,
                    std::span<const KernelArg> arguments, runtime::KernelCheck check);

}  // namespace spanwise::kernels
