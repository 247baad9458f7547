// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "op_sdk/kernel_op/expression.hpp"
#include "spanwise/core/dtype.hpp"

namespace spanwise::op_sdk {

/// One declared input or output: "image: strided uint8[h, w, 3]".
struct DeclaredParameter {
  std::string name;
  bool strided = false;
  std::optional<DType> dtype;  ///< if declared by name
  char dtype_letter = 0;       ///< else a placeholder for a dtype, "T"
  std::vector<Expression> extents;

  int rank() const noexcept { return static_cast<int>(extents.size()); }
  /// Parses a declaration. Throws ArgumentError quoting it and saying what was expected; `where`
  /// begins the message.
  static DeclaredParameter parse(std::string_view declaration, Names& names,
                                 const std::string& where);
};

/// The dtypes bound to letters in one node.
using TypeBindings = std::map<char, DType>;

/// The dtype of `parameter`, whose letter, if any, must be bound.
inline DType dtype_of(const DeclaredParameter& parameter, const TypeBindings& bindings) {
  return parameter.dtype ? *parameter.dtype : bindings.at(parameter.dtype_letter);
}

/// The CUDA C name of a dtype, and the header that declares it ("" for none). Throws ArgumentError
/// for a dtype without a C type; `where` begins the message.
struct CType {
  std::string name, header;
};
CType c_type(DType dtype, const std::string& where);

}  // namespace spanwise::op_sdk
