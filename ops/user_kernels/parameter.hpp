// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spanwise/dtype.hpp"

/// What a kernel declares of its arguments, in PyCUDA's words or in CuPy's.
namespace spanwise::ops::user_kernels {

/// "float *x, float a" (PyCUDA's) or "float32 x, raw T y" (CuPy's).
enum class Spelling { pointers, values };

struct Parameter {
  enum class Kind {
    element,  ///< an array, one element of it at a time; in CuPy's words also a number
    raw,      ///< an array as a whole
    number,   ///< a number or a struct by value
  };

  std::string name;
  Kind kind = Kind::element;
  std::string type{};            ///< in C++; "" where `letter` stands for it
  std::string letter{};          ///< T: any dtype, the same wherever T stands
  std::optional<DType> dtype{};  ///< none: a letter, or a type of the preamble's
  bool is_output = false;        ///< may be written
  bool is_used_whole = true;     ///< of element: also by indices other than the loop's own

  bool is_user_type() const noexcept { return !dtype && letter.empty(); }
};

/// "float *x, const float *y, int n". Every pointer is Kind::raw and an output unless const. Types
/// that are neither C's nor CUDA's must be words of `preamble`. Throws ArgumentError naming `who`.
std::vector<Parameter> pointer_parameters(const std::string& who, std::string_view text,
                                          std::string_view preamble);
/// "float32 x, T y, raw Z w". Throws as pointer_parameters().
std::vector<Parameter> value_parameters(const std::string& who, std::string_view text,
                                        bool are_outputs);
/// A type in either spelling, for accumulators and results: "float", "float32", "T" or a word of
/// the preamble.
Parameter type_named(const std::string& who, std::string_view text, std::string_view preamble);

/// Tells by the uses in `body` which arrays of a pointer spelling are taken one element at a time
/// (Kind::element), and which are written. With `has_own_index` each is used whole too. Where no
/// use of an element is seen, all arrays are elements: macros of a preamble may hide the uses.
void find_elements(const std::string& body, bool has_own_index, std::vector<Parameter>& parameters);
/// The names of the parameters that are arrays taken one element at a time.
std::vector<std::string> element_names(const std::vector<Parameter>& parameters);

/// Throws ArgumentError where two have one name, or a name that generated text needs.
void check_names(const std::string& who, const std::vector<Parameter>& parameters);

}  // namespace spanwise::ops::user_kernels
