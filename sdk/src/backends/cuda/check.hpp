// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "backends/cuda/driver.hpp"
#include "spanwise/error.hpp"

namespace spanwise::cuda {

/// Throws the DeviceError for a failed driver call: `what` says what was being done and on which
/// object ("launching blur on cuda:0"); code, name and the driver's text follow, then what to do
/// where that is known.
[[noreturn]] void fail_driver(const DriverApi& api, CUresult code, const std::string& what);

/// Throws unless `code` is CUDA_SUCCESS. The parts of `what` are joined only then.
template <class... What>
inline void check(const DriverApi& api, CUresult code, const What&... what) {
  if (code != CUDA_SUCCESS) [[unlikely]]
    fail_driver(api, code, text(what...));
}

}  // namespace spanwise::cuda
