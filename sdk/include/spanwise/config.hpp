// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

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
  std::vector<std::string> choices;  ///< empty: anything that `check` takes
  std::string source;                ///< "default", "environment" or "program"
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
/// Throws ArgumentError where the value is not among the setting's choices.
SW_API void set(std::string_view name, std::string value);
/// All settings, by name.
SW_API std::vector<Setting> list();

}  // namespace spanwise::config
