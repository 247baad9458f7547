// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spanwise/kernel_expressions/expression_kernels.hpp"

/// Declarations of a kernel's arguments, and how its code uses them.
namespace spanwise::kernel_expressions {

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
/// Whether `text` declares a variable `i`, so that x[i] may refer to another i.
bool declares_index(std::string_view text);

/// Replaces each array[i] by (*sw_at_array); line numbers are kept.
std::string replace_element_accesses(std::string_view text, const std::vector<std::string>& arrays);

/// The names of the parameters that are arrays accessed by element.
std::vector<std::string> element_names(const std::vector<Parameter>& parameters);

/// Throws ArgumentError if two have the same name, or a name that generated source uses.
void check_names(const std::string& label, const std::vector<Parameter>& parameters);

/// The C++ type with which a user's operation computes: "float", "long long", "__half",
/// "complex<float>". Throws DTypeError for dtypes that cannot be computed on.
std::string c_type(DType dtype);

}  // namespace spanwise::kernel_expressions
