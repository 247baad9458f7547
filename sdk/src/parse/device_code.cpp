// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "parse/device_code.hpp"

#include <algorithm>
#include <array>

#include "parse/kernel_source.hpp"

namespace spanwise::parse {
namespace {

using Kind = Declaration::Kind;

constexpr std::array<std::string_view, 5> device_words{"__global__", "__device__", "__constant__",
                                                       "__managed__", "__shared__"};

// A function of CUDA's host API: cudaMalloc.
bool is_host_api(std::string_view name) {
  return name.starts_with("cuda") && name.size() > 4 && name[4] >= 'A' && name[4] <= 'Z';
}

}  // namespace

void DeviceCode::add_macros(const std::vector<Token>& tokens) {
  for (const Token& token : tokens) {
    if (token.kind != Token::Kind::directive) continue;
    const std::vector<Token> words = lex(token.text.substr(1));
    if (words.size() < 2 || words[0].text != "define") continue;
    Names& body = macros_[words[1].text];
    for (std::size_t i = 2; i < words.size(); ++i)
      if (words[i].kind == Token::Kind::identifier) body.insert(words[i].text);
  }
}

void DeviceCode::add(std::string_view text) {
  SourceFile file{text, lex(text), {}};
  add_macros(file.tokens);
  file.declarations = split_declarations(file.tokens);
  files_.push_back(std::move(file));
}

void DeviceCode::add_whole(std::string_view text) {
  std::erase_if(files_, [&](const SourceFile& file) { return file.text.data() == text.data(); });
  const std::vector<Token> tokens = lex(text);
  add_macros(tokens);
  for (const Token& token : tokens)
    if (token.kind == Token::Kind::identifier) roots_.insert(token.text);
}

// The identifiers before the body or initialiser, with those of macros among them.
DeviceCode::Names DeviceCode::specifiers(const SourceFile& file,
                                         const Declaration& declaration) const {
  Names words;
  std::vector<std::string_view> pending;
  const auto use = [&](std::string_view name) {
    if (words.insert(name).second && macros_.contains(name)) pending.push_back(name);
  };
  for (std::size_t i = declaration.begin; i < declaration.head_end; ++i)
    if (file.tokens[i].kind == Token::Kind::identifier) use(file.tokens[i].text);
  while (!pending.empty()) {
    const Names& body = macros_.at(pending.back());
    pending.pop_back();
    for (const std::string_view name : body) use(name);
  }
  return words;
}

bool DeviceCode::is_device(const SourceFile& file, const Declaration& declaration) const {
  if (declaration.kind == Kind::type) return false;
  const Names words = specifiers(file, declaration);
  return std::ranges::any_of(device_words,
                             [&](std::string_view word) { return words.contains(word); });
}

// Whether device code cannot call the function: it is __host__ alone, launches kernels, or calls
// the host API or another such function. A function without specifiers is the host's if device code
// has a function of that name; otherwise it may be device code, because the CPU back end accepts
// that.
bool DeviceCode::is_host(const SourceFile& file, const Declaration& declaration) const {
  const auto is_declared = [&](const Names& functions) {
    return std::ranges::any_of(declaration.names,
                               [&](std::string_view name) { return functions.contains(name); });
  };
  if (declaration.kind == Kind::prototype)
    return is_declared(host_functions_) && !is_device(file, declaration);
  if (declaration.kind != Kind::function) return false;
  const Names words = specifiers(file, declaration);
  if (words.contains("constexpr") || words.contains("__device__") || words.contains("__global__"))
    return false;
  if (words.contains("__host__")) return true;
  for (std::size_t i = declaration.head_end; i + 1 < declaration.end; ++i) {
    const std::string_view name = file.tokens[i].text;
    const bool calls = file.tokens[i + 1].text == "(" || file.tokens[i + 1].text == "<";
    if (opens_launch(file.tokens, i)) return true;
    if (calls && (is_host_api(name) || host_functions_.contains(name))) return true;
  }
  return is_declared(device_functions_);
}

template <class Body>
void DeviceCode::for_each(const Body& body) const {
  for (const SourceFile& file : files_)
    for (const Declaration& declaration : file.declarations) body(file, declaration);
}

// Callers of host functions are host functions, and so on.
void DeviceCode::find_host_functions() {
  for (std::size_t count = 1; count != host_functions_.size();) {
    count = host_functions_.size();
    for_each([&](const SourceFile& file, const Declaration& declaration) {
      if (!is_host(file, declaration)) return;
      for (const std::string_view name : declaration.names)
        if (!device_functions_.contains(name)) host_functions_.insert(name);
    });
  }
}

void DeviceCode::resolve() {
  for_each([&](const SourceFile& file, const Declaration& declaration) {
    if (declaration.kind == Kind::function && is_device(file, declaration))
      device_functions_.insert(declaration.names.begin(), declaration.names.end());
  });
  find_host_functions();
  for_each([&](const SourceFile& file, const Declaration& declaration) {
    const bool is_root = is_device(file, declaration) || declaration.names.empty();
    if (is_host(file, declaration)) return;
    for (std::size_t i = declaration.begin; i < declaration.end; ++i) {
      const Token& token = file.tokens[i];
      if (token.kind != Token::Kind::identifier) continue;
      if (is_root) roots_.insert(token.text);
      for (const std::string_view name : declaration.names) uses_[name].insert(token.text);
    }
  });
  for (const std::string_view name : roots_) reach(name);
}

void DeviceCode::reach(std::string_view name) {
  std::vector<std::string_view> pending{name};
  while (!pending.empty()) {
    const std::string_view next = pending.back();
    pending.pop_back();
    if (!reached_.insert(next).second) continue;
    for (const auto* graph : {&macros_, &uses_})
      if (const auto entry = graph->find(next); entry != graph->end())
        pending.insert(pending.end(), entry->second.begin(), entry->second.end());
  }
}

bool DeviceCode::is_kept(const SourceFile& file, const Declaration& declaration) const {
  if (is_device(file, declaration)) return true;
  if (is_host(file, declaration)) return false;
  return declaration.names.empty() ||
         std::ranges::any_of(declaration.names,
                             [&](std::string_view name) { return reached_.contains(name); });
}

std::string DeviceCode::without_host_code(std::string_view text) const {
  std::string out(text);
  // Compilers skip a byte order mark only where a file begins.
  if (text.starts_with("\xef\xbb\xbf")) out.replace(0, 3, "   ");
  const auto file = std::ranges::find_if(
      files_, [&](const SourceFile& candidate) { return candidate.text.data() == text.data(); });
  if (file == files_.end()) return out;
  for (const Declaration& declaration : file->declarations) {
    if (is_kept(*file, declaration)) continue;
    for (std::size_t i = declaration.begin; i < declaration.end; ++i) {
      const Token& token = file->tokens[i];
      if (token.kind == Token::Kind::directive) continue;
      for (std::size_t k = 0; k < token.text.size(); ++k)
        if (char& c = out[token.offset + k]; c != '\n') c = ' ';
    }
  }
  return out;
}

std::set<std::size_t> inner_directives(const std::vector<Token>& tokens) {
  std::set<std::size_t> inner;
  for (const Declaration& declaration : split_declarations(tokens))
    for (std::size_t i = declaration.begin; i < declaration.end; ++i)
      if (tokens[i].kind == Token::Kind::directive) inner.insert(i);
  return inner;
}

}  // namespace spanwise::parse
