// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/compile_report.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/string_utils.hpp"

namespace spanwise::kernels {
namespace {

constexpr std::size_t short_source_lines = 40;  // a source up to this length is shown whole
constexpr std::size_t context_lines = 3;        // shown before and after a line that the log names

// Zero-based line indices, in order of mention.
std::vector<std::size_t> lines_named_in(std::string_view log, std::string_view file) {
  std::vector<std::size_t> named;
  for (std::size_t at = log.find(file); at != log.npos; at = log.find(file, at + 1)) {
    const std::string_view after = log.substr(at + file.size());
    if (after.empty() || (after[0] != ':' && after[0] != '(')) continue;
    std::string_view digits = after.substr(1);
    const std::size_t line = take_number<std::size_t>(digits).value_or(0);
    if (line > 0) named.push_back(line - 1);
  }
  return named;
}

std::vector<bool> lines_to_show(std::size_t count, const std::vector<std::size_t>& named) {
  std::vector<bool> shown(count, count <= short_source_lines);
  for (const std::size_t line : named)
    for (std::size_t i = line - std::min(line, context_lines);
         i < std::min(line + context_lines + 1, count); ++i)
      shown[i] = true;
  // Where the log names no line of the source, shows its beginning, which identifies it.
  if (std::ranges::find(shown, true) == shown.end())
    std::fill_n(shown.begin(), std::min(short_source_lines, count), true);
  return shown;
}

}  // namespace

std::string source_excerpt(std::string_view numbered, std::string_view log, std::string_view file) {
  const std::vector<std::string_view> lines = split(numbered, '\n');
  const std::vector<bool> shown = lines_to_show(lines.size(), lines_named_in(log, file));
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (shown[i]) {
      out.append(lines[i]).append("\n");
    } else if (i > 0 && shown[i - 1]) {
      out.append("     ...\n");
    }
  }
  return out;
}

}  // namespace spanwise::kernels
