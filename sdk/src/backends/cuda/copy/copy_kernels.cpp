// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/copy/copy_kernels.hpp"

#include <mutex>
namespace spanwise::cuda {

runtime::LoadedKernel* CopyKernels::find(CopyKernelKey key) {
  const std::lock_guard lock(mutex_);
  const auto found = kernels_.find(key);
  return found != kernels_.end() ? found->second.get() : nullptr;
}

runtime::LoadedKernel& CopyKernels::make(CopyKernelKey key, const CopyKernelText& kernel) {
  source::KernelSource source;
  source.text = kernel.text;
  source.file_name = kernel.name + ".cu";
  Ref<runtime::LoadedKernel> result =
      runtime::load_own_module(context_.device, source)->kernel(kernel.name);
  const std::lock_guard lock(mutex_);
  return *kernels_.try_emplace(key, std::move(result)).first->second;
}

}  // namespace spanwise::cuda
