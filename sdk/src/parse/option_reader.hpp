// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The options of a compile request, as nvcc, NVRTC and host compilers spell them.
namespace spanwise::parse {

/// Reads options one by one. Long options may begin with one or two dashes. A value follows '=' or
/// is the next option; it may follow a letter directly ("-DN=4").
class OptionReader {
 public:
  explicit OptionReader(std::span<const std::string> options) noexcept : options_(options) {}

  /// Moves to the next option that is not empty; false at the end.
  bool next();
  const std::string& option() const noexcept { return options_[next_ - 1]; }
  /// The option without its dashes, '=' and value: "std" of "--std=c++17".
  std::string_view name() const noexcept;
  /// The option's value. Throws ArgumentError if there is none.
  std::string value();
  /// The value if the option is one of `names`, which have no dashes, else nothing.
  std::optional<std::string> value_of(std::initializer_list<std::string_view> names);

 private:
  std::string next_word();

  std::span<const std::string> options_;
  std::size_t next_ = 0;
};

/// Options for the preprocessor.
struct PreprocessorOptions {
  /// "#define N 4" and "#undef N", in the order of the options. Back ends insert them after their
  /// own headers in place of -D and -U: these headers have template parameters named T, which
  /// -DT=float would break.
  std::vector<std::string> directives;
  std::vector<std::string> include_dirs;
  std::vector<std::string> pre_includes;  ///< files to include after the directives
};

/// Adds the reader's option to `out` if it is one of -D, -U, -I, -isystem, -iquote, -include and
/// their long names; returns whether it is.
bool read_preprocessor_option(OptionReader& reader, PreprocessorOptions& out);

}  // namespace spanwise::parse
