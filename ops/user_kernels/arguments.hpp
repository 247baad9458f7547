// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "parameter.hpp"
#include "spanwise/array.hpp"
#include "spanwise/scalar.hpp"

/// A call's arguments, held against what the kernel declares.
namespace spanwise::ops::user_kernels {

/// What a caller gives for one parameter; nothing at all for an output that is to be made.
struct Argument {
  const Array* array = nullptr;  ///< must live until the call returns
  std::optional<Scalar> number{};
  bool is_weak = false;                ///< a number without a dtype of its own: Python's
  std::span<const std::byte> bytes{};  ///< a struct by value; as `array`

  bool is_given() const noexcept { return array != nullptr || number || !bytes.empty(); }
};

/// An argument, fit for the kernel.
struct Operand {
  const Parameter* parameter = nullptr;
  const Array* array = nullptr;  ///< null: by value, or an output that is to be made
  DType dtype{};                 ///< of the array or the number; unset for structs by value
  Scalar number{false};          ///< as `dtype`
  std::span<const std::byte> bytes{};

  bool is_element() const noexcept {
    return array != nullptr && parameter->kind == Parameter::Kind::element;
  }
  bool is_raw() const noexcept {
    return array != nullptr && parameter->kind == Parameter::Kind::raw;
  }
};

inline constexpr std::size_t most_operands = 24;

/// Room for most_operands of T, of which a call makes the few that it has: to clear the rest would
/// cost a small call a good part of its time.
template <class T>
class Places {
 public:
  static_assert(std::is_trivially_destructible_v<T>);

  void make(std::size_t count) { std::uninitialized_value_construct_n(data(), count); }
  T* data() noexcept { return reinterpret_cast<T*>(room_); }
  const T* data() const noexcept { return reinterpret_cast<const T*>(room_); }
  T& operator[](std::size_t i) noexcept { return data()[i]; }
  const T& operator[](std::size_t i) const noexcept { return data()[i]; }

 private:
  alignas(T) std::byte room_[most_operands * sizeof(T)];
};

/// Throws KernelArgumentError for arguments of the wrong kind, DTypeError for dtypes, DeviceError
/// for arrays of several devices, ReadOnlyError; each names the kernel, the argument and a remedy.
class Operands {
 public:
  Operands(const std::string& who, std::span<const Parameter> parameters,
           std::span<const Argument> arguments);
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;

  std::span<Operand> all() noexcept { return {operands_.data(), count_}; }
  std::span<const Operand> all() const noexcept { return {operands_.data(), count_}; }
  Operand& operator[](std::size_t i) noexcept { return operands_[i]; }
  const Operand& operator[](std::size_t i) const noexcept { return operands_[i]; }
  /// Where the kernel runs: a GPU, or the CPU for all memory that the host can address.
  Device device() const noexcept { return device_; }
  /// Where outputs are made: on the device of the array that decides where the kernel runs.
  Device output_device() const noexcept { return output_device_; }
  /// What T stands for in this call. Throws DTypeError where nothing says.
  DType dtype_of(const Parameter& parameter) const;
  /// Keeps an array that this call has made, for operand `i`.
  const Array& keep(std::size_t i, Array array);

 private:
  void take_array(Operand& operand, const Array& array);
  void take_value(Operand& operand, const Argument& argument);
  void take_record(Operand& operand, const Array& array);
  void find_device(std::span<const Argument> arguments);
  void bind_letter(const Parameter& parameter, DType dtype);
  void give_numbers(std::span<const Argument> arguments);
  [[noreturn]] void refuse(const Parameter& parameter, const Argument& argument) const;
  std::string place(const Parameter& parameter) const;

  struct Letter {
    char name;
    DType dtype;
    const Parameter* by;
  };

  const std::string& who_;
  std::size_t count_ = 0;
  std::size_t letter_count_ = 0;
  Device device_, output_device_;
  Places<Operand> operands_;
  Places<Letter> letters_;
  std::vector<Array> kept_;
};

/// The number as `dtype`, as C converts it, but never with a value lost: integers stay what they
/// are, reals are rounded but neither cut nor made infinite. Throws KernelArgumentError.
Scalar converted_number(const std::string& who, const Parameter& parameter, const Scalar& number,
                        DType dtype);

/// Whether element i of both is the same memory, for every i.
bool is_same_window(const Array& a, const Array& b) noexcept;

}  // namespace spanwise::ops::user_kernels
