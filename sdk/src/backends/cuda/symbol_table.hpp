// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <type_traits>

namespace spanwise::cuda {

/// The function `name` of a loaded library into `entry`, a pointer to a function; false, and null
/// there, where the library has none.
template <class F>
bool find_function(void* library, const char* name, F& entry) noexcept {
  entry = reinterpret_cast<std::remove_reference_t<F>>(dlsym(library, name));
  return entry != nullptr;
}

}  // namespace spanwise::cuda
