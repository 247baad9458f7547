// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/kernels/source_outline.hpp"

#include <array>
#include <utility>

#include "parse/device_code.hpp"
#include "parse/kernel_source.hpp"
#include "parse/warp_order.hpp"
#include "runtime/backend.hpp"

namespace spanwise {
namespace {

// The text of tokens [begin, end).
std::string_view text_of(std::string_view source, const std::vector<parse::Token>& tokens,
                         std::size_t begin, std::size_t end) {
  if (begin == end) return {};
  const parse::Token& last = tokens[end - 1];
  return source.substr(tokens[begin].offset, last.offset + last.text.size() - tokens[begin].offset);
}

}  // namespace

std::vector<DeclaredKernel> declared_kernels(std::string_view source) {
  std::vector<DeclaredKernel> out;
  for (parse::SourceKernel& kernel : parse::scan_kernels(std::string(source)).kernels) {
    DeclaredKernel declared{.name = std::move(kernel.qualified_name),
                            .line = kernel.line,
                            .is_template = kernel.is_template,
                            .has_barrier = kernel.has_barrier,
                            .parameters = {}};
    for (parse::ParameterDeclaration& parameter : kernel.parameters)
      declared.parameters.push_back({.name = std::move(parameter.name),
                                     .type = std::move(parameter.type),
                                     .is_pointer = parameter.is_pointer,
                                     .is_const = parameter.is_const,
                                     .dtype = parameter.dtype});
    out.push_back(std::move(declared));
  }
  return out;
}

SourceOutline outline_source(std::string_view source) {
  // In the order of parse::Declaration::Kind.
  constexpr std::array<std::string_view, 5> kinds{"function", "prototype", "type", "variable",
                                                  "other"};
  const std::vector<parse::Token> tokens = parse::lex(source);
  SourceOutline outline;
  for (const parse::Token& token : tokens) outline.tokens.push_back({token.text, token.line});
  for (parse::Declaration& each : parse::split_declarations(tokens))
    outline.declarations.push_back({.kind = kinds[static_cast<std::size_t>(each.kind)],
                                    .begin = each.begin,
                                    .end = each.end,
                                    .head = text_of(source, tokens, each.begin, each.head_end),
                                    .names = std::move(each.names)});
  return outline;
}

std::vector<int> warp_step_lines(const std::string& source) {
  return parse::find_warp_order(parse::lex(source)).lines;
}

std::string_view header_on_cpu(std::string_view name) {
  return runtime::find_backend(DeviceKind::cpu)->header_handling(name);
}

}  // namespace spanwise
