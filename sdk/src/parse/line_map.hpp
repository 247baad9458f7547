// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanwise::parse {

/// The files and lines that the parts of a text come from, as #line directives state them.
class LineMap {
 public:
  /// From `offset`, the beginning of line `physical` of the text, it is line `line` of `file`.
  struct Mark {
    std::size_t offset = 0;
    int physical = 1, line = 1;
    std::string file;
  };
  struct Line {
    std::string_view file;
    int number = 1;
  };

  /// The whole text is that of `file`.
  explicit LineMap(std::string file) { marks_.push_back({0, 1, 1, std::move(file)}); }
  /// Marks are added in the order of their offsets.
  void add(Mark mark);
  /// The origin of what is at `offset`, in line `physical` of the text.
  Line origin(std::size_t offset, int physical) const;
  /// The lines of the text that come from a line of a file.
  std::vector<int> lines_from(std::string_view file, int number) const;
  const std::vector<Mark>& marks() const noexcept { return marks_; }

 private:
  std::vector<Mark> marks_;
};

}  // namespace spanwise::parse
