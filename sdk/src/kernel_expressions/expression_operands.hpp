// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spanwise/kernel_expressions/expression_kernels.hpp"

/// The arguments of a call, checked against the kernel's declarations.
namespace spanwise::kernel_expressions {

/// An argument after the checks of Operands.
struct ConvertedArgument {
  const Parameter* parameter = nullptr;
  const Array* array = nullptr;  ///< null: by value, or an output that is not allocated yet
  DType dtype{};                 ///< of the array or the number; unset for structs by value
  Scalar number{false};          ///< of `dtype`
  std::span<const std::byte> bytes{};

  bool is_element() const noexcept {
    return array != nullptr && parameter->kind == Parameter::Kind::element;
  }
  bool is_input_element() const noexcept { return is_element() && !parameter->is_output; }
  bool is_raw() const noexcept {
    return array != nullptr && parameter->kind == Parameter::Kind::raw;
  }
};

/// The arguments of one call. Throws KernelArgumentError for arguments of the wrong number or kind,
/// DTypeError for dtypes, DeviceError for arrays of several devices, ReadOnlyError; each names the
/// kernel, the argument and a remedy.
class Operands {
 public:
  Operands(const std::string& label, std::span<const Parameter> parameters,
           std::span<const Argument> arguments);
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;

  std::span<ConvertedArgument> all() noexcept { return {operands_.data(), count_}; }
  std::span<const ConvertedArgument> all() const noexcept { return {operands_.data(), count_}; }
  ConvertedArgument& operator[](std::size_t i) noexcept { return operands_[i]; }
  const ConvertedArgument& operator[](std::size_t i) const noexcept { return operands_[i]; }
  /// The device that the kernel runs on: a GPU, or the CPU for all memory that the host can
  /// address.
  Device device() const noexcept { return device_; }
  /// The device of new outputs: that of the array that determines device().
  Device output_device() const noexcept { return output_device_; }
  /// The dtype of a parameter in this call, that of T for a type parameter. Throws DTypeError if no
  /// argument determines it.
  DType dtype_of(const Parameter& parameter) const;
  /// Stores an array that this call has created as operand `i`.
  const Array& keep(std::size_t i, Array array);

  /// The shape to which the arrays that are accessed by element broadcast, inputs alone or all;
  /// nothing if there are none. Throws LayoutError.
  std::optional<Shape> broadcast_shape(bool with_outputs) const;
  /// Throws LayoutError if output `i` has another shape and is not raw, or if several of its
  /// elements have one address.
  void check_output(std::size_t i, const Shape& shape) const;
  /// Copies inputs that share memory with output `i`, except for the same view if that is allowed
  /// and only own elements are read. Throws LayoutError if another output shares memory with it,
  /// except for the same view if that is allowed and one of the two need not be written.
  void separate_from(std::size_t i, bool allows_same_view);

 private:
  void take_array(ConvertedArgument& operand, const Array& array);
  void take_value(ConvertedArgument& operand, const Argument& argument);
  void take_record(ConvertedArgument& operand, const Array& array);
  void find_device(std::span<const Argument> arguments);
  void bind_type(const Parameter& parameter, DType dtype);
  void convert_numbers(std::span<const Argument> arguments);
  [[noreturn]] void refuse(const Parameter& parameter, const Argument& argument) const;
  std::string argument_prefix(const Parameter& parameter) const;

  /// The dtype of a type parameter in this call.
  struct TypeBinding {
    char name;
    DType dtype;
    const Parameter* source;  ///< whose argument determined the dtype
  };

  const std::string& label_;
  std::size_t count_ = 0;
  std::size_t binding_count_ = 0;
  Device device_, output_device_;
  UninitializedArray<ConvertedArgument> operands_;
  UninitializedArray<TypeBinding> bindings_;
  std::vector<Array> created_;
};

/// The number as `dtype`. Integers must be representable; reals may be rounded, but neither
/// truncated to integers nor overflow. Throws KernelArgumentError.
Scalar converted_number(const std::string& label, const Parameter& parameter, const Scalar& number,
                        DType dtype);

}  // namespace spanwise::kernel_expressions
