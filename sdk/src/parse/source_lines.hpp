// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// Lines that a back end inserts before the user's source.
namespace spanwise::parse {

// Used in place of the compiler options -D and -U: inserted after the back end's own headers, so
// that a macro called T affects the user's source but not those headers.

/// The directive for the argument of -D: "N", "N=4", "F(x)=x". Text after a newline is ignored, as
/// compilers do.
inline std::string define_line(std::string_view macro) {
  macro = macro.substr(0, macro.find('\n'));
  const std::size_t equals = macro.find('=');
  const std::string_view value = equals == macro.npos ? "1" : macro.substr(equals + 1);
  return "#define " + std::string(macro.substr(0, equals)) + " " + std::string(value);
}

inline std::string undefine_line(std::string_view macro) {
  return "#undef " + std::string(macro.substr(0, macro.find('\n')));
}

/// `text` as a C string literal; newlines become spaces.
inline std::string c_literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

}  // namespace spanwise::parse
