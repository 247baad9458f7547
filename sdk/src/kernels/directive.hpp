// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spanwise::kernels {

/// The header named by a directive.
struct HeaderName {
  std::string text;  ///< the text between quotes or brackets, or a macro's name
  enum class Quoting { quoted, bracketed, macro } quoting = Quoting::quoted;
};

/// The references to other files in a source's preprocessor directives.
struct IncludeDirectives {
  std::vector<HeaderName> includes;  ///< of #include, #include_next, #import and __has_include
  struct Macro {
    std::string name;
    HeaderName header;
  };
  std::vector<Macro> macros;  ///< object-like macros whose value is a header's name
};

/// Reads the directives of `source` without evaluating conditions.
IncludeDirectives read_directives(std::string_view source);
/// `text` as a header name: "x", <x> or an identifier; empty text where it is none of them.
HeaderName parse_header_name(std::string_view text);

}  // namespace spanwise::kernels
