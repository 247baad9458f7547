// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/module_cache.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/build_ticket.hpp"
#include "kernels/module_builder.hpp"
#include "parse/kernel_source.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::kernels {
namespace {

void append_field(std::string& out, std::string_view field) {
  const std::uint64_t size = field.size();
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out += field;
}

void append_list(std::string& out, std::span<const std::string> list) {
  append_field(out, std::to_string(list.size()));
  for (const std::string& field : list) append_field(out, field);
}

// The text of the request. Include files and compiler are compared on a hit (is_current()).
std::string request_key(std::string_view source, const ModuleOptions& options, Device device) {
  std::string key;
  key.reserve(source.size() + 256);
  append_field(key, device.name());
  append_field(key, source);
  append_list(key, options.options);
  append_list(key, options.names);
  append_list(key, options.include_dirs);
  append_list(key, options.link);
  append_field(key, options.file_name);
  // Relative include paths depend on the current directory.
  const auto includes = [](std::string_view text) {
    return text.find("include") != std::string_view::npos;
  };
  if (includes(source) || std::ranges::any_of(options.link, includes))
    append_field(key, std::filesystem::current_path().string());
  return key;
}

class ModuleCache final : ForkParticipant {
 public:
  Ref<ModuleState> get(std::string_view source, const ModuleOptions& options, Device device) {
    const std::string key = request_key(source, options, device);
    for (;;) {
      const std::shared_ptr<CachedModule> cached = find_loaded(key);
      if (cached && is_current(*cached)) return cached->built.module;
      const Lookup lookup = find_or_join_build(key, cached);
      if (lookup.loaded) return lookup.loaded->built.module;
      if (lookup.builds_here)
        return finish(key, *lookup.ticket, [&] { return build_now(source, options, device); });
      if (Ref<ModuleState> built = lookup.ticket->wait(InterpreterUnlocked())) return built;
    }
  }

  void clear() {
    // Modules are unloaded after unlocking.
    std::unordered_map<std::string, std::shared_ptr<CachedModule>> dropped;
    const std::lock_guard lock(mutex_);
    dropped.swap(loaded_);
  }

  static BuiltModule build_now(std::string_view source, const ModuleOptions& options,
                               Device device) {
    runtime::CompileRequest request;
    request.options = options.options;
    request.names = options.names;
    request.include_dirs = options.include_dirs;
    request.keep = options.keep;
    for (std::size_t i = 0; i < options.link.size(); ++i)
      request.linked.push_back(parse::scan_linked(options.link[i], text("link[", i, "].cu")));
    return build_module(device, parse::scan_kernels(std::string(source), options.file_name),
                        std::move(request));
  }

 private:
  struct CachedModule {
    CachedModule(BuiltModule built_module, std::uint64_t version)
        : built(std::move(built_module)), settings(version) {}

    const BuiltModule built;
    std::atomic<std::uint64_t> settings;  // config::version() at the last successful is_current()
    std::uint64_t last_use = 0;           // guarded by mutex_
  };

  std::shared_ptr<CachedModule> find_loaded(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto entry = loaded_.find(key);
    if (entry == loaded_.end()) return nullptr;
    entry->second->last_use = ++uses_;
    return entry->second;
  }

  // A cached module is valid while include files and settings are unchanged. Replacing the compiler
  // takes effect in the next process.
  static bool is_current(CachedModule& loaded) {
    if (!loaded.built.includes.unchanged()) return false;
    const std::uint64_t settings = config::version();
    if (loaded.settings.load(std::memory_order_relaxed) == settings) return true;
    const ModuleState& module = *loaded.built.module;
    runtime::Backend& backend = runtime::backend_for(module.device());
    const std::string fingerprint =
        backend.compiler_fingerprint(module.device().ordinal(), module.request());
    if (fingerprint != loaded.built.fingerprint) return false;
    loaded.settings.store(settings, std::memory_order_relaxed);
    return true;
  }

  struct Lookup {
    std::shared_ptr<CachedModule> loaded;  // by another thread meanwhile; else null
    std::shared_ptr<BuildTicket> ticket;
    bool builds_here = false;
  };

  // `outdated` is the module of `key` that is not current; may be null.
  Lookup find_or_join_build(const std::string& key, const std::shared_ptr<CachedModule>& outdated) {
    const std::lock_guard lock(mutex_);
    if (const auto entry = loaded_.find(key); entry != loaded_.end() && entry->second != outdated)
      return {.loaded = entry->second, .ticket = nullptr};
    const auto [ticket, is_new] = building_.try_emplace(key);
    if (is_new) ticket->second = std::make_shared<BuildTicket>();
    return {.loaded = nullptr, .ticket = ticket->second, .builds_here = is_new};
  }

  template <class F>
  Ref<ModuleState> finish(const std::string& key, BuildTicket& ticket, F&& make) {
    std::shared_ptr<CachedModule> result;
    const std::uint64_t settings = config::version();
    try {
      result = std::make_shared<CachedModule>(ticket.build(make), settings);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      building_.erase(key);
      throw;
    }
    std::shared_ptr<CachedModule> dropped, replaced;  // unloaded after unlocking
    const std::lock_guard lock(mutex_);
    building_.erase(key);
    if (result->built.includes.complete) {
      result->last_use = ++uses_;
      replaced = std::exchange(loaded_[key], result);
      if (loaded_.size() > capacity) dropped = take_least_recently_used();
    }
    return result->built.module;
  }

  std::shared_ptr<CachedModule> take_least_recently_used() {
    const auto oldest = std::ranges::min_element(loaded_, [](const auto& a, const auto& b) {
      return a.second->last_use < b.second->last_use;
    });
    std::shared_ptr<CachedModule> out = std::move(oldest->second);
    loaded_.erase(oldest);
    return out;
  }

  // The building threads do not exist in the child. Their tickets are kept, not destroyed: their
  // mutexes and condition variables still count waiters of the parent process.
  void after_fork_in_child(bool) noexcept override {
    for (auto& [key, ticket] : building_) orphans_.push_back(std::move(ticket));
    building_.clear();
  }

  // Limits the memory used by a program that keeps generating new sources.
  static constexpr std::size_t capacity = 512;

  Mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<CachedModule>> loaded_;
  std::unordered_map<std::string, std::shared_ptr<BuildTicket>> building_;
  // Of builds that threads of a parent process had begun at the fork.
  std::vector<std::shared_ptr<BuildTicket>> orphans_;
  std::uint64_t uses_ = 0;
};

// Never destroyed: at exit the driver may have shut down before modules are unloaded.
ModuleCache& module_cache() {
  static auto& cache = *new ModuleCache;
  return cache;
}

}  // namespace

Ref<ModuleState> find_or_build(std::string_view source, const ModuleOptions& options) {
  const Device device = options.device.value_or(default_device());
  // With `keep` the compiler has to run.
  if (options.keep) return ModuleCache::build_now(source, options, device).module;
  return module_cache().get(source, options, device);
}

void forget_loaded_modules() { module_cache().clear(); }

}  // namespace spanwise::kernels
