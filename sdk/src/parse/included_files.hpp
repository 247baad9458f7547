// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parse/device_code.hpp"
#include "spanwise/core/export.hpp"

namespace spanwise::parse {

/// An #include directive.
struct Include {
  std::string name;  ///< "" for other directives, and if a macro names the header
  std::string path;  ///< of a header of the user; "" for other headers
  bool is_include = false;
  bool is_quoted = false;
};

/// The user's headers that a source includes, directly or indirectly: those that are found beside
/// the including file or in the include folders.
class SW_API IncludedFiles {
 public:
  /// Headers for which `is_replaced` is true are only looked for beside the including file.
  IncludedFiles(std::vector<std::string> include_dirs, bool (*is_replaced)(std::string_view))
      : include_dirs_(std::move(include_dirs)), is_replaced_(is_replaced) {}

  /// Adds `text`, a source in `folder` that outlives this object, and its headers to device_code(),
  /// and resolves that. To be called once, after device_code() got its roots.
  void add_main(std::string_view text, const std::string& folder);
  DeviceCode& device_code() noexcept { return device_code_; }
  const DeviceCode& device_code() const noexcept { return device_code_; }

  /// Reads a directive of a file in `folder`.
  Include read_include(std::string_view directive, const std::string& folder) const;
  /// The contents of a user's header. Throws DeviceError if it cannot be read.
  const std::string& text_of(const std::string& path);

 private:
  void collect(std::string_view text, const std::string& folder, bool is_whole);
  std::string find(std::string_view name, bool is_quoted, const std::string& folder) const;

  std::vector<std::string> include_dirs_;
  bool (*is_replaced_)(std::string_view);
  DeviceCode device_code_;
  std::map<std::string, std::string> texts_;  // path -> contents
  std::map<std::string, bool> collected_;     // path -> added as a whole
};

/// The contents of a file. Throws DeviceError if it cannot be read.
SW_API std::string read_whole_file(const std::string& path);

}  // namespace spanwise::parse
