// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/cpu/jit/rewrite.hpp"
#include "backends/cpu/jit/shim_files.hpp"
#include "parse/included_files.hpp"
#include "parse/reference_graph.hpp"

namespace spanwise::cpu_backend {

/// Rewrites a source and the user's headers that it includes, directly or indirectly. Headers of
/// the system and of the shim are not rewritten. Host code is replaced by blanks.
class SourceFiles {
 public:
  /// `prefix` begins the names of rewritten headers.
  SourceFiles(std::vector<std::string> include_dirs, std::string prefix)
      : files_(std::move(include_dirs), is_cuda_header), prefix_(std::move(prefix)) {}

  /// Returns the rewritten text of the main source. `used_elsewhere` are names in name expressions
  /// and linked sources, whose declarations are kept. Throws CompileError for constructs that the
  /// CPU does not support.
  std::string add_main(std::string_view text, std::string_view file,
                       const std::set<std::string_view>& used_elsewhere);

  /// Of all files together.
  const RewriteResult& result() const noexcept { return result_; }
  parse::ReferenceGraph& uses() noexcept { return uses_; }
  /// All identifiers of the files, including those in macros.
  std::set<std::string_view> identifiers() const;
  /// Names of the included headers that are neither rewritten nor replaced; "" if a macro names
  /// one.
  const std::set<std::string>& other_headers() const noexcept { return other_headers_; }
  /// Whether a header of the C library is included that the shim replaces.
  bool includes_standard() const noexcept { return includes_standard_; }
  /// Names of the included headers of other libraries that are left out.
  const std::set<std::string>& left_out() const noexcept { return left_out_; }
  /// Names of the included headers of CCCL; those of Thrust are among left_out(), too.
  const std::set<std::string>& cccl_headers() const noexcept { return cccl_headers_; }
  /// Rewritten headers: name in the compiler's folder, contents.
  const std::vector<std::pair<std::string, std::string>>& headers() const noexcept {
    return headers_;
  }

 private:
  std::string add(std::string_view text, std::string_view file, const std::string& folder);
  std::optional<std::string> replacement_for(const parse::Include& include);
  std::string rewritten_header(const std::string& path);

  parse::IncludedFiles files_;
  std::string prefix_;
  RewriteResult result_;
  std::set<std::string, std::less<>> identifiers_;
  std::set<std::string> other_headers_, left_out_, cccl_headers_;
  bool includes_standard_ = false;
  parse::ReferenceGraph uses_;
  std::vector<std::pair<std::string, std::string>> headers_;
  std::map<std::string, std::string> header_names_;  // path -> name in the compiler's folder
};

}  // namespace spanwise::cpu_backend
