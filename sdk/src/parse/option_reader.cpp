// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "parse/option_reader.hpp"

#include <utility>

#include "spanwise/core/error.hpp"

namespace spanwise::parse {

bool OptionReader::next() {
  while (next_ < options_.size())
    if (!options_[next_++].empty()) return true;
  return false;
}

std::string_view OptionReader::name() const noexcept {
  std::string_view name = option();
  name.remove_prefix(name.starts_with("--") ? 2 : name.starts_with('-') ? 1 : 0);
  return name.substr(0, name.find('='));
}

std::string OptionReader::value() {
  const std::size_t equals = option().find('=');
  return equals == std::string::npos ? next_word() : option().substr(equals + 1);
}

std::string OptionReader::next_word() {
  if (next_ == options_.size())
    fail<ArgumentError>("SourceModule: option \"", option(),
                        "\": its value is missing; expected it as the next option");
  return options_[next_++];
}

std::optional<std::string> OptionReader::value_of(std::initializer_list<std::string_view> names) {
  const std::string& text = option();
  if (!text.starts_with('-')) return std::nullopt;
  for (const std::string_view candidate : names) {
    if (candidate.size() > 1) {
      if (name() == candidate) return value();
    } else if (text.compare(1, 1, candidate) == 0) {
      return text.size() > 2 ? text.substr(2) : next_word();
    }
  }
  return std::nullopt;
}

namespace {

// "#define N 4" for the argument of -D: "N", "N=4", "F(x)=x". Compilers too ignore what follows a
// newline.
std::string define_line(std::string_view macro) {
  macro = macro.substr(0, macro.find('\n'));
  const std::size_t equals = macro.find('=');
  const std::string_view value = equals == macro.npos ? "1" : macro.substr(equals + 1);
  return text("#define ", macro.substr(0, equals), " ", value);
}

}  // namespace

bool read_preprocessor_option(OptionReader& reader, PreprocessorOptions& out) {
  if (const auto macro = reader.value_of({"D", "define-macro"}))
    out.directives.push_back(define_line(*macro));
  else if (const auto name = reader.value_of({"U", "undefine-macro"}))
    out.directives.push_back(text("#undef ", name->substr(0, name->find('\n'))));
  else if (auto folder =
               reader.value_of({"I", "include-path", "isystem", "iquote", "system-include"}))
    out.include_dirs.push_back(*std::move(folder));
  else if (auto file = reader.value_of({"include", "pre-include"}))
    out.pre_includes.push_back(*std::move(file));
  else
    return false;
  return true;
}

}  // namespace spanwise::parse
