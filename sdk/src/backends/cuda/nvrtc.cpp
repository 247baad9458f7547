// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/nvrtc.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>

#include "backends/cuda/driver.hpp"
#include "backends/cuda/library_search.hpp"
#include "spanwise/config.hpp"
#include "spanwise/error.hpp"

namespace spanwise::cuda::nvrtc {
namespace {

// A driver takes the binaries of older compilers and of its own major version's (CUDA minor version
// compatibility), so a newer major version comes last.
std::vector<FoundLibrary> candidates() {
  std::vector<FoundLibrary> found = find_libraries("nvrtc", library_folders());
  const int newest = driver_status().version / 1000;
  if (newest > 0) {
    std::stable_partition(found.begin(), found.end(),
                          [&](const FoundLibrary& library) { return library.major <= newest; });
  }
  return found;
}

bool fill(Api& api, void* handle) {
  const auto get = [handle](const char* name, auto& entry) {
    entry = reinterpret_cast<std::remove_reference_t<decltype(entry)>>(dlsym(handle, name));
    return entry != nullptr;
  };
#define SW_FILL(name, function, ...) \
  if (!get(#function, api.name)) return false;
  SW_NVRTC_FUNCTIONS(SW_FILL)
#undef SW_FILL
  return true;
}

void read_versions(Library& library) {
  library.api.version(&library.major, &library.minor);
  int count = 0;
  if (library.api.get_num_supported_archs(&count) != success || count <= 0) return;
  library.architectures.resize(static_cast<std::size_t>(count));
  library.api.get_supported_archs(library.architectures.data());
  std::sort(library.architectures.begin(), library.architectures.end());
}

// Null where `path` cannot be loaded or is too old; `reason` then says why. Never closed.
std::unique_ptr<Library> open(const std::filesystem::path& path, std::string& reason) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* error = dlerror();
    reason += text("; ", error != nullptr ? error : path.string());
    return nullptr;
  }
  auto library = std::make_unique<Library>();
  if (!fill(library->api, handle)) {
    reason += text("; ", path.string(), " is older than CUDA 11.2");
    return nullptr;
  }
  library->path = path;
  read_versions(*library);
  return library;
}

[[noreturn]] void fail_absent(const std::string& reason) {
  std::string folders;
  for (const auto& folder : library_folders())
    folders += text(folders.empty() ? "" : ", ", folder.string());
  const int major = std::max(driver_status().version / 1000, 12);
  fail<DeviceError>(
      "cuda: no NVRTC (libnvrtc.so), which compiles kernels, was found", reason, "; looked in ",
      folders, ". Install it (python3 -m pip install nvidia-cuda-nvrtc", major == 12 ? "-cu12" : "",
      ", or the CUDA toolkit), or name its folder in "
      "SPANWISE_CUDA_LIBRARY_PATH");
}

std::mutex mutex;  // guards the loading and the search below
std::atomic<const Library*> loaded{nullptr};

}  // namespace

std::filesystem::path library_file() {
  if (const Library* library = loaded.load(std::memory_order_acquire)) return library->path;
  // The folders are a setting, so a search holds until the settings change.
  static std::uint64_t searched_at = 0;
  static std::filesystem::path& found = *new std::filesystem::path;
  const std::lock_guard lock(mutex);
  if (searched_at != config::version()) {
    searched_at = config::version();
    const std::vector<FoundLibrary> all = candidates();
    found = all.empty() ? std::filesystem::path{} : all.front().path;
  }
  return found;
}

const Library& library() {
  const std::lock_guard lock(mutex);
  // The first one stays: one process's kernels come from one compiler.
  if (const Library* library = loaded.load(std::memory_order_relaxed)) return *library;
  std::string reason;
  for (const FoundLibrary& candidate : candidates()) {
    if (auto library = open(candidate.path, reason)) {
      loaded.store(library.get(), std::memory_order_release);
      return *library.release();
    }
  }
  fail_absent(reason);
}

}  // namespace spanwise::cuda::nvrtc
