// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "parse/line_map.hpp"

#include <algorithm>

namespace spanwise::parse {

void LineMap::add(Mark mark) {
  if (marks_.back().offset == mark.offset) marks_.pop_back();
  marks_.push_back(std::move(mark));
}

LineMap::Line LineMap::origin(std::size_t offset, int physical) const {
  const auto next = std::ranges::upper_bound(marks_, offset, {}, &Mark::offset);
  const Mark& mark = next == marks_.begin() ? *next : *(next - 1);
  return {mark.file, mark.line + physical - mark.physical};
}

std::vector<int> LineMap::lines_from(std::string_view file, int number) const {
  std::vector<int> lines;
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    const Mark& mark = marks_[i];
    const int physical = mark.physical + number - mark.line;
    const bool is_inside = i + 1 == marks_.size() || physical < marks_[i + 1].physical;
    if (mark.file == file && number >= mark.line && is_inside) lines.push_back(physical);
  }
  return lines;
}

}  // namespace spanwise::parse
