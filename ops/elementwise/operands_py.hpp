// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "compute.hpp"
#include "python/support/array.hpp"
#include "python/support/number_kind.hpp"
#include "python/support/scalar.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/core/device.hpp"

/// The operands of an elementwise operation from Python: arrays of any library, lists and numbers.
namespace spanwise::python {

/// The operands of one call, their dtypes and the device of the computation. They refer to the
/// Python objects, which must outlive them.
class UfuncOperands {
 public:
  UfuncOperands(ops::OpId op, PyObject* const* values)
      : traits_(ops::traits_of(op)), count_(traits_.inputs) {
    for (int i = 0; i < count_; ++i) read_operand(i, values[i]);
    find_device();
    for (int i = 0; i < count_; ++i) import_to_device(i, values[i]);
    determine_dtypes();
  }

  std::span<const ops::Operand> operands() const {
    return {operands_.data(), static_cast<std::size_t>(count_)};
  }
  std::span<const DType> dtypes() const {
    return {dtypes_.data(), static_cast<std::size_t>(count_)};
  }
  Device device() const noexcept { return device_; }
  bool is_weak(int i) const noexcept { return number_kinds_[at(i)] != NumberKind::none; }
  const ops::OpTraits& traits() const noexcept { return traits_; }
  /// The dtype by which a cast of Python number i to `dtype` is checked: `dtype` if it has the
  /// number's kind; for a number of a lower kind a narrow dtype, which casts to `dtype` safely.
  DType number_dtype(int i, DType dtype) const {
    const NumberKind kind = number_kinds_[at(i)];
    if (kind == NumberKind::int_ && !dtype.is_integer() && !dtype.is_bool()) return int8;
    if (kind == NumberKind::float_ && dtype.is_complex()) return float16;
    return python::number_dtype(kind, dtype);
  }

  /// Converts Python numbers to the dtypes of the computation. Throws OverflowError.
  void convert_numbers(const ops::OpSignature& signature, PyObject* const* values) {
    for (int i = 0; i < count_; ++i) {
      if (number_kinds_[at(i)] == NumberKind::none) continue;
      // compute() exchanges the operands later.
      const int position = signature.swapped ? 1 - i : i;
      operands_[at(i)].scalar = scalar_from(values[i], signature.operand(position));
    }
  }

 private:
  static std::size_t at(int i) noexcept { return static_cast<std::size_t>(i); }

  void read_operand(int i, PyObject* value) {
    if (is_array(value)) {
      operands_[at(i)].array = &array_in(value);
      return;
    }
    number_kinds_[at(i)] = number_kind(value);
    if (number_kinds_[at(i)] != NumberKind::none || is_sequence(value)) return;
    if (auto borrowed = borrowed_array(value)) {
      is_borrowed_[at(i)] = true;
      operands_[at(i)].array = &imported_[at(i)].emplace(*std::move(borrowed));
      return;
    }
    operands_[at(i)].array = &imported_[at(i)].emplace(import_array(value));
  }

  static bool is_sequence(PyObject* value) noexcept {
    return PyList_Check(value) || PyTuple_Check(value);
  }

  // The device of the first array of rank > 0, else of the first array on a GPU, else the default
  // one.
  void find_device() {
    const Array* first = nullptr;
    for (int i = 0; i < count_; ++i) {
      const Array* array = operands_[at(i)].array;
      if (array == nullptr) continue;
      if (first == nullptr ||
          (first->rank() == 0 && (array->rank() > 0 || (runs_on_host(first->device()) &&
                                                        !runs_on_host(array->device())))))
        first = array;
    }
    device_ = first != nullptr ? first->device() : default_device();
  }

  // Imports lists to the device of the arrays. A borrowed array does not keep its memory alive; it
  // is imported if a GPU reads it, which may be after the call.
  void import_to_device(int i, PyObject* value) {
    if (is_borrowed_[at(i)] && !runs_on_host(device_)) {
      imported_[at(i)] = import_array(value);
      return;
    }
    if (operands_[at(i)].array != nullptr || !is_sequence(value)) return;
    operands_[at(i)].array = &imported_[at(i)].emplace(import_array(value, {.device = device_}));
  }

  void determine_dtypes() {
    std::optional<DType> strong;  // the promotion of the arrays' dtypes
    // A condition does not take part in the promotion.
    const int first = traits_.has(ops::first_is_condition) ? 1 : 0;
    for (int i = 0; i < count_; ++i) {
      const Array* array = operands_[at(i)].array;
      if (array == nullptr) continue;
      dtypes_[at(i)] = array->dtype();
      if (i < first) continue;
      strong =
          strong && *strong != array->dtype() ? promote(*strong, array->dtype()) : array->dtype();
    }
    NumberKind highest = NumberKind::none;
    for (int i = first; i < count_; ++i) highest = std::max(highest, number_kinds_[at(i)]);
    // Without arrays, the highest kind of number determines the dtype.
    if (!strong && highest != NumberKind::none) strong = python::number_dtype(highest, {});
    for (int i = 0; i < count_; ++i)
      if (number_kinds_[at(i)] != NumberKind::none)
        dtypes_[at(i)] = i < first ? bool_ : python::number_dtype(number_kinds_[at(i)], strong);
  }

  const ops::OpTraits& traits_;
  int count_;
  std::array<ops::Operand, ops::max_inputs> operands_;
  std::array<NumberKind, ops::max_inputs> number_kinds_{};
  std::array<DType, ops::max_inputs> dtypes_;
  std::array<std::optional<Array>, ops::max_inputs> imported_;
  std::array<bool, ops::max_inputs> is_borrowed_{};
  Device device_;
};

}  // namespace spanwise::python
