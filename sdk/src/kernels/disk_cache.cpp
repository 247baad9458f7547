// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/disk_cache.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "kernels/cache_entry.hpp"
#include "kernels/cache_eviction.hpp"
#include "kernels/cache_settings.hpp"
#include "kernels/log.hpp"
#include "kernels/sha256.hpp"
#include "spanwise/error.hpp"
#include "spanwise/fork.hpp"

namespace spanwise::kernels {
namespace {

// How large this process believes each folder to be, so that most stores need not list it.
struct Estimate {
  std::int64_t bytes = 0;
  int stores_until_listing = 0;
};
Mutex& estimates_mutex() {
  static auto& mutex = *new Mutex;
  return mutex;
}
std::map<std::string, Estimate>& estimates() {
  static auto& map = *new std::map<std::string, Estimate>;  // outlives static destructors
  return map;
}
// Other processes store as well; this often their share is looked at.
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
  const auto sidecar = folder.read(entry_name(key));
  if (!sidecar) return std::nullopt;
  auto entry = CacheEntry::read(*sidecar);
  std::optional<std::string> image;
  if (entry && key_of(entry->image_name) == key && entry->image_name.find('/') == std::string::npos)
    image = folder.read(entry->image_name);
  if (!image || sha256(*image) != entry->image_digest) {
    log_line(text("entry ", key, " is damaged and will be compiled anew"));
    return std::nullopt;
  }
  folder.touch(entry_name(key));
  return runtime::KernelBinary{.image = std::move(*image),
                               .symbols = std::move(entry->symbols),
                               .path = path_ + "/" + entry->image_name};
}

void DiskCache::store(const std::string& key, runtime::KernelBinary& binary) const {
  const auto bytes = static_cast<std::int64_t>(binary.image.size());
  if (bytes > limit_bytes_) return;
  const CacheFolder folder = CacheFolder::open(path_, true);
  if (!folder.problem().empty())
    return log_line(text("nothing is kept on disk: ", folder.problem()));
  const std::string digest = sha256(binary.image);
  const CacheEntry entry{key + "-" + digest.substr(0, 16) + ".bin", digest, binary.symbols};
  const std::string sidecar = entry.write();
  if (!folder.replace(entry.image_name, binary.image) || !folder.replace(entry_name(key), sidecar))
    return log_line(text("cannot write to ", path_, ": compiled kernels are not kept"));
  binary.path = path_ + "/" + entry.image_name;
  note_growth(folder, key, bytes + static_cast<std::int64_t>(sidecar.size()));
}

void DiskCache::note_growth(const CacheFolder& folder, const std::string& key,
                            std::int64_t bytes) const {
  const std::lock_guard lock(estimates_mutex());
  Estimate& estimate = estimates()[path_];
  estimate.bytes += bytes;
  if (estimate.stores_until_listing-- > 0 && estimate.bytes <= limit_bytes_) return;
  estimate = {shrink(folder, limit_bytes_, key), stores_between_listings};
}

void DiskCache::remove(const std::string& key) const {
  CacheFolder::open(path_, false).remove(entry_name(key));
}

void DiskCache::clear() const {
  const CacheFolder folder = CacheFolder::open(path_, false);
  for (const CacheFolder::File& file : folder.list())
    if (!key_of(file.name).empty() || is_temporary(file.name)) folder.remove(file.name);
  const std::lock_guard lock(estimates_mutex());
  estimates().erase(path_);
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
  for (const CacheFolder::File& file : CacheFolder::open(path_, false).list()) {
    if (key_of(file.name).empty()) continue;
    usage.entries += file.name.ends_with(".entry") ? 1 : 0;
    usage.bytes += file.bytes;
  }
  return usage;
}

std::string DiskCache::problem() const {
  if (!enabled()) return "config cache_limit_mb is 0";
  return CacheFolder::open(path_, false).problem();
}

}  // namespace spanwise::kernels
