// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments/signature.hpp"

#include <cstddef>
#include <string>
#include <utility>

#include "core/string_utils.hpp"

namespace spanwise::kernels {
namespace {

constexpr std::int64_t pointer_size = 8;

// T and N of View<T, N>; `element` includes whether T is const.
struct ViewType {
  parse::SourceParameter element;
  int rank = 0;
};

std::optional<ViewType> parse_view(std::string_view type) {
  constexpr std::string_view name = "View<";
  std::string packed;
  for (const parse::Token& token : parse::lex(type)) {
    const bool after_word = !packed.empty() && is_word_character(packed.back());
    if (after_word && token.kind == parse::Token::Kind::identifier) packed += ' ';
    packed += token.text;
  }
  std::string_view rest = packed;
  if (rest.starts_with("const ")) rest.remove_prefix(6);
  if (rest.starts_with("::")) rest.remove_prefix(2);
  if (rest.starts_with("spanwise::")) rest.remove_prefix(10);
  if (!rest.starts_with(name) || !rest.ends_with('>')) return std::nullopt;
  const std::string_view inside = rest.substr(name.size(), rest.size() - name.size() - 1);
  const std::size_t comma = inside.rfind(',');
  if (comma == std::string_view::npos) return std::nullopt;
  ViewType view;
  view.rank = parse_number(inside.substr(comma + 1)).value_or(0);
  if (view.rank < 1 || view.rank > max_rank) return std::nullopt;
  auto element = pointer_to(inside.substr(0, comma));
  if (!element) return std::nullopt;
  view.element = std::move(*element);
  return view;
}

bool is_plain_char(std::string_view type) {
  return type.find("char") != std::string_view::npos &&
         type.find("signed") == std::string_view::npos;
}

KernelParameter known_parameter(const parse::SourceParameter& source,
                                const runtime::LoadedKernel::ParameterInfo& info) {
  KernelParameter parameter{.name = source.name,
                            .type = source.type,
                            .offset = info.offset,
                            .size = info.size,
                            .is_pointer = source.is_pointer,
                            .is_const = source.is_const,
                            .dtype = source.dtype};
  if (source.is_pointer) {
    parameter.layout = ParameterLayout::raw;
  } else if (const auto view = parse_view(source.type)) {
    parameter.view_rank = view->rank;
    parameter.layout = ParameterLayout::strided;
    parameter.is_const = view->element.is_const;
    parameter.dtype = view->element.dtype;
  }
  return parameter;
}

// Whether the parameter's size is not that of its type.
bool contradicts_size(const KernelParameter& parameter) {
  if (parameter.is_pointer) return parameter.size != pointer_size;
  if (parameter.view_rank > 0) return parameter.size != view_size(parameter.view_rank);
  return parameter.dtype && parameter.dtype->itemsize() != parameter.size;
}

ParameterRule rule_for(const KernelParameter& parameter) {
  ParameterRule rule;
  rule.size = static_cast<std::uint32_t>(parameter.size);
  rule.writes = !parameter.is_const;
  rule.copies = parameter.layout == ParameterLayout::contiguous;
  if (parameter.dtype) {
    rule.has_dtype = true;
    rule.dtype = *parameter.dtype;
  }
  if (parameter.is_pointer) {
    rule.kind = ParameterRule::Kind::pointer;
    rule.any_byte = parameter.dtype && is_plain_char(parameter.type);
  } else if (parameter.view_rank > 0) {
    rule.kind = ParameterRule::Kind::view;
    rule.view_rank = static_cast<std::uint8_t>(parameter.view_rank);
  } else if (parameter.dtype && parameter.dtype->is_computable()) {
    rule.kind = ParameterRule::Kind::scalar;
  }
  return rule;
}

// Parses a parameter list by the source scanner, which resolves C's types; empty unless it has
// `count` parameters.
std::vector<parse::SourceParameter> parameters_in(std::string_view list, std::size_t count) {
  if (list.empty()) return {};
  parse::KernelSource source = parse::scan_kernels(text("__global__ void k(", list, ");"));
  if (source.kernels.size() != 1 || source.kernels[0].parameters.size() != count) return {};
  return std::move(source.kernels[0].parameters);
}

// Fills in what the source leaves open from the compiler's types; keeps the user's name and
// spelling.
void complete(KernelParameter& parameter, const KernelParameter& compiled) {
  const bool is_array = parameter.is_pointer || parameter.view_rank > 0;
  if (contradicts_size(compiled) || (parameter.dtype && !parameter.type.empty())) return;
  if (is_array && !(compiled.is_pointer || compiled.view_rank > 0)) return;
  if (!compiled.is_pointer && compiled.view_rank == 0 && !compiled.dtype) return;
  if (parameter.type.empty()) parameter.type = compiled.type;
  parameter.dtype = compiled.dtype;
  parameter.is_pointer = compiled.is_pointer;
  parameter.is_const |= compiled.is_const;
  parameter.view_rank = compiled.view_rank;
  parameter.layout = compiled.layout;
}

}  // namespace

std::optional<parse::SourceParameter> pointer_to(std::string_view type) {
  std::vector<parse::SourceParameter> parameters = parameters_in(text(type, " *p"), 1);
  if (parameters.empty()) return std::nullopt;
  return std::move(parameters.front());
}

void Signature::add(KernelParameter parameter) {
  rules.push_back(rule_for(parameter));
  copies |= rules.back().copies;
  parameters.push_back(std::move(parameter));
}

Signature make_signature(const parse::SourceKernel* source,
                         std::span<const runtime::LoadedKernel::ParameterInfo> parameter_info,
                         std::string_view types) {
  const bool is_known = source != nullptr && source->parameters.size() == parameter_info.size();
  const std::vector<parse::SourceParameter> compiled = parameters_in(types, parameter_info.size());
  Signature out;
  for (std::size_t i = 0; i < parameter_info.size(); ++i) {
    const KernelParameter bare{
        .name = "", .type = "", .offset = parameter_info[i].offset, .size = parameter_info[i].size};
    KernelParameter parameter =
        is_known ? known_parameter(source->parameters[i], parameter_info[i]) : bare;
    if (contradicts_size(parameter)) parameter = bare;
    if (!compiled.empty()) complete(parameter, known_parameter(compiled[i], parameter_info[i]));
    out.add(std::move(parameter));
  }
  return out;
}

}  // namespace spanwise::kernels
