// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parse/source_lines.hpp"
#include "parse/source_scan.hpp"

namespace spanwise::cpu_backend {

using parse::c_literal;

/// Replaces pieces of a text, which must outlive this. Lines keep their numbers unless a
/// replacement contains newlines.
class TextEdits {
 public:
  explicit TextEdits(std::string_view text) : text_(text) {}
  /// Pieces must not overlap. The newlines of the old piece are appended to the new one.
  void replace(std::size_t offset, std::size_t length, std::string replacement);
  void insert(std::size_t offset, std::string text) { replace(offset, 0, std::move(text)); }
  /// The edited text.
  std::string apply();

 private:
  struct Edit {
    std::size_t offset, length;
    std::string replacement;
  };
  std::string_view text_;
  std::vector<Edit> edits_;
};

/// A name at namespace scope that the generated end of the file uses, and the macro that is defined
/// if its declaration is compiled ("" if it always is).
struct MarkedName {
  std::string name;
  std::string macro;
};

/// Results of the rewriting for the generated end of the file.
struct RewriteResult {
  std::vector<MarkedName> dynamic_shared;  ///< pointers to set to the block's dynamic shared memory
  struct MarkedKernel : MarkedName {
    parse::SourceKernel kernel;
    /// The type of the kernel's global index: the Counter of sw_launcher (spanwise_launch.h).
    std::string counter = "int";
  };
  std::vector<MarkedKernel> kernels;  ///< definitions
  bool may_hide_returns = false;      ///< a macro contains a return statement
};

/// Rewrites CUDA C++ that macros cannot turn into C++: `extern __shared__` arrays become pointers,
/// and specifiers move to where C++ allows them. Marks kernels and arrays in code under #if.
/// Appends to `result`; `file` is the name in #line directives.
void rewrite_cuda(const parse::SourceScan& scan, std::string_view file, TextEdits& edits,
                  RewriteResult& result);

}  // namespace spanwise::cpu_backend
