// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/compile/nvjitlink.hpp"

#include <memory>
#include <mutex>
#include <vector>

#include "backends/cuda/optional_library.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cuda::nvjitlink {
namespace {

// Null where it cannot be loaded or is older than CUDA 12.3.
std::unique_ptr<Library> open_linker(const FoundLibrary& file) {
  const std::lock_guard loading(loader_mutex());
  void* handle = open_library(file.path);
  auto library = std::make_unique<Library>();
  Api& api = library->api;
  unsigned major = 0, minor = 0;
  if (!(handle != nullptr SW_NVJITLINK_FUNCTIONS(SW_FIND_FUNCTION)) ||
      api.version(&major, &minor) != success)
    return nullptr;
  library->path = file.path;
  library->major = static_cast<int>(major);
  library->minor = static_cast<int>(minor);
  return library;
}

std::vector<FoundLibrary> linker_candidates() { return libraries_for_driver("nvJitLink"); }

}  // namespace

const Library* library() {
  static LoadedOnce<Library>& linker = *new LoadedOnce<Library>;
  return linker.get(linker_candidates, open_linker);
}

std::filesystem::path library_path() { return first_path(linker_candidates()); }

std::string remedy() {
  return text("install nvJitLink (python3 -m pip install nvidia-nvjitlink",
              driver_status().version / 1000 == 12 ? "-cu12" : "",
              ", or the CUDA toolkit), or name its folder in SPANWISE_CUDA_LIBRARY_PATH");
}

}  // namespace spanwise::cuda::nvjitlink
