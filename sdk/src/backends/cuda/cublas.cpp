// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cublas.hpp"

#include <memory>
#include <mutex>
#include <vector>

#include "backends/cuda/optional_library.hpp"
#include "spanwise/core/fork.hpp"

namespace spanwise::cuda::cublas {
namespace {

// The first major version with the _64 functions.
constexpr int oldest_major = 12;

std::vector<FoundLibrary> cublas_candidates() {
  std::vector<FoundLibrary> libraries = libraries_for_driver("cublas");
  std::erase_if(libraries, [](const FoundLibrary& library) {
    return library.major != 0 && library.major < oldest_major;
  });
  return libraries;
}

// Loads cuBLASLt, which cuBLAS depends on, by its full path: the folder of a wheel need not be in
// the loader's search path.
void load_companion(const FoundLibrary& library) {
  for (const FoundLibrary& companion : find_libraries("cublasLt", {library.path.parent_path()}))
    if (companion.major == library.major && open_library(companion.path) != nullptr) return;
}

std::unique_ptr<Api> open_cublas(const FoundLibrary& library) {
  const std::lock_guard loading(loader_mutex());
  load_companion(library);
  void* handle = open_library(library.path);
  Api api;
  const bool is_usable = handle != nullptr SW_CUBLAS_FUNCTIONS(SW_FIND_FUNCTION);
  return is_usable ? std::make_unique<Api>(api) : nullptr;
}

}  // namespace

const Api* library() {
  static LoadedOnce<Api>& cublas = *new LoadedOnce<Api>;
  return cublas.get(cublas_candidates, open_cublas);
}

std::filesystem::path library_path() { return first_path(cublas_candidates()); }

}  // namespace spanwise::cuda::cublas
