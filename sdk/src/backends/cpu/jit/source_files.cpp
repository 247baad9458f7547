// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/source_files.hpp"

#include <filesystem>

#include "backends/cpu/jit/shim_files.hpp"
#include "backends/cpu/jit/unsupported.hpp"
#include "runtime/system/temporary_folder.hpp"
#include "spanwise/error.hpp"

namespace spanwise::host {
namespace fs = std::filesystem;

std::string SourceFiles::add_main(std::string_view text, std::string_view file) {
  return add(text, file, ".");
}

std::set<std::string_view> SourceFiles::identifiers() const {
  std::set<std::string_view> all = uses_.used();
  all.insert(identifiers_.begin(), identifiers_.end());
  return all;
}

std::string SourceFiles::add(std::string_view text, std::string_view file,
                             const std::string& folder) {
  const source::SourceScan scan = source::scan_source(text);
  if (const std::string found = find_unsupported(scan, file); !found.empty())
    throw CompileError(found, found, with_line_numbers(text));
  uses_.merge(scan.uses);
  TextEdits edits(text);
  for (const source::Token& token : scan.tokens) {
    if (token.kind == source::Token::Kind::identifier) identifiers_.emplace(token.text);
    if (token.kind != source::Token::Kind::directive) continue;
    if (const std::string header = header_for(token.text, folder); !header.empty())
      edits.replace(token.offset, token.text.size(), "#include " + c_literal(header));
  }
  rewrite_cuda(scan, file, edits, result_);
  return edits.apply();
}

// The name of the rewritten header that an #include directive refers to; "" if it is not a user's
// header.
std::string SourceFiles::header_for(std::string_view directive, const std::string& folder) {
  const std::vector<source::Token> words = source::lex(directive.substr(1));
  if (words.size() < 2 || words[0].text != "include") return {};
  const std::size_t open = directive.find_first_of("<\"");
  includes_others_ |= open == std::string_view::npos;
  if (open == std::string_view::npos) return {};
  const bool is_quoted = directive[open] == '"';
  const std::size_t close = directive.find(is_quoted ? '"' : '>', open + 1);
  if (close == std::string_view::npos) return {};
  const std::string path = find(directive.substr(open + 1, close - open - 1), is_quoted, folder);
  includes_others_ |= path.empty();
  if (path.empty()) return {};
  const auto [place, is_new] = known_.try_emplace(path, text(prefix_, known_.size(), ".h"));
  const std::string name = place->second;
  if (is_new) {
    // Registered before it is read, because headers may include one another cyclically.
    const std::string contents = runtime::read_whole_file(path);
    std::string rewritten = add(contents, path, fs::path(path).parent_path().string());
    headers_.emplace_back(name, text("#line 1 ", c_literal(path), "\n", rewritten, "\n"));
  }
  return name;
}

std::string SourceFiles::find(std::string_view name, bool is_quoted,
                              const std::string& folder) const {
  std::error_code error;
  const auto present = [&](const fs::path& path) { return fs::is_regular_file(path, error); };
  const fs::path relative = std::string(name);
  // The shim replaces CUDA's headers, even if the toolkit's folder is given.
  const bool is_ours = is_shim_header(name) && !(is_quoted && present(fs::path(folder) / relative));
  if (is_ours) return {};
  if (relative.is_absolute()) return present(relative) ? relative.string() : "";
  if (is_quoted && present(fs::path(folder) / relative))
    return (fs::path(folder) / relative).string();
  for (const std::string& include_dir : include_dirs_)
    if (present(fs::path(include_dir) / relative))
      return (fs::path(include_dir) / relative).string();
  return {};
}

}  // namespace spanwise::host
