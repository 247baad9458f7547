// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cache/disk_cache.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "kernels/cache/cache_entry.hpp"
#include "kernels/cache/cache_eviction.hpp"
#include "kernels/cache/cache_settings.hpp"
#include "kernels/cache/sha256.hpp"
#include "kernels/log.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::kernels {
namespace {

// This process's state of a cache folder.
struct FolderState {
  std::int64_t bytes = 0;  // estimated size, so that most stores need not list the folder
  int stores_until_listing = 0;
  std::string failure{};  // error of the last store; "" where it succeeded
};
struct FolderStates {
  Mutex mutex;
  std::map<std::string, FolderState> by_path;
};
FolderStates& folder_states() {
  static auto& states = *new FolderStates;  // never destroyed
  return states;
}
// The folder is listed once per this many stores, to account for other processes.
constexpr int stores_between_listings = 64;

std::string entry_name(const std::string& key) { return key + ".entry"; }
std::string alias_name(const std::string& alias) { return alias + ".alias"; }

}  // namespace

DiskCache::DiskCache(std::string path, std::int64_t limit_bytes)
    : path_(std::move(path)), limit_bytes_(limit_bytes) {}

DiskCache DiskCache::configured() { return DiskCache(kernel_folder(), cache_limit_bytes()); }

std::optional<runtime::KernelBinary> DiskCache::find(const std::string& key) const {
  if (!enabled()) return std::nullopt;
  const CacheFolder folder = CacheFolder::open(path_, false);
  const auto metadata = folder.read(entry_name(key));
  if (!metadata) return std::nullopt;
  auto entry = CacheEntry::read(*metadata);
  std::optional<std::string> image;
  if (entry && key_of(entry->image_name) == key && entry->image_name.find('/') == std::string::npos)
    image = folder.read(entry->image_name);
  if (!image || sha256(*image) != entry->image_digest) {
    log_line(text("entry ", key, " is damaged and will be compiled again"));
    return std::nullopt;
  }
  folder.touch(entry_name(key));
  return runtime::KernelBinary{.image = std::move(*image), .symbols = std::move(entry->symbols)};
}

bool DiskCache::store(const std::string& key, const runtime::KernelBinary& binary) const {
  if (static_cast<std::int64_t>(binary.image.size()) > limit_bytes_) return false;
  const CacheFolder folder = CacheFolder::open(path_, true);
  std::string failure = folder.problem().empty() ? write_entry(folder, key, binary) : "";
  const bool is_stored = folder && failure.empty();
  if (!is_stored) log_line(text("nothing is kept on disk: ", folder ? failure : folder.problem()));
  FolderStates& states = folder_states();
  const std::lock_guard lock(states.mutex);
  states.by_path[path_].failure = std::move(failure);
  return is_stored;
}

std::string DiskCache::write_entry(const CacheFolder& folder, const std::string& key,
                                   const runtime::KernelBinary& binary) const {
  const std::string digest = sha256(binary.image);
  const CacheEntry entry{key + "-" + digest.substr(0, 16) + ".bin", digest, binary.symbols};
  const std::string metadata = entry.write();
  std::string failure = folder.replace(entry.image_name, binary.image);
  if (failure.empty()) failure = folder.replace(entry_name(key), metadata);
  if (!failure.empty()) return text("cannot write to ", path_, ": ", failure);
  note_growth(folder, key, static_cast<std::int64_t>(binary.image.size() + metadata.size()));
  return "";
}

void DiskCache::note_growth(const CacheFolder& folder, const std::string& key,
                            std::int64_t bytes) const {
  FolderStates& states = folder_states();
  const std::lock_guard lock(states.mutex);
  FolderState& state = states.by_path[path_];
  state.bytes += bytes;
  if (state.stores_until_listing-- > 0 && state.bytes <= limit_bytes_) return;
  state.bytes = shrink(folder, limit_bytes_, key);
  state.stores_until_listing = stores_between_listings;
}

void DiskCache::remove(const std::string& key) const {
  CacheFolder::open(path_, false).remove(entry_name(key));
}

void DiskCache::clear() const {
  const CacheFolder folder = CacheFolder::open(path_, false);
  for (const CacheFolder::CachedFile& file : folder.list())
    if (!key_of(file.name).empty() || is_temporary(file.name)) folder.remove(file.name);
  FolderStates& states = folder_states();
  const std::lock_guard lock(states.mutex);
  states.by_path.erase(path_);
}

void DiskCache::set_alias(const std::string& alias, const std::string& key) const {
  if (enabled()) CacheFolder::open(path_, true).replace(alias_name(alias), key);
}

std::optional<std::string> DiskCache::follow_alias(const std::string& alias) const {
  if (!enabled()) return std::nullopt;
  auto key = CacheFolder::open(path_, false).read(alias_name(alias));
  return key && is_key(*key) ? key : std::nullopt;
}

DiskCache::Usage DiskCache::usage() const {
  Usage usage;
  for (const CacheFolder::CachedFile& file : CacheFolder::open(path_, false).list()) {
    if (key_of(file.name).empty()) continue;
    usage.entries += file.name.ends_with(".entry") ? 1 : 0;
    usage.bytes += file.bytes;
  }
  return usage;
}

std::string DiskCache::problem() const {
  if (!enabled()) return "config cache_limit_mb is 0";
  std::string problem = CacheFolder::open(path_, false).problem();
  if (!problem.empty()) return problem;
  FolderStates& states = folder_states();
  const std::lock_guard lock(states.mutex);
  const auto state = states.by_path.find(path_);
  return state == states.by_path.end() ? "" : state->second.failure;
}

}  // namespace spanwise::kernels
