// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/nvjitlink.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/cuda/driver.hpp"
#include "backends/cuda/library_search.hpp"
#include "backends/cuda/symbol_table.hpp"
#include "spanwise/config.hpp"

namespace spanwise::cuda::nvjitlink {
namespace {

// A driver does not take what a newer major version makes.
std::vector<FoundLibrary> linker_candidates() {
  std::vector<FoundLibrary> found = find_libraries("nvJitLink", library_folders());
  const int newest = driver_status().version / 1000;
  std::erase_if(found,
                [&](const FoundLibrary& library) { return newest > 0 && library.major > newest; });
  return found;
}

bool fill_linker(Api& api, void* handle) {
#define SW_FILL(name, function, ...) \
  if (!find_function(handle, #function, api.name)) return false;
  SW_NVJITLINK_FUNCTIONS(SW_FILL)
#undef SW_FILL
  return true;
}

// Null where it cannot be loaded or is older than CUDA 12.3. Never closed.
std::unique_ptr<Library> open_linker(const std::filesystem::path& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto library = std::make_unique<Library>();
  unsigned major = 0, minor = 0;
  if (handle == nullptr || !fill_linker(library->api, handle) ||
      library->api.version(&major, &minor) != success)
    return nullptr;
  library->path = path;
  library->major = static_cast<int>(major);
  library->minor = static_cast<int>(minor);
  return library;
}

struct LinkerSearch {
  std::mutex mutex;
  const Library* loaded = nullptr;
  std::uint64_t failed_at = 0;  // version of the settings
};
LinkerSearch& linker_search() {
  static LinkerSearch& made = *new LinkerSearch;
  return made;
}

}  // namespace

const Library* library() {
  LinkerSearch& search = linker_search();
  const std::lock_guard lock(search.mutex);
  const std::uint64_t version = config::version();
  if (search.loaded != nullptr || search.failed_at == version) return search.loaded;
  for (const FoundLibrary& candidate : linker_candidates()) {
    search.loaded = open_linker(candidate.path).release();
    if (search.loaded != nullptr) return search.loaded;
  }
  search.failed_at = version;
  return nullptr;
}

std::filesystem::path installed() {
  const std::vector<FoundLibrary> all = linker_candidates();
  return all.empty() ? std::filesystem::path{} : all.front().path;
}

const char* remedy() {
  return driver_status().version / 1000 == 12
             ? "install nvJitLink (python3 -m pip install nvidia-nvjitlink-cu12, or the CUDA "
               "toolkit), or name its folder in SPANWISE_CUDA_LIBRARY_PATH"
             : "install nvJitLink (python3 -m pip install nvidia-nvjitlink, or the CUDA toolkit), "
               "or name its folder in SPANWISE_CUDA_LIBRARY_PATH";
}

}  // namespace spanwise::cuda::nvjitlink
