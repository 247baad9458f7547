// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// Lines that a back end writes before a user's text.
namespace spanwise::runtime {

// A compiler's -D and -U. Written behind what the back end has there itself, a macro called T
// reaches the user's text and breaks nobody else's headers.

/// What -D is followed by: "N", "N=4", "F(x)=x". What comes after a line's end is left out, as
/// compilers do.
inline std::string define_line(std::string_view macro) {
  macro = macro.substr(0, macro.find('\n'));
  const std::size_t equals = macro.find('=');
  const std::string_view meaning = equals == macro.npos ? "1" : macro.substr(equals + 1);
  return "#define " + std::string(macro.substr(0, equals)) + " " + std::string(meaning);
}

inline std::string undefine_line(std::string_view macro) {
  return "#undef " + std::string(macro.substr(0, macro.find('\n')));
}

/// `text` as a C string literal; a line's end becomes a space.
inline std::string c_literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

}  // namespace spanwise::runtime
