// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/disk_cache.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/string_utils.hpp"
#include "kernels/sha256.hpp"
#include "runtime/files.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/interrupt.hpp"

namespace spanwise::kernels {

namespace {

std::string absolute_or_empty(const std::string& path) { return path.starts_with('/') ? path : ""; }

std::string home_folder() {
  std::string home = absolute_or_empty(environment("HOME"));
  if (!home.empty()) return home;
  std::vector<char> buffer(16384);
  passwd entry, *result = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &result) != 0 ||
      result == nullptr)
    return "";
  return absolute_or_empty(result->pw_dir != nullptr ? result->pw_dir : "");
}

// XDG Base Directory Specification: relative paths are ignored.
std::string default_cache_dir() {
  const std::string cache = absolute_or_empty(environment("XDG_CACHE_HOME"));
  if (!cache.empty()) return cache + "/spanwise";
  const std::string home = home_folder();
  return home.empty() ? "" : home + "/.cache/spanwise";
}

constexpr std::int64_t mebibyte = 1 << 20;

// In MiB; nullopt where it is not a number, negative or too large for bytes.
std::optional<std::int64_t> parse_limit(std::string_view value) {
  const auto mebibytes = parse_number<std::int64_t>(value);
  return mebibytes >= 0 && mebibytes <= INT64_MAX / mebibyte ? mebibytes : std::nullopt;
}

void check_limit(std::string_view value) {
  if (!parse_limit(value).has_value())
    fail<ArgumentError>("config cache_limit_mb: expected a number of MiB >= 0, got '", value,
                        "'; 0 keeps nothing");
}

[[maybe_unused]] const bool dir_declared =
    config::declare({.name = "cache_dir",
                     .description = "Folder in which compiled kernels are kept between runs.",
                     .default_value = default_cache_dir()});

[[maybe_unused]] const bool limit_declared =
    config::declare({.name = "cache_limit_mb",
                     .description = "Size in MiB above which the least recently used compiled "
                                    "kernels are removed; 0 keeps none.",
                     .default_value = "1024",
                     .check = check_limit});

[[maybe_unused]] const bool layers_declared = config::declare(
    {.name = "cache_layers",
     .description = "Further cache folders that are only read, separated by colons, "
                    "such as those of a container image or a cluster.",
     .default_value = ""});

std::string kernels_in(std::string cache_dir) {
  // No shell replaces it in a container's environment or in Python.
  if (cache_dir == "~" || cache_dir.starts_with("~/")) cache_dir.replace(0, 1, home_folder());
  if (cache_dir.empty()) return "";
  return (std::filesystem::absolute(cache_dir) / "kernels").lexically_normal().string();
}

// The folders of config "cache_layers".
std::vector<std::string> layer_folders() {
  std::vector<std::string> folders;
  const std::string layers = config::get("cache_layers");
  for (const std::string_view layer : split(layers, ':'))
    if (!layer.empty()) folders.push_back(kernels_in(std::string(layer)));
  return folders;
}

// The folder of the disk cache; "" where config "cache_dir" is not set and the user has no home
// folder.
std::string kernel_folder() {
  const std::string folder = config::get("cache_dir");
  return folder.empty() ? "" : kernels_in(folder);
}

// Config "cache_limit_mb" in bytes.
std::int64_t cache_limit_bytes() {
  return parse_limit(config::get("cache_limit_mb")).value_or(0) * mebibyte;
}

constexpr std::string_view heading = "spanwise kernel 1\n";
constexpr std::size_t digest_size = 64;  // sha256(), in characters

}  // namespace

void write_field(std::string& out, std::string_view field) {
  out += std::to_string(field.size());
  out += ' ';
  out += field;
  out += '\n';
}

std::optional<std::string> FieldReader::next() {
  const auto size = take_number<std::size_t>(rest_);
  if (!size || rest_.size() < 2 || *size > rest_.size() - 2 || rest_[0] != ' ' ||
      rest_[*size + 1] != '\n')
    return std::nullopt;
  std::string field(rest_.substr(1, *size));
  rest_.remove_prefix(*size + 2);
  return field;
}

std::string CacheEntry::write() const {
  std::string out(heading);
  write_field(out, image_name);
  write_field(out, image_digest);
  for (const auto& [name, symbol] : symbols) {
    write_field(out, name);
    write_field(out, symbol);
  }
  return out + sha256(out);
}

std::optional<CacheEntry> CacheEntry::read(std::string_view text) {
  if (!text.starts_with(heading) || text.size() < heading.size() + digest_size) return std::nullopt;
  const std::string_view body = text.substr(0, text.size() - digest_size);
  if (sha256(body) != text.substr(body.size())) return std::nullopt;
  FieldReader fields(body.substr(heading.size()));
  CacheEntry entry;
  auto image_name = fields.next(), image_digest = fields.next();
  if (!image_name || !image_digest) return std::nullopt;
  entry.image_name = std::move(*image_name);
  entry.image_digest = std::move(*image_digest);
  while (!fields.at_end()) {
    auto name = fields.next(), symbol = fields.next();
    if (!name || !symbol) return std::nullopt;
    entry.symbols.emplace(std::move(*name), std::move(*symbol));
  }
  return entry;
}

/// A folder of files that are executed as code: created with mode 0700, and used only if no other
/// user can modify or replace it (runtime::open_trusted_folder). Files are opened relative to
/// the checked descriptor. No member throws for file system errors; problem() describes them.
class CacheFolder {
 public:
  /// Opens `path`; with `create` creates it and its parents if missing.
  static CacheFolder open(const std::string& path, bool create);

  const std::string& path() const noexcept { return path_; }
  /// Why the folder cannot be used; "" where it can, or where it does not exist yet.
  const std::string& problem() const noexcept { return problem_; }
  explicit operator bool() const noexcept { return static_cast<bool>(folder_); }

  /// The contents of a file; nullopt where it is missing, not a regular file, not owned by this
  /// user or root, or writable by other users.
  std::optional<std::string> read(const std::string& name) const;
  /// Replaces a file atomically (temporary file in this folder, then rename). Returns the system's
  /// error message on failure, else "".
  std::string replace(const std::string& name, std::string_view contents) const;
  void remove(const std::string& name) const noexcept;
  /// Sets the modification time, which records the last use, to now.
  void touch(const std::string& name) const noexcept;

  struct CachedFile {
    std::string name;
    std::int64_t bytes = 0;
    std::int64_t modified_ns = 0;
  };
  /// The regular files in the folder.
  std::vector<CachedFile> list() const;

 private:
  std::string path_, problem_;
  runtime::FileDescriptor folder_;
};

namespace {

// Unique among all processes and threads that share the folder, also on a network file system.
std::string temporary_name(const std::string& name) {
  static std::atomic<unsigned> counter{0};
  struct timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  return text('.', name, '.', ::getpid(), '.', now.tv_sec, '.', now.tv_nsec, '.',
              counter.fetch_add(1), ".tmp");
}

}  // namespace

CacheFolder CacheFolder::open(const std::string& path, bool create) {
  CacheFolder out;
  out.path_ = path;
  if (path.empty()) {
    out.problem_ = "there is no home folder to keep compiled kernels in; set SPANWISE_CACHE_DIR";
    return out;
  }
  runtime::TrustedFolder opened = runtime::open_trusted_folder(
      path, create ? runtime::MissingFolders::create : runtime::MissingFolders::leave);
  out.problem_ = std::move(opened.problem);
  out.folder_ = std::move(opened.folder);
  return out;
}

std::optional<std::string> CacheFolder::read(const std::string& name) const {
  if (!folder_) return std::nullopt;
  const runtime::FileDescriptor file(runtime::uninterrupted([&] {
    return ::openat(folder_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  }));
  struct stat status;
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      !runtime::has_trusted_owner(status) || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return std::nullopt;
  return runtime::read_all(file);
}

std::string CacheFolder::replace(const std::string& name, std::string_view contents) const {
  if (!folder_) return problem_;
  const std::string temporary = temporary_name(name);
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  runtime::FileDescriptor file(runtime::uninterrupted(
      [&] { return ::openat(folder_.get(), temporary.c_str(), flags, 0600); }));
  if (!file) return runtime::system_error_text(errno);
  // No fsync: the checksum detects a file that did not reach the disk before a crash.
  if (runtime::write_all(file, contents) && file.close() &&
      ::renameat(folder_.get(), temporary.c_str(), folder_.get(), name.c_str()) == 0)
    return "";
  std::string reason = runtime::system_error_text(errno);
  remove(temporary);
  return reason;
}

void CacheFolder::remove(const std::string& name) const noexcept {
  if (folder_) ::unlinkat(folder_.get(), name.c_str(), 0);
}

void CacheFolder::touch(const std::string& name) const noexcept {
  if (folder_) ::utimensat(folder_.get(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

std::vector<CacheFolder::CachedFile> CacheFolder::list() const {
  std::vector<CachedFile> files;
  if (!folder_) return files;
  // A separate descriptor: fdopendir() takes ownership of it and changes its position.
  const int fd = runtime::uninterrupted(
      [&] { return ::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(fd < 0 ? nullptr : ::fdopendir(fd), ::closedir);
  if (!entries) {
    runtime::FileDescriptor(fd).close();
    return files;
  }
  while (const dirent* entry = ::readdir(entries.get())) {
    struct stat status;
    if (::fstatat(folder_.get(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(status.st_mode)) continue;
    files.push_back({entry->d_name, status.st_size,
                     status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec});
  }
  return files;
}

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

// Whether `text` has the form of a key: 64 lower-case hexadecimal digits.
bool is_key(std::string_view text) noexcept {
  return text.size() == key_size &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// The key of a cache file; "" for a file that does not belong to the cache.
std::string_view key_of(std::string_view file_name) noexcept {
  const std::string_view key = file_name.substr(0, key_size), suffix = file_name.substr(key.size());
  const bool is_cache_file = suffix == ".entry" || suffix == ".alias" ||
                             (suffix.starts_with('-') && suffix.ends_with(".bin"));
  return is_cache_file && is_key(key) ? key : std::string_view{};
}

// Whether the name is that of a temporary file, which its writer renames when it is complete.
bool is_temporary(std::string_view file_name) noexcept {
  return file_name.starts_with('.') && file_name.ends_with(".tmp") &&
         is_key(file_name.substr(1, key_size));
}

// Removes files of interrupted writers, then the least recently used entries except that of
// `kept_key` until at most `limit_bytes` remain. Returns the remaining bytes.
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
  static NeverDestroyed<FolderStates> states;
  return *states;
}
// The folder is listed once per this many stores, to account for other processes.
constexpr int stores_between_listings = 64;

std::string entry_name(const std::string& key) { return key + ".entry"; }
std::string alias_name(const std::string& alias) { return alias + ".alias"; }

}  // namespace

DiskCache::DiskCache(std::string path, std::int64_t limit_bytes, std::vector<std::string> layers)
    : path_(std::move(path)), limit_bytes_(limit_bytes), layers_(std::move(layers)) {}

DiskCache DiskCache::configured() {
  return DiskCache(kernel_folder(), cache_limit_bytes(), layer_folders());
}

namespace {

// The binary of an entry, verified by its digest.
std::optional<runtime::KernelBinary> read_binary(const CacheFolder& folder,
                                                 const std::string& key) {
  const auto metadata = folder.read(entry_name(key));
  if (!metadata) return std::nullopt;
  auto entry = CacheEntry::read(*metadata);
  std::optional<std::string> image;
  if (entry && key_of(entry->image_name) == key && entry->image_name.find('/') == std::string::npos)
    image = folder.read(entry->image_name);
  if (!image || sha256(*image) != entry->image_digest) {
    log_message(LogLevel::warning, text("entry ", key, " is damaged and will be compiled again"));
    return std::nullopt;
  }
  return runtime::KernelBinary{.image = std::move(*image), .symbols = std::move(entry->symbols)};
}

}  // namespace

std::optional<runtime::KernelBinary> DiskCache::find(const std::string& key) const {
  if (enabled()) {
    const CacheFolder folder = CacheFolder::open(path_, false);
    if (auto binary = read_binary(folder, key)) {
      folder.touch(entry_name(key));
      return binary;
    }
  }
  for (const std::string& layer : layers_) {
    const CacheFolder folder = CacheFolder::open(layer, false);
    if (auto binary = read_binary(folder, key)) return binary;
    if (!folder.problem().empty())
      log_message(LogLevel::warning, text("the layer ", layer, " is not used: ", folder.problem()));
  }
  return std::nullopt;
}

bool DiskCache::store(const std::string& key, const runtime::KernelBinary& binary) const {
  if (static_cast<std::int64_t>(binary.image.size()) > limit_bytes_) return false;
  const CacheFolder folder = CacheFolder::open(path_, true);
  std::string failure = folder.problem().empty() ? write_entry(folder, key, binary) : "";
  const bool is_stored = folder && failure.empty();
  if (!is_stored)
    log_message(LogLevel::warning,
                text("nothing is kept on disk: ", folder ? failure : folder.problem()));
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

void DiskCache::clear() const {
  const CacheFolder folder = CacheFolder::open(path_, false);
  for (const CacheFolder::CachedFile& file : folder.list())
    if (!key_of(file.name).empty() || is_temporary(file.name)) folder.remove(file.name);
  // What KernelFunction.tune() has measured.
  const CacheFolder tuned = CacheFolder::open(path_ + "/tuned", false);
  for (const CacheFolder::CachedFile& file : tuned.list()) tuned.remove(file.name);
  FolderStates& states = folder_states();
  const std::lock_guard lock(states.mutex);
  states.by_path.erase(path_);
}

void DiskCache::set_alias(const std::string& alias, const std::string& key) const {
  if (enabled()) CacheFolder::open(path_, true).replace(alias_name(alias), key);
}

std::optional<std::string> DiskCache::follow_alias(const std::string& alias) const {
  const auto key_in = [&](const std::string& path) {
    auto key = CacheFolder::open(path, false).read(alias_name(alias));
    return key && is_key(*key) ? key : std::nullopt;
  };
  if (enabled())
    if (auto key = key_in(path_)) return key;
  for (const std::string& layer : layers_)
    if (auto key = key_in(layer)) return key;
  return std::nullopt;
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
  {
    const std::lock_guard lock(states.mutex);
    const auto state = states.by_path.find(path_);
    if (state != states.by_path.end() && !state->second.failure.empty())
      return state->second.failure;
  }
  return runtime::write_problem(path_);
}

}  // namespace spanwise::kernels
