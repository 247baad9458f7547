// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/source_files.hpp"

#include <filesystem>

#include "backends/cpu/jit/ptx.hpp"
#include "backends/cpu/jit/unsupported.hpp"
#include "parse/header_names.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cpu_backend {
namespace fs = std::filesystem;

std::string SourceFiles::add_main(std::string_view text, std::string_view file,
                                  const std::set<std::string_view>& used_elsewhere) {
  for (const std::string_view name : used_elsewhere) files_.device_code().add_root(name);
  files_.add_main(text, ".");
  return add(text, file, ".");
}

std::set<std::string_view> SourceFiles::identifiers() const {
  std::set<std::string_view> all = uses_.used();
  all.insert(identifiers_.begin(), identifiers_.end());
  return all;
}

std::string SourceFiles::add(std::string_view original, std::string_view file,
                             const std::string& folder) {
  const std::string text = files_.device_code().without_host_code(original);
  const parse::SourceScan scan = parse::scan_source(text);
  if (const std::string error = find_unsupported(scan, file); !error.empty())
    throw CompileError(error, error, parse::with_line_numbers(original));
  uses_.merge(scan.uses);
  TextEdits edits(text);
  for (const parse::Token& token : scan.tokens) {
    if (token.kind == parse::Token::Kind::identifier) identifiers_.emplace(token.text);
    if (is_asm(token.text)) identifiers_.insert(ptx_names().begin(), ptx_names().end());
    if (token.kind != parse::Token::Kind::directive) continue;
    const parse::Include include = files_.read_include(token.text, folder);
    if (!include.is_include) continue;
    if (const std::optional<std::string> header = replacement_for(include))
      edits.replace(token.offset, token.text.size(),
                    header->empty() ? "" : "#include " + c_literal(*header));
  }
  rewrite_cuda(scan, file, edits, result_);
  return edits.apply();
}

// The header to include instead, "" to leave the directive out; nothing to keep it.
std::optional<std::string> SourceFiles::replacement_for(const parse::Include& include) {
  if (!include.path.empty()) return rewritten_header(include.path);
  const bool is_library = parse::is_host_library_header(include.name);
  if (is_library) left_out_.insert(include.name);
  // Headers of CCCL are included before the shim, see translation_unit.cpp.
  if (parse::is_cccl_header(include.name)) {
    cccl_headers_.insert(include.name);
    if (!is_library) return "";
  }
  if (auto header = shim_header(include.name)) {
    includes_standard_ |= is_replaced_standard_header(include.name);
    return header;
  }
  if (is_library) return "";
  other_headers_.insert(include.name);
  return {};
}

std::string SourceFiles::rewritten_header(const std::string& path) {
  const auto [entry, is_new] =
      header_names_.try_emplace(path, text(prefix_, header_names_.size(), ".h"));
  const std::string name = entry->second;
  if (is_new) {
    // Registered before it is read, because headers may include one another cyclically.
    std::string rewritten = add(files_.text_of(path), path, fs::path(path).parent_path().string());
    headers_.emplace_back(name, text("#line 1 ", c_literal(path), "\n", rewritten, "\n"));
  }
  return name;
}

}  // namespace spanwise::cpu_backend
