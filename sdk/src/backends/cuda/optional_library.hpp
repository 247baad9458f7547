// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <type_traits>
#include <vector>

#include "backends/cuda/driver.hpp"
#include "runtime/library_search.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/runtime/config.hpp"

/// Shared code for libraries that are loaded at run time and may be missing.
namespace spanwise::cuda {

using runtime::find_libraries;
using runtime::FoundLibrary;
using runtime::library_folders;

/// The files lib<name>.so* whose major version is not newer than the driver's, or is unknown.
inline std::vector<FoundLibrary> libraries_for_driver(std::string_view name) {
  std::vector<FoundLibrary> libraries = find_libraries(name, library_folders());
  const int newest = driver_status().version / 1000;
  std::erase_if(libraries,
                [&](const FoundLibrary& library) { return newest > 0 && library.major > newest; });
  return libraries;
}

/// The file that would be loaded first; empty if there is none.
inline std::filesystem::path first_path(const std::vector<FoundLibrary>& libraries) {
  return libraries.empty() ? std::filesystem::path{} : libraries.front().path;
}

/// Loads a library, which is never closed, because its threads may still run then. Null if it
/// cannot be loaded; dlerror() then has the reason. The caller holds loader_mutex(), also for
/// find_function().
inline void* open_library(const std::filesystem::path& path) {
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

/// Stores the address of function `name` of a loaded library in `entry`, a function pointer; stores
/// null and returns false if the library lacks the function.
template <class F>
bool find_function(void* library, const char* name, F& entry) noexcept {
  entry = reinterpret_cast<std::remove_reference_t<F>>(dlsym(library, name));
  return entry != nullptr;
}

/// For a list X(member of `api`, function, ...): whether `handle` has all the functions, whose
/// addresses are stored.
#define SW_FIND_FUNCTION(name, function, ...) &&find_function(handle, #function, api.name)

/// A library's function table, loaded at the first use and never unloaded. A failed search is
/// repeated after a configuration change.
template <class Library>
class LoadedOnce {
 public:
  /// `open(candidate)` returns a std::unique_ptr<Library>, null if the candidate is unusable.
  /// Returns null if no candidate is usable.
  template <class Candidates, class Open>
  const Library* get(Candidates&& candidates, Open&& open) {
    if (const Library* library = loaded_.load(std::memory_order_acquire)) return library;
    const std::lock_guard lock(mutex_);
    if (const Library* library = loaded_.load(std::memory_order_relaxed)) return library;
    const std::uint64_t version = config::version();
    if (failed_at_ == version) return nullptr;
    for (const FoundLibrary& candidate : candidates()) {
      std::unique_ptr<Library> library = open(candidate);
      if (library == nullptr) continue;
      loaded_.store(library.release(), std::memory_order_release);
      return loaded_.load(std::memory_order_relaxed);
    }
    failed_at_ = version;
    return nullptr;
  }

 private:
  Mutex mutex_;
  std::atomic<const Library*> loaded_{nullptr};
  std::uint64_t failed_at_ = 0;  // config::version() of the last failed search
};

}  // namespace spanwise::cuda
