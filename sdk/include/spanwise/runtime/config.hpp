// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spanwise/core/export.hpp"

namespace spanwise::config {

/// One setting: description, valid values, and current value with its source.
struct Setting {
  std::string name;         ///< "cache_dir"; the environment variable is SPANWISE_CACHE_DIR
  std::string description;  ///< one sentence for `python -m spanwise config`
  std::string value{};      ///< declare() sets it to the default unless `source` is given
  std::string default_value{};
  std::vector<std::string> choices{};               ///< empty: anything that `check` takes
  std::string source{};                             ///< "default", "environment" or "program"
  void (*check)(std::string_view value) = nullptr;  ///< throws ArgumentError; may be null
};

/// Declares a setting and reads its environment variable. Call from a static initialiser of the
/// code that owns the setting; there is no central list. An invalid environment value is reported
/// by get(), not here. Returns false where the name is declared already.
SW_API bool declare(Setting setting);

/// The current value. Throws ArgumentError for an unknown name (naming the nearest) or an invalid
/// value. Thread-safe.
SW_API std::string get(std::string_view name);
/// "1", "true", "yes", "on" are true; "0", "false", "no", "off" and "" are false. Throws
/// ArgumentError for other values, and as get().
SW_API bool get_bool(std::string_view name);
/// Sets the value. Throws ArgumentError for an unknown name, or a value that is not among the
/// choices or that the check rejects.
SW_API void set(std::string_view name, std::string value);
/// All settings, by name.
SW_API std::vector<Setting> list();
/// Incremented by each declare() and set(), so that cached values can be validated.
SW_API std::uint64_t version() noexcept;

/// A cached setting for hot paths, as an integer below 256: a cached read costs two atomic loads.
class SW_API CachedSetting {
 protected:
  using Read = unsigned (*)(const char* name);
  /// `name` must outlive this, as a string literal does. `read` must return less than 256.
  constexpr CachedSetting(const char* name, Read read) noexcept : name_(name), read_(read) {}
  unsigned get() const {
    const std::uint64_t seen = seen_.load(std::memory_order_relaxed);
    return seen >> 8 == version() ? static_cast<unsigned>(seen & 255u) : read_again();
  }

 private:
  unsigned read_again() const;

  const char* name_;
  Read read_;
  // version() at the last read, shifted left by 8, and the value in the low byte.
  mutable std::atomic<std::uint64_t> seen_{0};
};

/// A cached boolean setting.
class SW_API Flag : CachedSetting {
 public:
  constexpr explicit Flag(const char* name) noexcept : CachedSetting(name, read) {}
  /// The value as config::get_bool() reads it, and its errors.
  bool get() const { return CachedSetting::get() != 0; }

 private:
  static unsigned read(const char* name);
};

/// A cached setting with choices.
class SW_API Choice : CachedSetting {
 public:
  constexpr explicit Choice(const char* name) noexcept : CachedSetting(name, read) {}
  /// The index of the value among the setting's choices. Throws as config::get().
  unsigned get() const { return CachedSetting::get(); }

 private:
  static unsigned read(const char* name);
};

}  // namespace spanwise::config
