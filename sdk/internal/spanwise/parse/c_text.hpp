// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "spanwise/core/dtype.hpp"

/// Texts of CUDA C that the library writes: names of types, and the user's code in them.
namespace spanwise {

/// The CUDA C type name of a computable dtype: "float", "unsigned short"; where C has no type, a
/// name of <spanwise/elements.cuh>: "Bool", "Half", "BFloat", "Complex<float>", "Complex<double>".
/// Throws DTypeError for other dtypes, which kernels can only move as unsigned integers
/// (word_text()).
const char* element_text(DType dtype);

/// The CUDA C name of the unsigned integer type of `bytes` bytes (1, 2, 4 or 8), for moving
/// elements of any dtype and for sign-agnostic integer arithmetic. Throws DTypeError for other
/// sizes.
const char* word_text(int bytes);

namespace parse {

/// Whether `name` is one of the tokens of `code`.
bool has_token(std::string_view code, std::string_view name);

/// A user's `code` with its own line numbers, as file `label` in the compiler's messages; "" for no
/// code.
std::string with_line_directives(std::string_view label, std::string_view code);

/// The same for statements that compute one element, the last of which needs no semicolon. A return
/// in them ends the element, not the function around it.
std::string element_statements(std::string_view label, std::string_view code);

/// `text` as a C string literal; control characters become spaces.
std::string c_literal(std::string_view text);

/// `source` with its line numbers in front, for CompileError.
std::string with_line_numbers(std::string_view source);

}  // namespace parse
}  // namespace spanwise
