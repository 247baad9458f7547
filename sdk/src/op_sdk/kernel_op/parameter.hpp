// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "op_sdk/kernel_op/expression.hpp"
#include "spanwise/dtype.hpp"

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
class TypeBindings {
 public:
  std::optional<DType> find(char letter) const;
  void bind(char letter, DType dtype) { bound_.emplace_back(letter, dtype); }
  /// The parameter's dtype; nullopt where its letter is not bound.
  std::optional<DType> dtype_of(const DeclaredParameter& parameter) const;
  const std::vector<std::pair<char, DType>>& all() const noexcept { return bound_; }

 private:
  std::vector<std::pair<char, DType>> bound_;
};

/// The CUDA C name of a dtype, and the header that declares it ("" for none). Throws ArgumentError
/// for a dtype without a C type; `where` begins the message.
struct CType {
  std::string name, header;
};
CType c_type(DType dtype, const std::string& where);

}  // namespace spanwise::op_sdk
