// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "parse/included_files.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "spanwise/core/error.hpp"

namespace spanwise::parse {
namespace fs = std::filesystem;

void IncludedFiles::add_main(std::string_view text, const std::string& folder) {
  collect(text, folder, false);
  device_code_.resolve();
}

void IncludedFiles::collect(std::string_view text, const std::string& folder, bool is_whole) {
  const std::vector<Token> tokens = lex(text);
  const std::set<std::size_t> inner = inner_directives(tokens);
  if (is_whole)
    device_code_.add_whole(text);
  else
    device_code_.add(text);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != Token::Kind::directive) continue;
    const std::string path = read_include(tokens[i].text, folder).path;
    if (path.empty()) continue;
    // A header that is included within a declaration is a piece of it.
    const bool is_piece = is_whole || inner.contains(i);
    const auto [entry, is_new] = collected_.try_emplace(path, is_piece);
    if (!is_new && (entry->second || !is_piece)) continue;
    entry->second = is_piece;
    collect(text_of(path), fs::path(path).parent_path().string(), is_piece);
  }
}

const std::string& IncludedFiles::text_of(const std::string& path) {
  const auto [entry, is_new] = texts_.try_emplace(path);
  if (is_new) entry->second = read_whole_file(path);
  return entry->second;
}

Include IncludedFiles::read_include(std::string_view directive, const std::string& folder) const {
  Include include;
  const std::vector<Token> parts = lex(directive.substr(1));
  include.is_include = parts.size() >= 2 && parts[0].text == "include";
  const std::size_t open = directive.find_first_of("<\"");
  if (!include.is_include || open == std::string_view::npos) return include;
  include.is_quoted = directive[open] == '"';
  const std::size_t close = directive.find(include.is_quoted ? '"' : '>', open + 1);
  if (close == std::string_view::npos) return include;
  include.name = directive.substr(open + 1, close - open - 1);
  include.path = find(include.name, include.is_quoted, folder);
  return include;
}

std::string IncludedFiles::find(std::string_view name, bool is_quoted,
                                const std::string& folder) const {
  std::error_code error;
  const auto exists = [&](const fs::path& path) { return fs::is_regular_file(path, error); };
  const fs::path relative = std::string(name);
  if (relative.is_absolute()) return exists(relative) ? relative.string() : "";
  if (is_quoted && exists(fs::path(folder) / relative))
    return (fs::path(folder) / relative).string();
  if (is_replaced_(name)) return {};
  for (const std::string& include_dir : include_dirs_)
    if (exists(fs::path(include_dir) / relative))
      return (fs::path(include_dir) / relative).string();
  return {};
}

std::string read_whole_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file.good()) fail<DeviceError>("cannot read ", path, ": ", std::strerror(errno));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace spanwise::parse
