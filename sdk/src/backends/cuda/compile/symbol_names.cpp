// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <vector>

#include "backends/cuda/compile/binary_symbols.hpp"

namespace spanwise::cuda {
namespace {

// "void image::scale<float>(float*, int)", or "" for a name without mangling.
std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? text.get() : "";
}

// Calls f(index) for the characters outside of brackets until it returns true; returns that index
// or npos. An opening bracket counts as outside.
template <class F>
std::size_t find_outside_brackets(std::string_view text, F&& f) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (depth == 0 && f(i)) return i;
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == ']') --depth;
  }
  return text.npos;
}

// An anonymous namespace: "(anonymous namespace)", or NVRTC's mangling of it.
bool is_anonymous(std::string_view part) {
  return part == "(anonymous namespace)" || part.starts_with("_GLOBAL__N_") ||
         part.starts_with("_INTERNAL_");
}

std::vector<std::string_view> split_scopes(std::string_view name) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at =
        find_outside_brackets(name, [&](std::size_t i) { return name.substr(i, 2) == "::"; });
    parts.push_back(name.substr(0, at));
    if (at == name.npos) return parts;
    name.remove_prefix(at + 2);
  }
}

struct SymbolNames {
  std::string plain, qualified, with_parameters;
};

SymbolNames read_names(const std::string& symbol) {
  const std::string text = demangled(symbol);
  if (text.empty()) return {symbol, symbol, symbol};
  std::string_view name = text;
  // The parameter list starts at the first '(' outside of brackets that does not start "(anonymous
  // namespace)".
  std::string_view parameters;
  const std::size_t open = find_outside_brackets(name, [&](std::size_t i) {
    return name[i] == '(' && !name.substr(i).starts_with("(anonymous namespace)");
  });
  if (open != name.npos) {
    parameters = name.substr(open);
    name = name.substr(0, open);
  }
  // Demangled names of templates start with the return type.
  while (true) {
    const std::size_t space =
        find_outside_brackets(name, [&](std::size_t i) { return name[i] == ' '; });
    if (space == name.npos) break;
    name.remove_prefix(space + 1);
  }
  SymbolNames names;
  for (const std::string_view part : split_scopes(name)) {
    if (is_anonymous(part)) continue;
    names.qualified += (names.qualified.empty() ? "" : "::") + std::string(part);
    names.plain = part;
  }
  names.with_parameters = names.qualified + std::string(parameters);
  return names;
}

// Internal symbols of the CUDA device runtime, which users cannot call.
bool is_internal_to_runtime(const std::string& symbol) {
  return symbol.starts_with("__nv_static_") && symbol.find("_cuda_device_runtime_") != symbol.npos;
}

}  // namespace

std::map<std::string, std::string> names_of(const std::vector<std::string>& all_symbols) {
  std::vector<std::string> symbols;
  std::ranges::remove_copy_if(all_symbols, std::back_inserter(symbols), is_internal_to_runtime);
  std::vector<SymbolNames> all;
  std::map<std::string, int> qualified_count, plain_count;
  for (const std::string& symbol : symbols) {
    all.push_back(read_names(symbol));
    ++qualified_count[all.back().qualified];
    ++plain_count[all.back().plain];
  }
  std::map<std::string, std::string> names;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const bool is_overloaded = qualified_count[all[i].qualified] > 1;
    names[is_overloaded ? all[i].with_parameters : all[i].qualified] = symbols[i];
    if (!is_overloaded && plain_count[all[i].plain] == 1) names[all[i].plain] = symbols[i];
  }
  return names;
}

std::string readable_name(const std::string& symbol) { return read_names(symbol).qualified; }

std::string types_of(const std::string& symbol) {
  const SymbolNames names = read_names(symbol);
  const std::string_view list =
      std::string_view(names.with_parameters).substr(names.qualified.size());
  if (!list.starts_with('(') || !list.ends_with(')')) return {};
  return std::string(list.substr(1, list.size() - 2));
}

}  // namespace spanwise::cuda
