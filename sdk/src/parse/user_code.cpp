// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/parse/user_code.hpp"

#include <algorithm>

#include "spanwise/core/error.hpp"
#include "spanwise/parse/token.hpp"

namespace spanwise::parse {

bool has_token(std::string_view code, std::string_view name) {
  const std::vector<Token> tokens = lex(code);
  return std::ranges::find(tokens, name, &Token::text) != tokens.end();
}

std::string with_line_directives(std::string_view label, std::string_view code) {
  if (code.empty()) return "";
  return text("\n#line 1 \"", label, "\"\n", code, "\n#line 1 \"made by Spanwise\"\n");
}

std::string element_statements(std::string_view label, std::string_view code) {
  const std::string lines =
      with_line_directives(label, code.empty() ? std::string() : text(code, "\n;"));
  return has_token(code, "return") ? text("    [&] { do {", lines, "} while (0); }();\n") : lines;
}

}  // namespace spanwise::parse
