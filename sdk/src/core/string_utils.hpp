// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spanwise/core/error.hpp"

/// Functions on strings: splitting, joining, trimming, numbers, a hash.
namespace spanwise {

/// The parts of `text` between separators, such as the lines of a file. A separator at the end is
/// not followed by an empty part.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

inline bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

/// Whether `word` is one of the words of `list`, which are separated by spaces.
inline bool is_word_of(std::string_view word, std::string_view list) {
  return std::ranges::any_of(split(list, ' '),
                             [&](std::string_view listed) { return listed == word; });
}

/// Whether `text` starts with one of the words of `list`.
inline bool starts_with_word_of(std::string_view text, std::string_view list) {
  return std::ranges::any_of(split(list, ' '),
                             [&](std::string_view stem) { return text.starts_with(stem); });
}

/// `text` without white space at both ends.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(space);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

/// The number at the start of `text`, which is removed from it; nullopt if there is none or it does
/// not fit.
template <class Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// The number that the whole of `text` writes; nullopt if it is not one or does not fit.
template <class Number = int>
std::optional<Number> parse_number(std::string_view text) {
  const std::optional<Number> number = take_number<Number>(text);
  return text.empty() ? number : std::nullopt;
}

/// Whether `c` may stand in a C identifier.
inline bool is_word_character(char c) noexcept {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Whether `text` is a C identifier (keywords included).
inline bool is_identifier(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text, is_word_character);
}

/// The texts of the items, or of `part(item)` for each, with `separator` between them.
template <class Items, class Part = std::identity>
std::string joined(const Items& items, std::string_view separator = ", ", Part part = {}) {
  std::string out;
  std::string_view before;
  for (const auto& item : items) {
    out += text(before, std::invoke(part, item));
    before = separator;
  }
  return out;
}

/// A hash of texts of the library, which are not chosen to collide: FNV-1a of 64 bits (Fowler,
/// Noll, Vo).
class TextDigest {
 public:
  void add(std::string_view text) noexcept {
    for (const char c : text) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  std::string hex() const {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value_));
    return digits;
  }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

/// The value of an environment variable; "" if it is not set.
inline std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// A size for messages: "1.50 MiB".
inline std::string bytes_text(std::int64_t bytes) {
  constexpr std::array units{"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  char digits[32];
  std::snprintf(digits, sizeof digits, unit == 0 ? "%.0f" : "%.2f", value);
  return text(digits, ' ', units[unit]);
}

}  // namespace spanwise
