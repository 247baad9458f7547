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
#include "backends/cuda/library_search.hpp"
#include "spanwise/config.hpp"
#include "spanwise/fork.hpp"

/// What the libraries that are loaded at run time, and may be absent, share.
namespace spanwise::cuda {

/// The files lib<name>.so* that the driver takes: a newer major version's results it does not.
inline std::vector<FoundLibrary> libraries_for_driver(std::string_view name) {
  std::vector<FoundLibrary> found = find_libraries(name, library_folders());
  const int newest = driver_status().version / 1000;
  std::erase_if(found,
                [&](const FoundLibrary& library) { return newest > 0 && library.major > newest; });
  return found;
}

/// The function `name` of a loaded library into `entry`, a pointer to a function; false, and null
/// there, where the library has none.
template <class F>
bool find_function(void* library, const char* name, F& entry) noexcept {
  entry = reinterpret_cast<std::remove_reference_t<F>>(dlsym(library, name));
  return entry != nullptr;
}

/// A library's functions, found at the first use and kept for ever. A search that found nothing is
/// made again when the settings change.
template <class Library>
class LoadedOnce {
 public:
  /// `open(candidate)` gives a std::unique_ptr<Library>, null where it cannot be used. Null where
  /// none can.
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
  std::uint64_t failed_at_ = 0;  // version of the settings
};

}  // namespace spanwise::cuda
