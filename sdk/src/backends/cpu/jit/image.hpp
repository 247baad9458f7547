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

/// The memory of a loaded shared object.
struct LoadedImage {
  const char *begin = nullptr, *end = nullptr;
  const char* base = nullptr;  ///< address of offset 0 of the file's symbol table
  /// The calling thread's copy of the thread-local variables; null before the thread's first use.
  char* thread_data = nullptr;
  std::size_t thread_bytes = 0;  ///< size of the thread-local variables
};

/// The image that contains `address`, such as that of a variable.
LoadedImage loaded_image(const void* address);

}  // namespace spanwise::cpu_backend
