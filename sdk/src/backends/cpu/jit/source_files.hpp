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
#include "source/device_code.hpp"
#include "source/reference_graph.hpp"

namespace spanwise::host {

/// Rewrites a source and the user's headers that it includes, directly or indirectly. Headers of
/// the system and of the shim are not rewritten. Host code is replaced by blanks.
class SourceFiles {
 public:
  /// `prefix` begins the names of rewritten headers.
  SourceFiles(std::vector<std::string> include_dirs, std::string prefix)
      : include_dirs_(std::move(include_dirs)), prefix_(std::move(prefix)) {}

  /// Returns the rewritten text of the main source. Throws CompileError for constructs that the CPU
  /// does not support.
  /// `used_elsewhere` are names that others use: in name expressions and linked sources.
  std::string add_main(std::string_view text, std::string_view file,
                       const std::set<std::string_view>& used_elsewhere);

  /// Of all files together.
  const RewriteResult& result() const noexcept { return result_; }
  source::ReferenceGraph& uses() noexcept { return uses_; }
  /// All identifiers of the files, including those in macros.
  std::set<std::string_view> identifiers() const;
  /// Names of the included headers that are not rewritten, "" for those that are named by macros.
  const std::set<std::string>& other_headers() const noexcept { return other_headers_; }
  /// Whether a header of the C library is included that the shim replaces.
  bool includes_standard() const noexcept { return includes_standard_; }
  /// Names of the included headers of other libraries that are left out.
  const std::set<std::string>& left_out() const noexcept { return left_out_; }
  /// Rewritten headers: name in the compiler's folder, contents.
  const std::vector<std::pair<std::string, std::string>>& headers() const noexcept {
    return headers_;
  }

 private:
  struct Include {
    std::string name;  // "" if the directive is none, or if a macro names the header
    std::string path;  // of the user's header; "" if it is none
    bool is_include = false;
    bool is_quoted = false;
  };

  void collect(std::string_view text, const std::string& folder, bool is_whole);
  std::string add(std::string_view text, std::string_view file, const std::string& folder);
  std::string replacement_for(const Include& include);
  std::string rewritten_header(const std::string& path);
  Include read_include(std::string_view directive, const std::string& folder) const;
  std::string find(std::string_view name, bool quoted, const std::string& folder) const;
  const std::string& text_of(const std::string& path);

  std::vector<std::string> include_dirs_;
  std::string prefix_;
  RewriteResult result_;
  std::set<std::string, std::less<>> identifiers_;
  std::set<std::string> other_headers_, left_out_;
  bool includes_standard_ = false;
  source::ReferenceGraph uses_;
  source::DeviceCode device_code_;
  std::map<std::string, std::string> texts_;  // path -> contents
  std::map<std::string, bool> collected_;     // path -> added as a whole
  std::vector<std::pair<std::string, std::string>> headers_;
  std::map<std::string, std::string> known_;  // path -> name in the compiler's folder
};

}  // namespace spanwise::host
