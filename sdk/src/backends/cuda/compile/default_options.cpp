// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/compile/default_options.hpp"

#include <algorithm>
#include <array>

#include "core/string_utils.hpp"
#include "embedded/rtc_headers.hpp"
#include "embedded/rtc_replaced_headers.hpp"
#include "embedded/rtc_toolkit_headers.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cuda {
namespace {

// Passed with any options of the user.
constexpr std::array fixed_options{
    // Functions and variables without an execution space specifier are __device__, as in the CPU
    // backend.
    "-default-device",
    // 177: kernels look unused to the compiler. 47: libcu++ redefines macros of limits.
    "--diag-suppress=177,47",
};
constexpr const char* default_standard = "-std=c++17";

template <class Files>
void append(RtcHeaders& headers, const Files& files) {
  for (const embedded::TextFile& file : files) {
    headers.names.push_back(file.name.data());
    headers.texts.push_back(file.text.data());
  }
}

}  // namespace

std::vector<std::string> default_options(const std::vector<std::string>& options) {
  std::vector<std::string> all(fixed_options.begin(), fixed_options.end());
  const auto sets_standard = [](const std::string& option) { return option.starts_with("-std="); };
  if (std::ranges::none_of(options, sets_standard)) all.emplace_back(default_standard);
  return all;
}

bool may_be_minimal(std::string_view source) {
  const auto has = [source](std::string_view name) { return source.find(name) != source.npos; };
  for (const char* name : {"cuda", "tex1D", "tex2D", "tex3D", "texC", "texture", "surf", "<<<"})
    if (has(name)) return false;
  constexpr std::string_view include = "include";
  for (std::size_t at = 0; (at = source.find(include, at)) != source.npos; at += include.size()) {
    const std::string_view before = source.substr(0, at);
    const std::string_view line = before.substr(before.rfind('\n') + 1);
    const bool is_directive =
        line.find('#') != line.npos && line.find_first_not_of(" \t#") == line.npos;
    const std::string_view header = source.substr(at + include.size(), 11);
    if (is_directive && header != " <spanwise/") return false;
  }
  return true;
}

RtcHeaders rtc_headers(bool has_toolkit_headers) {
  RtcHeaders headers;
  append(headers, embedded::rtc_headers);
  if (!has_toolkit_headers) append(headers, embedded::rtc_toolkit_headers);
  return headers;
}

const std::string& default_options_digest() {
  // Never destroyed: kernels may be compiled until the process exits.
  static const auto& digest_of_options = *new std::string([] {
    TextDigest digest;
    for (const std::string& option : default_options({})) digest.add(option);
    digest.add(minimal_option);
    const RtcHeaders headers = rtc_headers(false);  // all of them
    for (std::size_t i = 0; i < headers.names.size(); ++i) {
      digest.add(headers.names[i]);
      digest.add(headers.texts[i]);
    }
    for (const embedded::TextFile& file : embedded::rtc_replaced_headers) digest.add(file.text);
    return digest.hex();
  }());
  return digest_of_options;
}

}  // namespace spanwise::cuda
