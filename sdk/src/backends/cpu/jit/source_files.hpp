// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/cpu/jit/rewrite.hpp"
#include "source/reference_graph.hpp"

namespace spanwise::host {

/// Rewrites a source and the user's headers that it includes, directly or indirectly. Headers of
/// the system and of the shim are not rewritten.
class SourceFiles {
 public:
  /// `prefix` begins the names of rewritten headers.
  SourceFiles(std::vector<std::string> include_dirs, std::string prefix)
      : include_dirs_(std::move(include_dirs)), prefix_(std::move(prefix)) {}

  /// Returns the rewritten text of the main source. Throws CompileError for constructs that the CPU
  /// does not support.
  std::string add_main(std::string_view text, std::string_view file);

  /// Of all files together.
  const RewriteResult& result() const noexcept { return result_; }
  source::ReferenceGraph& uses() noexcept { return uses_; }
  /// All identifiers of the files, including those in macros.
  std::set<std::string_view> identifiers() const;
  /// Whether a header is included that is not rewritten.
  bool includes_others() const noexcept { return includes_others_; }
  /// Rewritten headers: name in the compiler's folder, contents.
  const std::vector<std::pair<std::string, std::string>>& headers() const noexcept {
    return headers_;
  }

 private:
  std::string add(std::string_view text, std::string_view file, const std::string& folder);
  std::string header_for(std::string_view directive, const std::string& folder);
  std::string find(std::string_view name, bool quoted, const std::string& folder) const;

  std::vector<std::string> include_dirs_;
  std::string prefix_;
  RewriteResult result_;
  std::set<std::string, std::less<>> identifiers_;
  bool includes_others_ = false;
  source::ReferenceGraph uses_;
  std::vector<std::pair<std::string, std::string>> headers_;
  std::map<std::string, std::string> known_;  // path -> name in the compiler's folder
};

}  // namespace spanwise::host
