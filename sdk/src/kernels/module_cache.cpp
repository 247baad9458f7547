// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/module_cache.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "kernels/module_builder.hpp"
#include "runtime/source/kernel_source.hpp"

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

// What the caller said, word for word. What it leads to (files, compiler) is compared on a hit.
std::string request_key(std::string_view source, const ModuleOptions& options, Device device) {
  std::string key;
  key.reserve(source.size() + 256);
  append_field(key, device.name());
  append_field(key, source);
  append_list(key, options.options);
  append_list(key, options.names);
  append_list(key, options.include_dirs);
  // Relative names mean other files elsewhere.
  if (source.find("include") != std::string_view::npos)
    append_field(key, std::filesystem::current_path().string());
  return key;
}

/// A build that threads wait for.
class Build {
 public:
  template <class F>
  BuiltModule run(F&& build) {
    BuiltModule built;
    std::exception_ptr error;
    try {
      built = build();
    } catch (...) {
      error = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      module_ = built.module;
      error_ = error;
      done_ = true;
    }
    finished_.notify_all();
    if (error) std::rethrow_exception(error);
    return built;
  }

  Ref<ModuleState> wait() {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [this] { return done_; });
    if (error_) std::rethrow_exception(error_);
    return module_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable finished_;
  bool done_ = false;
  Ref<ModuleState> module_;
  std::exception_ptr error_;
};

class ModuleCache {
 public:
  Ref<ModuleState> get(std::string_view source, const ModuleOptions& options, Device device) {
    const std::string key = request_key(source, options, device);
    const std::shared_ptr<const BuiltModule> seen = find_loaded(key);
    if (seen && is_current(*seen)) return seen->module;
    const Turn turn = take_turn(key, seen);
    if (turn.loaded) return turn.loaded->module;
    if (!turn.is_mine) return turn.build->wait();
    return finish(key, *turn.build, [&] { return build_now(source, options, device); });
  }

  void clear() {
    std::unordered_map<std::string, Loaded> dropped;  // unloads outside the lock
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
    return build_module(device, runtime::scan_kernels(std::string(source)), std::move(request));
  }

 private:
  struct Loaded {
    std::shared_ptr<const BuiltModule> built;
    std::uint64_t last_use = 0;
  };

  std::shared_ptr<const BuiltModule> find_loaded(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = loaded_.find(key);
    if (found == loaded_.end()) return nullptr;
    found->second.last_use = ++uses_;
    return found->second.built;
  }

  // The same words give the same module only while files and compiler are the same.
  static bool is_current(const BuiltModule& built) {
    const ModuleState& module = *built.module;
    return built.includes.unchanged() &&
           runtime::backend_for(module.device())
                   .compiler_fingerprint(module.device().ordinal(), module.request()) ==
               built.fingerprint;
  }

  struct Turn {
    std::shared_ptr<const BuiltModule> loaded;  // by another thread since `seen`
    std::shared_ptr<Build> build;
    bool is_mine = false;
  };

  Turn take_turn(const std::string& key, const std::shared_ptr<const BuiltModule>& seen) {
    const std::lock_guard lock(mutex_);
    if (const auto found = loaded_.find(key); found != loaded_.end() && found->second.built != seen)
      return {.loaded = found->second.built, .build = nullptr};
    const auto [place, is_new] = building_.try_emplace(key);
    if (is_new) place->second = std::make_shared<Build>();
    return {.loaded = nullptr, .build = place->second, .is_mine = is_new};
  }

  template <class F>
  Ref<ModuleState> finish(const std::string& key, Build& build, F&& make) {
    std::shared_ptr<const BuiltModule> built;
    try {
      built = std::make_shared<const BuiltModule>(build.run(make));
    } catch (...) {
      const std::lock_guard lock(mutex_);
      building_.erase(key);
      throw;
    }
    Loaded dropped, replaced;  // unload outside the lock
    const std::lock_guard lock(mutex_);
    building_.erase(key);
    if (built->includes.complete) {
      replaced = std::exchange(loaded_[key], Loaded{built, ++uses_});
      if (loaded_.size() > capacity) dropped = take_least_recently_used();
    }
    return built->module;
  }

  Loaded take_least_recently_used() {
    const auto oldest = std::min_element(
        loaded_.begin(), loaded_.end(),
        [](const auto& a, const auto& b) { return a.second.last_use < b.second.last_use; });
    Loaded out = std::move(oldest->second);
    loaded_.erase(oldest);
    return out;
  }

  // A program that makes sources without end must not fill the device with them.
  static constexpr std::size_t capacity = 512;

  std::mutex mutex_;
  std::unordered_map<std::string, Loaded> loaded_;
  std::unordered_map<std::string, std::shared_ptr<Build>> building_;
  std::uint64_t uses_ = 0;
};

// Never destroyed: unloading a module while the process ends would meet a driver that has ended.
ModuleCache& module_cache() {
  static auto& cache = *new ModuleCache;
  return cache;
}

}  // namespace

Ref<ModuleState> find_or_build(std::string_view source, const ModuleOptions& options) {
  const Device device = options.device.value_or(default_device());
  // Who asks to keep the compiler's files wants it to run.
  if (options.keep) return ModuleCache::build_now(source, options, device).module;
  return module_cache().get(source, options, device);
}

void forget_loaded_modules() { module_cache().clear(); }

}  // namespace spanwise::kernels
