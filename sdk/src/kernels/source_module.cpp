// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <fstream>
#include <iterator>

#include "kernels/module_cache.hpp"
#include "kernels/module_state.hpp"
#include "runtime/system/unix_file.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/kernels/kernel.hpp"

namespace spanwise {
namespace {

kernels::ModuleState& module_in(const Ref<RefCounted>& state) noexcept {
  return static_cast<kernels::ModuleState&>(*state);
}

void require_gpu(Device device) {
  if (device.kind() != DeviceKind::cuda)
    fail<ArgumentError>("Module.load: expected a CUDA device for a GPU's binary, got ", device,
                        ". Remedy: on the CPU compile the source, SourceModule(text)");
}

}  // namespace

Module Module::load(std::span<const std::byte> image, std::optional<Device> device) {
  const Device target = device.value_or(default_device());
  require_gpu(target);
  runtime::KernelBinary binary;
  binary.image.assign(reinterpret_cast<const char*>(image.data()), image.size());
  Ref<runtime::LoadedModule> loaded = runtime::backend_for(target).load(target.ordinal(), binary);
  auto symbols = loaded->kernel_symbols();
  return Module(make_ref<kernels::ModuleState>(target, parse::KernelSource{},
                                               runtime::CompileRequest{}, std::move(symbols),
                                               std::move(loaded), false, true));
}

Module Module::load_file(const std::string& path, std::optional<Device> device) {
  require_gpu(device.value_or(default_device()));
  std::ifstream file(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  if (!file.good() && bytes.empty())
    fail<ArgumentError>("Module.load: expected a cubin, PTX or fat binary, got the file ", path,
                        ", which cannot be read: ", runtime::system_error_text(errno));
  return load(std::as_bytes(std::span(bytes)), device);
}

Kernel Module::get_function(std::string_view name) const {
  return Kernel(
      make_ref<kernels::KernelState>(Ref<kernels::ModuleState>(&module_in(state_)), name));
}

Array Module::get_global(std::string_view name) const {
  return kernels::global_variable(Ref<kernels::ModuleState>(&module_in(state_)), name);
}

std::vector<std::string> Module::function_names() const {
  return module_in(state_).function_names();
}

Device Module::device() const noexcept { return module_in(state_).device(); }

std::uintptr_t Module::handle() const { return module_in(state_).loaded().handle(); }

SourceModule::SourceModule(std::string_view source, ModuleOptions options)
    : Module(kernels::find_or_build(source, options)->with_own_variables()) {}

bool SourceModule::from_cache() const noexcept { return module_in(state_).from_cache(); }

}  // namespace spanwise
