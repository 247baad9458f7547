// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace spanwise::cpu_backend {

/// Loads the bytes of a shared object and returns the handle of dlopen(), for dlclose(). Loads from
/// memory, so that the bytes cannot change after they were verified, and mounts without execute
/// permission (noexec) do not matter. Each call loads its own copy of the variables. Throws
/// DeviceError.
void* load_image(std::string_view image);

/// Where the loader has put a shared object.
struct LoadedImage {
  const char *begin = nullptr, *end = nullptr;
  const char* base = nullptr;  ///< what offsets in the file's symbol table count from
  char* thread_data =
      nullptr;  ///< the calling thread's copy of its variables; null if not yet made
  std::size_t thread_bytes = 0;
};

/// The image that contains `address`, such as a variable of it.
LoadedImage loaded_image(const void* address);

}  // namespace spanwise::cpu_backend
