// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace spanwise::cpu_backend {

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
