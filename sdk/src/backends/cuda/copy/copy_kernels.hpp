// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "backends/cuda/context.hpp"
#include "backends/cuda/copy/copy_source.hpp"
#include "runtime/backend.hpp"
#include "spanwise/fork.hpp"

namespace spanwise::cuda {

class CudaStream;

/// The copy and fill kernels of one device, compiled when they are first needed and then kept, here
/// and in the disk cache.
class CopyKernels {
 public:
  explicit CopyKernels(DeviceContext& context) : context_(context) {}
  CopyKernels(const CopyKernels&) = delete;
  CopyKernels& operator=(const CopyKernels&) = delete;

  /// The kernel that `key` names; `text()` gives it where it is needed for the first time. Throws
  /// DeviceError where there is no NVRTC.
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

/// Backend::copy and Backend::fill.
void copy(DeviceContext& context, const Array& source, const Array& target, CudaStream& stream);
void fill(DeviceContext& context, const Array& target, const Scalar& value, CudaStream& stream);

}  // namespace spanwise::cuda
