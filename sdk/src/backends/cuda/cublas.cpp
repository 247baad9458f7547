// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cublas.hpp"

#include <dlfcn.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "backends/cuda/found_library.hpp"
#include "spanwise/fork.hpp"

namespace spanwise::cuda::cublas {
namespace {

// The first major version with the _64 functions.
constexpr int oldest_major = 12;

std::vector<FoundLibrary> cublas_candidates() {
  std::vector<FoundLibrary> found = libraries_for_driver("cublas");
  std::erase_if(found, [](const FoundLibrary& library) {
    return library.major != 0 && library.major < oldest_major;
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

// Loads cuBLASLt, which cuBLAS depends on, by its full path: the folder of a wheel need not be in
// the loader's search path.
void load_companion(const FoundLibrary& library) {
  for (const FoundLibrary& companion : find_libraries("cublasLt", {library.path.parent_path()}))
    if (companion.major == library.major &&
        dlopen(companion.path.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr)
      return;
}

// Never closed: cuBLAS owns device memory.
std::unique_ptr<Api> open_cublas(const FoundLibrary& library) {
  const std::lock_guard loading(loader_mutex());
  load_companion(library);
  void* handle = dlopen(library.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto api = std::make_unique<Api>();
  return handle != nullptr && fill_api(*api, handle) ? std::move(api) : nullptr;
}

}  // namespace

const Api* library() {
  static LoadedOnce<Api>& cublas = *new LoadedOnce<Api>;
  return cublas.get(cublas_candidates, open_cublas);
}

std::filesystem::path installed() {
  const std::vector<FoundLibrary> all = cublas_candidates();
  return all.empty() ? std::filesystem::path{} : all.front().path;
}

}  // namespace spanwise::cuda::cublas
