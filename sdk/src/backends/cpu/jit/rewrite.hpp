// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/source/source_lines.hpp"
#include "runtime/source/source_scan.hpp"

namespace spanwise::host {

using runtime::c_literal;

/// Text in which pieces are replaced; lines keep their numbers as long as the pieces do.
class TextEdits {
 public:
  explicit TextEdits(std::string_view text) : text_(text) {}
  /// Pieces must not overlap. Newlines in the old piece are added behind the new one.
  void replace(std::size_t offset, std::size_t length, std::string replacement);
  void insert(std::size_t offset, std::string text) { replace(offset, 0, std::move(text)); }
  std::string apply();

 private:
  struct Edit {
    std::size_t offset, length;
    std::string replacement;
  };
  std::string_view text_;
  std::vector<Edit> edits_;
};

/// A name at namespace scope that the generated end of the file refers to, and the macro that is
/// defined where it has been compiled ("" where that is certain).
struct Marked {
  std::string name;
  std::string macro;
};

/// What rewriting found out for the end of the file.
struct RewriteResult {
  std::vector<Marked> dynamic_shared;  ///< pointers to set to the block's dynamic shared memory
  struct Kernel : Marked {
    runtime::SourceKernel kernel;
    /// In what it keeps its global index, as a type for sw_launcher.
    std::string counter = "int";
  };
  std::vector<Kernel> kernels;  ///< definitions
};

/// Makes CUDA C++ into C++ where macros cannot: `extern __shared__` arrays become pointers, and
/// specifiers move to where C++ allows them. Marks kernels and arrays that stand under #if. Appends
/// to `result`; `file` is the name in #line directives.
void rewrite_cuda(const runtime::SourceScan& scan, std::string_view file, TextEdits& edits,
                  RewriteResult& result);

}  // namespace spanwise::host
