// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/compile_report.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <vector>

namespace spanwise::kernels {
namespace {

constexpr std::size_t short_source_lines = 40;  // a source up to this length is shown whole
constexpr std::size_t context_lines = 3;        // shown before and after a line that the log names

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Zero-based line indices, in order of mention.
std::vector<std::size_t> lines_named_in(std::string_view log, std::string_view file) {
  std::vector<std::size_t> named;
  for (std::size_t at = log.find(file); at != log.npos; at = log.find(file, at + 1)) {
    const std::string_view rest = log.substr(at + file.size());
    if (rest.empty() || (rest[0] != ':' && rest[0] != '(')) continue;
    std::size_t line = 0;
    const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), line);
    if (error == std::errc{} && line > 0) named.push_back(line - 1);
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
  if (std::find(shown.begin(), shown.end(), true) == shown.end())
    std::fill_n(shown.begin(), std::min(short_source_lines, count), true);
  return shown;
}

}  // namespace

std::string source_excerpt(std::string_view numbered, std::string_view log, std::string_view file) {
  const std::vector<std::string_view> lines = lines_of(numbered);
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
