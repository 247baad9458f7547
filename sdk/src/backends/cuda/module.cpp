// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/module.hpp"

#include <array>
#include <bit>
#include <ranges>

#include "backends/cuda/compile/binary_symbols.hpp"
#include "backends/cuda/compile/image_contents.hpp"
#include "backends/cuda/compile/linker.hpp"
#include "core/string_utils.hpp"

namespace spanwise::cuda {

CudaModule::CudaModule(DeviceContext& context, const std::string& image) : context_(context) {
  std::string linked;
  if (is_lto_ir(image))
    linked = link({context.info.properties.architecture, {{"LTO-IR", image}}, {}}, {});
  const std::string& loadable = linked.empty() ? image : linked;
  const ContextGuard guard(context);
  const RelaxedCaptureMode relaxed(context.api);  // another thread may be capturing a stream
  const BinarySymbols symbols = read_symbols(loadable);
  kernels_ = names_of(symbols.kernels);
  variables_ = names_of(symbols.variables);
  load(loadable);
  if (kernels_.empty()) enumerate_kernels();
}

// Gets the kernels from the driver if read_symbols() cannot read the image, as for fat binaries.
void CudaModule::enumerate_kernels() {
  const DriverApi& api = context_.api;
  unsigned count = 0;
  if (api.library_get_kernel_count(&count, library_) != CUDA_SUCCESS || count == 0) return;
  std::vector<CUkernel> kernels(count);
  if (api.library_enumerate_kernels(kernels.data(), count, library_) != CUDA_SUCCESS) return;
  std::vector<std::string> symbols;
  for (const CUkernel kernel : kernels) {
    const char* name = nullptr;
    if (api.kernel_get_name(&name, kernel) == CUDA_SUCCESS && name != nullptr)
      symbols.emplace_back(name);
  }
  kernels_ = names_of(symbols);
}

void CudaModule::load(const std::string& image) {
  require_runnable(image, context_.info.properties);
  constexpr std::size_t log_bytes = 4096;
  std::array options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values{};
  unsigned option_count = 0;
  if (!image.starts_with("\x7f"
                         "ELF")) {  // an ELF image needs no compilation, hence no log
    log_.resize(log_bytes);
    values = {log_.data(), std::bit_cast<void*>(log_bytes)};
    option_count = static_cast<unsigned>(options.size());
  }
  const DriverApi& api = context_.api;
  check(api,
        api.library_load_data(&library_, image.c_str(), options.data(), values.data(), option_count,
                              nullptr, nullptr, 0),
        "loading a kernel binary of ", image.size(), " bytes on ", context_.device, " (",
        context_.info.properties.architecture, ')', driver_log());
}

std::string CudaModule::driver_log() const {
  return log_.empty() || log_[0] == '\0' ? "" : text("; the driver says: ", log_.data());
}

CudaModule::~CudaModule() {
  const ContextGuard guard(context_, std::nothrow);
  if (!guard.ok()) return;
  // The driver waits for kernels that still run.
  const RelaxedCaptureMode relaxed(context_.api);
  context_.api.library_unload(library_);
}

CUresult CudaModule::find_kernel(CUkernel& kernel, const std::string& symbol) const {
  return context_.api.library_get_kernel(&kernel, library_, symbol.c_str());
}

Ref<runtime::LoadedKernel> CudaModule::kernel(const std::string& name) {
  const ContextGuard guard(context_);
  const RelaxedCaptureMode relaxed(context_.api);
  CUkernel kernel = nullptr;
  std::string symbol = name;
  CUresult code = find_kernel(kernel, symbol);
  const auto mangled = kernels_.find(name);
  if (code == CUDA_ERROR_NOT_FOUND && mangled != kernels_.end()) {
    symbol = mangled->second;
    code = find_kernel(kernel, symbol);
  }
  if (code == CUDA_ERROR_NOT_FOUND)
    fail<ArgumentError>("Module.kernel: there is no kernel \"", name, "\"; the binary has: ",
                        kernels_.empty() ? "none" : joined(std::views::keys(kernels_)));
  check(context_.api, code, "looking for kernel ", name, " on ", context_.device, driver_log());
  return make_ref<CudaKernel>(Ref<CudaModule>(this), context_, kernel, symbol);
}

runtime::LoadedModule::Global CudaModule::find_global(const std::string& symbol) const {
  const DriverApi& api = context_.api;
  CUdeviceptr data = 0;
  std::size_t bytes = 0;
  CUresult code = api.library_get_global(&data, &bytes, library_, symbol.c_str());
  if (code == CUDA_ERROR_NOT_FOUND) {
    code = api.library_get_managed(&data, &bytes, library_, symbol.c_str());
  }
  if (code == CUDA_ERROR_NOT_FOUND) return {};
  check(api, code, "looking for variable ", symbol, " on ", context_.device);
  return {std::bit_cast<void*>(data), bytes};
}

runtime::LoadedModule::Global CudaModule::global(const std::string& name) {
  const ContextGuard guard(context_);
  const RelaxedCaptureMode relaxed(context_.api);
  const Global variable = find_global(name);
  const auto mangled = variables_.find(name);
  return variable.data != nullptr || mangled == variables_.end() ? variable
                                                                 : find_global(mangled->second);
}

std::uintptr_t CudaModule::handle() {
  const ContextGuard guard(context_);
  const RelaxedCaptureMode relaxed(context_.api);
  CUmodule module = nullptr;
  check(context_.api, context_.api.library_get_module(&module, library_),
        "getting the CUmodule of a kernel binary on ", context_.device);
  return reinterpret_cast<std::uintptr_t>(module);
}

}  // namespace spanwise::cuda
