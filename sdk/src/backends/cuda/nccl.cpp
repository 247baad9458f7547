// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/nccl.hpp"

#include <memory>
#include <mutex>
#include <vector>

#include "backends/cuda/optional_library.hpp"
#include "spanwise/core/fork.hpp"

namespace spanwise::cuda::nccl {
namespace {

constexpr int oldest_nccl = 21800;  // the first with ncclCommSplit
constexpr const char* nccl_soname = "libnccl.so.2";

std::vector<FoundLibrary> nccl_candidates() {
  std::vector<FoundLibrary> libraries = find_libraries("nccl", library_folders());
  // First the one that is loaded already or in the loader's path.
  libraries.insert(libraries.begin(), {nccl_soname, 2});
  return libraries;
}

std::unique_ptr<Api> open_nccl(const FoundLibrary& library) {
  const std::lock_guard loading(loader_mutex());
  void* handle = open_library(library.path);
  Api api;
  if (!(handle != nullptr SW_NCCL_FUNCTIONS(SW_FIND_FUNCTION))) return nullptr;
  find_function(handle, "ncclAlltoAll", api.all_to_all);
  const bool is_usable = api.get_version(&api.version) == success && api.version >= oldest_nccl;
  return is_usable ? std::make_unique<Api>(api) : nullptr;
}

}  // namespace

const Api* library() {
  static LoadedOnce<Api>& nccl = *new LoadedOnce<Api>;
  return nccl.get(nccl_candidates, open_nccl);
}

}  // namespace spanwise::cuda::nccl
