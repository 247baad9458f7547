// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/runtime/config.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <mutex>
#include <numeric>

#include "core/string_utils.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"

namespace spanwise::config {
namespace {

struct SettingRegistry {
  Mutex mutex;
  std::map<std::string, Setting, std::less<>> settings;
};

// Created at the first use and never destroyed: static initialisers declare settings, and
// destructors may read them.
SettingRegistry& registry() {
  static NeverDestroyed<SettingRegistry> instance;
  return *instance;
}

// Starts at 1, so that a cache that was never filled (0) is stale.
constinit std::atomic<std::uint64_t> current_version{1};

std::string environment_name(std::string_view name) {
  std::string variable = "SPANWISE_";
  for (const char letter : name)
    variable += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return variable;
}

// Edit distance, ignoring case (Levenshtein 1966).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (std::tolower(a[i]) != std::tolower(b[j]));
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

[[noreturn]] void fail_unknown(const SettingRegistry& all, std::string_view name) {
  if (all.settings.empty()) fail<ArgumentError>("config: no setting is called \"", name, '"');
  const auto nearest = std::ranges::min_element(
      all.settings, {}, [&](const auto& entry) { return distance(entry.first, name); });
  fail<ArgumentError>("config: no setting is called \"", name, "\"; the nearest is \"",
                      nearest->first, "\". `python -m spanwise config` lists all");
}

Setting& find(SettingRegistry& all, std::string_view name) {
  const auto entry = all.settings.find(name);
  if (entry == all.settings.end()) fail_unknown(all, name);
  return entry->second;
}

// "config: floatX", or "config: floatX (from SPANWISE_FLOATX)".
std::string caller(const Setting& setting) {
  std::string prefix = text("config: ", setting.name);
  if (setting.source == "environment")
    prefix += text(" (from ", environment_name(setting.name), ')');
  return prefix;
}

void check(const Setting& setting, std::string_view value) {
  if (!setting.choices.empty() &&
      std::ranges::find(setting.choices, value) == setting.choices.end())
    fail<ArgumentError>(caller(setting), " cannot be \"", value, "\"; expected one of ",
                        joined(setting.choices));
  if (setting.check == nullptr) return;
  try {
    setting.check(value);
  } catch (const ArgumentError& error) {
    fail<ArgumentError>(caller(setting), " cannot be \"", value, "\": ", error.what());
  }
}

}  // namespace

bool declare(Setting setting) {
  if (setting.source.empty()) {
    setting.value = setting.default_value;
    setting.source = "default";
  }
  if (const char* value = std::getenv(environment_name(setting.name).c_str())) {
    setting.value = value;
    setting.source = "environment";
  }
  SettingRegistry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::string name = setting.name;
  const bool added = all.settings.emplace(std::move(name), std::move(setting)).second;
  current_version.fetch_add(1);
  return added;
}

std::string get(std::string_view name) {
  SettingRegistry& all = registry();
  const std::lock_guard lock(all.mutex);
  const Setting& setting = find(all, name);
  // set() has checked its value; a value from the environment is checked here.
  if (setting.source == "environment") check(setting, setting.value);
  return setting.value;
}

bool get_bool(std::string_view name) {
  std::string value = get(name);
  std::ranges::transform(value, value.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  if (value == "1" || value == "true" || value == "yes" || value == "on") return true;
  if (!value.empty() && value != "0" && value != "false" && value != "no" && value != "off")
    fail<ArgumentError>("config: ", name, " is \"", value,
                        "\"; expected 1, true, yes, on, 0, false, no or off");
  return false;
}

void set(std::string_view name, std::string value) {
  SettingRegistry& all = registry();
  const std::lock_guard lock(all.mutex);
  Setting& setting = find(all, name);
  Setting changed = setting;
  changed.source = "program";
  check(changed, value);
  changed.value = std::move(value);
  setting = std::move(changed);
  current_version.fetch_add(1);
}

std::vector<Setting> list() {
  SettingRegistry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::vector<Setting> settings;
  settings.reserve(all.settings.size());
  for (const auto& [name, setting] : all.settings) settings.push_back(setting);
  return settings;
}

std::uint64_t version() noexcept { return current_version.load(std::memory_order_acquire); }

unsigned CachedSetting::read_again() const {
  // Before reading: a change meanwhile makes the cached value stale.
  const std::uint64_t current = version();
  const unsigned value = read_(name_);
  seen_.store(current << 8 | value, std::memory_order_relaxed);
  return value;
}

unsigned Flag::read(const char* name) { return get_bool(name) ? 1 : 0; }

unsigned Choice::read(const char* name) {
  const std::string value = config::get(name);
  SettingRegistry& all = registry();
  const std::lock_guard lock(all.mutex);
  const std::vector<std::string>& choices = find(all, name).choices;
  const auto choice = std::ranges::find(choices, value);
  if (choice == choices.end())
    fail<ArgumentError>("config: ", name, " is \"", value, "\"; expected one of its choices, ",
                        joined(choices));
  return static_cast<unsigned>(choice - choices.begin());
}

}  // namespace spanwise::config
