// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cublas.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "backends/cuda/library_search.hpp"
#include "backends/cuda/symbol_table.hpp"
#include "spanwise/config.hpp"
#include "spanwise/error.hpp"

namespace spanwise::cuda::cublas {
namespace {

// The functions with 64-bit extents came with this one.
constexpr int oldest_major = 12;

// A library of a newer major version than the driver's does not start, so it is no candidate.
std::vector<FoundLibrary> cublas_candidates() {
  std::vector<FoundLibrary> found = find_libraries("cublas", library_folders());
  const int newest = driver_status().version / 1000;
  std::erase_if(found, [&](const FoundLibrary& library) {
    return (library.major != 0 && library.major < oldest_major) ||
           (newest > 0 && library.major > newest);
  });
  return found;
}

bool fill_api(Api& api, void* handle) {
#define SW_FILL(name, function, ...) \
  if (!find_function(handle, #function, api.name)) return false;
  SW_CUBLAS_FUNCTIONS(SW_FILL)
#undef SW_FILL
  return true;
}

// cuBLAS's other half, by full path: a wheel's need not be where the loader looks.
void load_companion(const FoundLibrary& library) {
  for (const FoundLibrary& companion : find_libraries("cublasLt", {library.path.parent_path()}))
    if (companion.major == library.major &&
        dlopen(companion.path.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr)
      return;
}

// Never closed: it has memory on devices.
std::unique_ptr<Api> open_cublas(const FoundLibrary& library) {
  load_companion(library);
  void* handle = dlopen(library.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto api = std::make_unique<Api>();
  return handle != nullptr && fill_api(*api, handle) ? std::move(api) : nullptr;
}

struct Search {
  std::mutex mutex;
  std::atomic<const Api*> loaded{nullptr};
  std::uint64_t failed_at = 0;  // version of the settings
};
Search& cublas_search() {
  static Search& made = *new Search;
  return made;
}

}  // namespace

const Api* library() {
  Search& search = cublas_search();
  if (const Api* api = search.loaded.load(std::memory_order_acquire)) return api;
  const std::lock_guard lock(search.mutex);
  if (const Api* api = search.loaded.load(std::memory_order_relaxed)) return api;
  const std::uint64_t version = config::version();
  if (search.failed_at == version) return nullptr;
  for (const FoundLibrary& candidate : cublas_candidates())
    if (auto api = open_cublas(candidate)) {
      search.loaded.store(api.release(), std::memory_order_release);
      return search.loaded.load(std::memory_order_relaxed);
    }
  search.failed_at = version;
  return nullptr;
}

std::filesystem::path installed() {
  const std::vector<FoundLibrary> all = cublas_candidates();
  return all.empty() ? std::filesystem::path{} : all.front().path;
}

}  // namespace spanwise::cuda::cublas
