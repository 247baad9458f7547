// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spanwise/export.hpp"

namespace spanwise::config {

/// One setting: what it is, what it may be, and where its value came from.
struct Setting {
  std::string name;         ///< "cache_dir"; the environment variable is SPANWISE_CACHE_DIR
  std::string description;  ///< one sentence for `python -m spanwise config`
  std::string value;
  std::string default_value;
  std::vector<std::string> choices;                 ///< empty: anything that `check` takes
  std::string source;                               ///< "default", "environment" or "program"
  void (*check)(std::string_view value) = nullptr;  ///< throws ArgumentError; may be null
};

/// Declares a setting; reads its environment variable. Call from a static initialiser of the part
/// that owns the setting, so that there is no central list. An invalid environment value does not
/// throw here: it is reported by get().
SW_API bool declare(Setting setting);

/// The value. Throws ArgumentError for an unknown name (naming the nearest) or an invalid value.
/// Safe from any thread.
SW_API std::string get(std::string_view name);
/// "1", "true", "yes", "on" are true; "0", "false", "no", "off" and "" are false.
SW_API bool get_bool(std::string_view name);
/// Throws ArgumentError for an unknown name, or where the value is not among the setting's choices
/// or its check refuses it.
SW_API void set(std::string_view name, std::string value);
/// All settings, by name.
SW_API std::vector<Setting> list();
/// Grows with each declare() and set(): what was read at this version still holds at the same one.
SW_API std::uint64_t version() noexcept;

/// A setting for hot paths, read as a small number: reading it again costs two atomic loads.
class SW_API Remembered {
 protected:
  using Read = unsigned (*)(const char* name);
  /// `name` must outlive this, as a literal does. `read` gives less than 256.
  constexpr Remembered(const char* name, Read read) noexcept : name_(name), read_(read) {}
  unsigned get() const {
    const std::uint64_t seen = seen_.load(std::memory_order_relaxed);
    return seen >> 8 == version() ? static_cast<unsigned>(seen & 255u) : read_again();
  }

 private:
  unsigned read_again() const;

  const char* name_;
  Read read_;
  // The version at which the value was read, and the value in the lowest byte.
  mutable std::atomic<std::uint64_t> seen_{0};
};

/// Yes or no.
class SW_API Flag : Remembered {
 public:
  constexpr explicit Flag(const char* name) noexcept : Remembered(name, read) {}
  /// As get_bool.
  bool get() const { return Remembered::get() != 0; }

 private:
  static unsigned read(const char* name);
};

/// One of a setting's choices.
class SW_API Choice : Remembered {
 public:
  constexpr explicit Choice(const char* name) noexcept : Remembered(name, read) {}
  /// Its place among them, from 0. Throws as get().
  unsigned get() const { return Remembered::get(); }

 private:
  static unsigned read(const char* name);
};

}  // namespace spanwise::config
