// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "backends/cuda/driver.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cuda {

/// Throws DeviceError for a failed driver call (OutOfMemoryError for CUDA_ERROR_OUT_OF_MEMORY). The
/// message is `action` (the action and its object, "launching blur on cuda:0"), the driver's
/// description, the name and number of the code, and a remedy if one is known.
[[noreturn]] void fail_driver(const DriverApi& api, CUresult code, const std::string& action);

/// Throws fail_driver()'s error unless `code` is CUDA_SUCCESS. `action` is formatted only then.
template <class... Action>
inline void check(const DriverApi& api, CUresult code, const Action&... action) {
  if (code != CUDA_SUCCESS) [[unlikely]]
    fail_driver(api, code, text(action...));
}

}  // namespace spanwise::cuda
