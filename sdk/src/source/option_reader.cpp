// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "source/option_reader.hpp"

#include <utility>

#include "source/source_lines.hpp"
#include "spanwise/error.hpp"

namespace spanwise::source {

bool OptionReader::next() {
  while (next_ < options_.size())
    if (!options_[next_++].empty()) return true;
  return false;
}

std::string_view OptionReader::name() const noexcept {
  std::string_view words = option();
  words.remove_prefix(words.starts_with("--") ? 2 : words.starts_with('-') ? 1 : 0);
  return words.substr(0, words.find('='));
}

std::string OptionReader::value() {
  const std::size_t equals = option().find('=');
  return equals == std::string::npos ? following() : option().substr(equals + 1);
}

std::string OptionReader::following() {
  if (next_ == options_.size())
    fail<ArgumentError>("SourceModule: option \"", option(),
                        "\": its value is missing; expected it as the next option");
  return options_[next_++];
}

std::optional<std::string> OptionReader::value_of(std::initializer_list<std::string_view> names) {
  const std::string& given = option();
  if (!given.starts_with('-')) return std::nullopt;
  for (const std::string_view wanted : names) {
    if (wanted.size() > 1) {
      if (name() == wanted) return value();
    } else if (given.compare(1, 1, wanted) == 0) {
      return given.size() > 2 ? given.substr(2) : following();
    }
  }
  return std::nullopt;
}

bool read_preprocessor_option(OptionReader& reader, PreprocessorOptions& out) {
  if (const auto macro = reader.value_of({"D", "define-macro"}))
    out.directives.push_back(define_line(*macro));
  else if (const auto name = reader.value_of({"U", "undefine-macro"}))
    out.directives.push_back(undefine_line(*name));
  else if (auto folder =
               reader.value_of({"I", "include-path", "isystem", "iquote", "system-include"}))
    out.include_dirs.push_back(*std::move(folder));
  else if (auto file = reader.value_of({"include", "pre-include"}))
    out.pre_includes.push_back(*std::move(file));
  else
    return false;
  return true;
}

}  // namespace spanwise::source
