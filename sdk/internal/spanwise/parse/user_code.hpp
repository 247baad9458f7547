// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "spanwise/core/export.hpp"

/// Code of a user inside CUDA C that the library writes.
namespace spanwise::parse {

/// Whether `name` is one of the tokens of `code`.
SW_API bool has_token(std::string_view code, std::string_view name);

/// `code` with its own line numbers, as file `label` in the compiler's messages; "" for no code.
SW_API std::string with_line_directives(std::string_view label, std::string_view code);

/// The same for statements that compute one element, the last of which needs no semicolon. A return
/// in them ends the element, not the function around it.
SW_API std::string element_statements(std::string_view label, std::string_view code);

}  // namespace spanwise::parse
