// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/nccl.hpp"

#include <dlfcn.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "backends/cuda/found_library.hpp"
#include "spanwise/fork.hpp"

namespace spanwise::cuda::nccl {
namespace {

constexpr int oldest_nccl = 21400;  // the first with ncclCommInitRankConfig
constexpr const char* nccl_soname = "libnccl.so.2";

std::vector<FoundLibrary> nccl_candidates() {
  std::vector<FoundLibrary> found = find_libraries("nccl", library_folders());
  found.insert(found.begin(), {nccl_soname, 2});  // loaded already, or in the loader's path
  return found;
}

bool fill_nccl(Api& api, void* handle) {
#define SW_FILL(name, function, ...) \
  if (!find_function(handle, #function, api.name)) return false;
  SW_NCCL_FUNCTIONS(SW_FILL)
#undef SW_FILL
#define SW_FILL(name, function, ...) find_function(handle, #function, api.name);
  SW_NCCL_NEWER_FUNCTIONS(SW_FILL)
#undef SW_FILL
  return api.get_version(&api.version) == success && api.version >= oldest_nccl;
}

// Never closed: NCCL has threads.
std::unique_ptr<Api> open_nccl(const FoundLibrary& library) {
  const std::lock_guard loading(loader_mutex());
  void* handle = dlopen(library.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto api = std::make_unique<Api>();
  return handle != nullptr && fill_nccl(*api, handle) ? std::move(api) : nullptr;
}

}  // namespace

const Api* library() {
  static LoadedOnce<Api>& found = *new LoadedOnce<Api>;
  return found.get(nccl_candidates, open_nccl);
}

std::filesystem::path installed() {
  const std::vector<FoundLibrary> all = find_libraries("nccl", library_folders());
  return all.empty() ? std::filesystem::path{} : all.front().path;
}

}  // namespace spanwise::cuda::nccl
