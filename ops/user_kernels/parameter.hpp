// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spanwise/core/dtype.hpp"
#include "spanwise/core/export.hpp"

/// A kernel's declarations of its arguments, in PyCUDA's or CuPy's syntax.
namespace spanwise::ops::user_kernels {

/// PyCUDA's "float *x, float a", or CuPy's "float32 x, raw T y".
enum class ParameterStyle { pointers, values };

struct Parameter {
  enum class Kind {
    element,  ///< an array, accessed by element; in CuPy's syntax also a number
    raw,      ///< an array as a whole
    number,   ///< a number or a struct by value
  };

  std::string name;
  Kind kind = Kind::element;
  std::string type{};             ///< in C++; "" if `type_parameter` is set
  std::string type_parameter{};   ///< T: any dtype, the same for all parameters of type T
  std::optional<DType> dtype{};   ///< none: a type parameter, or a type of the preamble
  bool is_output = false;         ///< may be written
  bool needs_whole_array = true;  ///< for element: also accessed by other indices than the loop's

  bool is_user_type() const noexcept { return !dtype && type_parameter.empty(); }
};

/// "float *x, const float *y, int n". Every pointer is Kind::raw and an output unless const. Types
/// that are neither C's nor CUDA's must be names in `preamble`. Throws ArgumentError naming
/// `label`.
std::vector<Parameter> pointer_parameters(const std::string& label, std::string_view text,
                                          std::string_view preamble);
/// "float32 x, T y, raw Z w" for inputs, which come first, and outputs. Throws as
/// pointer_parameters().
std::vector<Parameter> value_parameters(const std::string& label, std::string_view inputs,
                                        std::string_view outputs);
/// A type in either syntax, for accumulators and results: "float", "float32", "T" or a name in the
/// preamble. Of the returned parameter only the type is set. Throws as pointer_parameters().
Parameter parse_type(const std::string& label, std::string_view text, std::string_view preamble);

/// Determines from `body` which arrays of ParameterStyle::pointers are accessed by element
/// (Kind::element), and which are written. With `has_own_index` (declares_index()) each is also
/// used as a whole. If no access by element is found, all arrays are Kind::element: macros of a
/// preamble may hide accesses.
void find_elements(const std::string& body, bool has_own_index, std::vector<Parameter>& parameters);
/// The names of the parameters that are arrays accessed by element.
std::vector<std::string> element_names(const std::vector<Parameter>& parameters);

/// Throws ArgumentError if two have the same name, or a name that generated source uses.
void check_names(const std::string& label, const std::vector<Parameter>& parameters);

/// The declaration of an element body.
struct ElementDeclaration {
  std::vector<Parameter> inputs, outputs;  ///< of dtypes or type parameters, by element
  std::string operation;                   ///< names elements without an index
};

/// Reads CuPy's declarations "T x, T y" and "T z" or, where `outputs` is empty, PyCUDA's "float *z,
/// float *x" with z[i] in the operation. Throws ArgumentError naming `label`, also for operations
/// that use more than their own elements.
SW_API ElementDeclaration element_declaration(const std::string& label, const std::string& inputs,
                                              const std::string& outputs, std::string operation,
                                              const std::string& preamble);

}  // namespace spanwise::ops::user_kernels
