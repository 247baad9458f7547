// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "kernels/module_state.hpp"
#include "spanwise/kernels/kernel.hpp"

namespace spanwise::kernels {

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

}  // namespace spanwise::kernels
