// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cache/cache_eviction.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace spanwise::kernels {
namespace {

constexpr std::size_t key_size = 64;
// A writer needs milliseconds between its first and last file; older incomplete entries are
// abandoned.
constexpr std::int64_t abandoned_after_ns = 3'600'000'000'000;

// The files of one key.
struct EntryGroup {
  std::vector<std::string> files;
  std::int64_t bytes = 0;
  std::int64_t used_ns = 0;  // the latest modification time
  bool has_entry = false;    // or an alias, else images only
};

std::int64_t now_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

// Removes the entry before its image, so that readers do not find an entry without image.
void remove_group(const CacheFolder& folder, const EntryGroup& group) {
  for (const bool entries : {true, false})
    for (const std::string& file : group.files)
      if (file.ends_with(".entry") == entries) folder.remove(file);
}

}  // namespace

bool is_key(std::string_view text) noexcept {
  return text.size() == key_size &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string_view key_of(std::string_view file_name) noexcept {
  const std::string_view key = file_name.substr(0, key_size), suffix = file_name.substr(key.size());
  const bool is_cache_file = suffix == ".entry" || suffix == ".alias" ||
                             (suffix.starts_with('-') && suffix.ends_with(".bin"));
  return is_cache_file && is_key(key) ? key : std::string_view{};
}

bool is_temporary(std::string_view file_name) noexcept {
  return file_name.starts_with('.') && file_name.ends_with(".tmp") &&
         is_key(file_name.substr(1, key_size));
}

std::int64_t shrink(const CacheFolder& folder, std::int64_t limit_bytes,
                    std::string_view kept_key) {
  const std::int64_t now = now_ns();
  std::map<std::string, EntryGroup, std::less<>> groups;
  std::int64_t total = 0;
  for (CacheFolder::CachedFile& file : folder.list()) {
    if (is_temporary(file.name) && now - file.modified_ns > abandoned_after_ns)
      folder.remove(file.name);
    const std::string_view key = key_of(file.name);
    if (key.empty()) continue;
    EntryGroup& group = groups[std::string(key)];
    group.bytes += file.bytes;
    group.used_ns = std::max(group.used_ns, file.modified_ns);
    group.has_entry |= !file.name.ends_with(".bin");
    group.files.push_back(std::move(file.name));
    total += file.bytes;
  }
  std::vector<const EntryGroup*> oldest_first;
  for (const auto& [key, group] : groups) {
    if (key == kept_key) continue;
    if (!group.has_entry && now - group.used_ns > abandoned_after_ns) {
      remove_group(folder, group);
      total -= group.bytes;
    } else {
      oldest_first.push_back(&group);
    }
  }
  std::ranges::sort(oldest_first, [](const EntryGroup* a, const EntryGroup* b) {
    return a->used_ns < b->used_ns;
  });
  for (const EntryGroup* group : oldest_first) {
    if (total <= limit_bytes) break;
    remove_group(folder, *group);
    total -= group->bytes;
  }
  return total;
}

}  // namespace spanwise::kernels
