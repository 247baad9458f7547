// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../elementwise_table.hpp"
#include "spanwise/op_sdk.hpp"

namespace spanwise::ops {

/// The operation as an op of graphs: one object for each, registered under its name.
SW_API Ref<const Op> elementwise_op(OpId op);

/// Whether `op` is an elementwise_op(), or a variant of one that overwrites an input.
bool is_elementwise(const Op& op);
/// The operation of an elementwise_op(); nullopt for other ops, and for variants that overwrite an
/// input.
std::optional<OpId> elementwise_id(const Op& op);
/// The signature for operands of the variables' dtypes. Throws as resolve().
OpSignature signature_of(OpId op, std::span<const Variable> operands);

/// Whether the array is one number on the host, which kernels get by value.
bool is_host_number(const Array& array) noexcept;
/// `array` if it is on the device or is_host_number(); else a copy on the device, which is kept in
/// `moved`.
const Array& on_device_or_number(const Array& array, Device device, std::optional<Array>& moved);

/// Op::gradient() of an elementwise operation applied at `node`.
std::vector<Cotangent> elementwise_gradient(OpId op, const Apply& node, const Cotangent& output);

/// An elementwise operation of a user, as an op of graphs.
struct UserOpSpec {
  struct Parameter {
    std::string name;
    /// A placeholder for a dtype, "T": all parameters with the same one have equal dtypes.
    std::string dtype_letter{};
    std::optional<DType> dtype{};  ///< the dtype of a parameter without a letter
    friend bool operator==(const Parameter&, const Parameter&) = default;
  };
  std::string name;
  std::vector<Parameter> inputs, outputs;
  std::string operation;  ///< see ElementBody
  std::string preamble{};
  GradientRule gradient{};
};

/// The op runs alone, or as a step of a fused program. Throws ArgumentError for an inconsistent
/// spec.
SW_API Ref<const Op> user_op(UserOpSpec spec);

}  // namespace spanwise::ops
