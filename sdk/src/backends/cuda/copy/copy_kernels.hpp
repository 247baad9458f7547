// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "backends/cuda/context.hpp"
#include "backends/cuda/copy/copy_source.hpp"
#include "runtime/backend.hpp"
#include "spanwise/fork.hpp"

namespace spanwise::cuda {

/// The copy and fill kernels of one device, compiled at first use and cached here and on disk.
class CopyKernels {
 public:
  explicit CopyKernels(DeviceContext& context) : context_(context) {}
  CopyKernels(const CopyKernels&) = delete;
  CopyKernels& operator=(const CopyKernels&) = delete;

  /// The kernel for `key`; `text()` returns its source at the first use. Throws DeviceError without
  /// NVRTC.
  template <class Text>
  runtime::LoadedKernel& get(CopyKernelKey key, Text&& text) {
    runtime::LoadedKernel* known = find(key);
    return known != nullptr ? *known : make(key, text());
  }

 private:
  runtime::LoadedKernel* find(CopyKernelKey key);
  runtime::LoadedKernel& make(CopyKernelKey key, const CopyKernelText& kernel);

  DeviceContext& context_;
  Mutex mutex_;
  std::map<CopyKernelKey, Ref<runtime::LoadedKernel>> kernels_;
};

}  // namespace spanwise::cuda
