// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/source_files.hpp"

#include <filesystem>

#include "backends/cpu/jit/header_names.hpp"
#include "backends/cpu/jit/ptx.hpp"
#include "backends/cpu/jit/shim_files.hpp"
#include "backends/cpu/jit/unsupported.hpp"
#include "runtime/system/temporary_folder.hpp"
#include "spanwise/error.hpp"

namespace spanwise::host {
namespace fs = std::filesystem;

std::string SourceFiles::add_main(std::string_view text, std::string_view file,
                                  const std::set<std::string_view>& used_elsewhere) {
  for (const std::string_view name : used_elsewhere) device_code_.add_root(name);
  collect(text, ".", false);
  device_code_.resolve();
  return add(text, file, ".");
}

std::set<std::string_view> SourceFiles::identifiers() const {
  std::set<std::string_view> all = uses_.used();
  all.insert(identifiers_.begin(), identifiers_.end());
  return all;
}

// Gives device_code_ the source and the user's headers.
void SourceFiles::collect(std::string_view text, const std::string& folder, bool is_whole) {
  const std::vector<source::Token> tokens = source::lex(text);
  const std::set<std::size_t> inner = source::inner_directives(tokens);
  if (is_whole)
    device_code_.add_whole(text);
  else
    device_code_.add(text);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != source::Token::Kind::directive) continue;
    const std::string path = read_include(tokens[i].text, folder).path;
    if (path.empty()) continue;
    // A header that is included within a declaration is a piece of it.
    const bool is_piece = is_whole || inner.contains(i);
    const auto [place, is_new] = collected_.try_emplace(path, is_piece);
    if (!is_new && (place->second || !is_piece)) continue;
    place->second = is_piece;
    collect(text_of(path), fs::path(path).parent_path().string(), is_piece);
  }
}

std::string SourceFiles::add(std::string_view original, std::string_view file,
                             const std::string& folder) {
  const std::string text = device_code_.without_host_code(original);
  const source::SourceScan scan = source::scan_source(text);
  if (const std::string found = find_unsupported(scan, file); !found.empty())
    throw CompileError(found, found, with_line_numbers(original));
  uses_.merge(scan.uses);
  TextEdits edits(text);
  for (const source::Token& token : scan.tokens) {
    if (token.kind == source::Token::Kind::identifier) identifiers_.emplace(token.text);
    if (token.text == "asm" || token.text == "__asm__" || token.text == "__asm")
      identifiers_.insert(ptx_names().begin(), ptx_names().end());
    if (token.kind != source::Token::Kind::directive) continue;
    const Include include = read_include(token.text, folder);
    if (!include.is_include) continue;
    if (const std::string header = replacement_for(include); header == "none")
      edits.replace(token.offset, token.text.size(), "");
    else if (!header.empty())
      edits.replace(token.offset, token.text.size(), "#include " + c_literal(header));
  }
  rewrite_cuda(scan, file, edits, result_);
  return edits.apply();
}

// The header to include instead; "" for the same, "none" for none.
std::string SourceFiles::replacement_for(const Include& include) {
  if (!include.path.empty()) return rewritten_header(include.path);
  const bool is_library = is_host_library_header(include.name);
  if (is_library) left_out_.insert(include.name);
  if (const auto ours = shim_header(include.name)) {
    includes_standard_ |= is_replaced_standard_header(include.name);
    return *ours == include.name ? "" : *ours;
  }
  if (is_library) return "none";
  other_headers_.insert(include.name);
  return {};
}

std::string SourceFiles::rewritten_header(const std::string& path) {
  const auto [place, is_new] = known_.try_emplace(path, text(prefix_, known_.size(), ".h"));
  const std::string name = place->second;
  if (is_new) {
    // Registered before it is read, because headers may include one another cyclically.
    std::string rewritten = add(text_of(path), path, fs::path(path).parent_path().string());
    headers_.emplace_back(name, text("#line 1 ", c_literal(path), "\n", rewritten, "\n"));
  }
  return name;
}

const std::string& SourceFiles::text_of(const std::string& path) {
  const auto [place, is_new] = texts_.try_emplace(path);
  if (is_new) place->second = runtime::read_whole_file(path);
  return place->second;
}

SourceFiles::Include SourceFiles::read_include(std::string_view directive,
                                               const std::string& folder) const {
  Include include;
  const std::vector<source::Token> words = source::lex(directive.substr(1));
  include.is_include = words.size() >= 2 && words[0].text == "include";
  const std::size_t open = directive.find_first_of("<\"");
  if (!include.is_include || open == std::string_view::npos) return include;
  include.is_quoted = directive[open] == '"';
  const std::size_t close = directive.find(include.is_quoted ? '"' : '>', open + 1);
  if (close == std::string_view::npos) return include;
  include.name = directive.substr(open + 1, close - open - 1);
  include.path = find(include.name, include.is_quoted, folder);
  return include;
}

std::string SourceFiles::find(std::string_view name, bool is_quoted,
                              const std::string& folder) const {
  std::error_code error;
  const auto present = [&](const fs::path& path) { return fs::is_regular_file(path, error); };
  const fs::path relative = std::string(name);
  if (relative.is_absolute()) return present(relative) ? relative.string() : "";
  if (is_quoted && present(fs::path(folder) / relative))
    return (fs::path(folder) / relative).string();
  // The shim replaces CUDA's headers, even if the toolkit's folder is given.
  if (is_cuda_header(name)) return {};
  for (const std::string& include_dir : include_dirs_)
    if (present(fs::path(include_dir) / relative))
      return (fs::path(include_dir) / relative).string();
  return {};
}

}  // namespace spanwise::host
