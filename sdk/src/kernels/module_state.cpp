// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/module_state.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "core/string_utils.hpp"
#include "kernels/bundle.hpp"
#include "kernels/module_cache.hpp"
#include "runtime/files.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/kernels/kernel.hpp"

namespace spanwise::kernels {
namespace {

// Normalises spaces: "scale< float >" becomes "scale<float>"; "scale<unsigned int>" keeps its inner
// space.
std::string without_spaces(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != ' ') {
      out += name[i];
      continue;
    }
    const std::size_t next = name.find_first_not_of(' ', i);
    if (next == std::string_view::npos) break;
    if (!out.empty() && is_word_character(out.back()) && is_word_character(name[next])) out += ' ';
    i = next - 1;
  }
  return out;
}

// "scale" of "scale<float>" and of "scale(float*, int)", an overload.
std::string_view base_name(std::string_view name) {
  return name.substr(0, name.find_first_of("<("));
}

// The names under which a CPU's module may list the kernel with the mangled name `symbol` of the
// Itanium C++ ABI: "scale<float>" and "scale(float*,float)" for "_Z5scaleIfEvPT_S0_"; none for
// other texts.
std::vector<std::string> demangled(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return {};
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0) return {};
  std::string name(readable.get());
  for (const auto& [written, meant] : {std::pair("(bool)1", "true"), {"(bool)0", "false"}})
    for (std::size_t at = name.find(written); at != name.npos; at = name.find(written))
      name.replace(at, std::string_view(written).size(), meant);
  // Instances of templates come with the type that they return.
  if (name.starts_with("void ")) name.erase(0, 5);
  int depth = 0;
  std::string untyped, unbound;  // without parameters, without template arguments
  std::size_t parameters = name.npos;
  for (std::size_t i = 0; i < name.size() && parameters == name.npos; ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '(' && depth == 0) parameters = i;
    if (depth == 0 && name[i] != '(') unbound += name[i];
    if (name[i] == '>') --depth;
  }
  untyped = name.substr(0, parameters);
  if (parameters != name.npos) unbound += name.substr(parameters);
  return {without_spaces(untyped), without_spaces(unbound)};
}

bool is_declaration_of(const parse::SourceKernel& kernel, std::string_view name) {
  return kernel.name == name || kernel.qualified_name == name;
}

}  // namespace

ModuleState::ModuleState(Device device, parse::KernelSource source, runtime::CompileRequest request,
                         std::map<std::string, std::string> symbols,
                         Ref<runtime::LoadedModule> loaded, bool from_cache,
                         bool declares_variables,
                         std::shared_ptr<const runtime::KernelBinary> binary)
    : device_(device),
      source_(std::move(source)),
      request_(std::move(request)),
      symbols_(std::move(symbols)),
      loaded_(std::move(loaded)),
      from_cache_(from_cache),
      declares_variables_(declares_variables),
      binary_(std::move(binary)) {
  request_.source = &source_;
}

Ref<ModuleState> ModuleState::with_own_variables() {
  if (!binary_ || !variables_are_taken_.exchange(true)) return Ref<ModuleState>(this);
  Ref<runtime::LoadedModule> loaded =
      runtime::backend_for(device_).load(device_.ordinal(), *binary_);
  return make_ref<ModuleState>(device_, source_, request_, symbols_, std::move(loaded), true,
                               declares_variables_);
}

Ref<ModuleState> ModuleState::checked() const {
  const std::lock_guard lock(mutex_);
  return checked_;
}

Ref<ModuleState> ModuleState::set_checked(Ref<ModuleState> module) {
  const std::lock_guard lock(mutex_);
  if (!checked_) checked_ = std::move(module);
  return checked_;
}

const std::pair<const std::string, std::string>* ModuleState::find(std::string_view name) const {
  if (const auto entry = symbols_.find(std::string(name)); entry != symbols_.end()) return &*entry;
  const std::string plain = without_spaces(name);
  for (const auto& entry : symbols_)
    if (without_spaces(entry.first) == plain || entry.second == name) return &entry;
  for (const std::string& listed : demangled(plain))
    for (const auto& entry : symbols_)
      if (without_spaces(entry.first) == listed) return &entry;
  // A kernel in a namespace may be listed by its unqualified or by its qualified name.
  for (const parse::SourceKernel& kernel : source_.kernels) {
    if (!is_declaration_of(kernel, plain)) continue;
    for (const std::string& listed : {kernel.name, kernel.qualified_name})
      if (const auto entry = symbols_.find(listed); entry != symbols_.end()) return &*entry;
  }
  return nullptr;
}

ModuleState::KernelName ModuleState::resolve(std::string_view name) const {
  if (const auto* entry = find(name)) return {entry->first, entry->second};
  // A binary may contain kernels without listing them; loading the symbol decides.
  if (symbols_.empty() && source_.text.empty()) return {std::string(name), std::string(name)};
  fail_unknown(name);
}

std::vector<std::string> ModuleState::function_names() const {
  // A kernel may have several names; prefers the requested one, then the shortest.
  std::map<std::string_view, std::string_view> by_symbol;
  const auto is_requested = [&](std::string_view name) {
    return std::ranges::find(request_.names, name) != request_.names.end();
  };
  for (const auto& [name, symbol] : symbols_) {
    std::string_view& best = by_symbol.try_emplace(symbol, name).first->second;
    if (is_requested(best)) continue;
    if (is_requested(name) || name.size() < best.size()) best = name;
  }
  std::vector<std::string> names;
  for (const auto& [symbol, name] : by_symbol) names.emplace_back(name);
  std::ranges::sort(names);
  return names;
}

const parse::SourceKernel* ModuleState::declaration(std::string_view name,
                                                    std::size_t parameter_count) const {
  const std::string_view base = base_name(name);
  const parse::SourceKernel* best = nullptr;
  bool is_overloaded = false;
  const auto search = [&](const parse::KernelSource& source) {
    for (const parse::SourceKernel& kernel : source.kernels) {
      if (!is_declaration_of(kernel, base) || kernel.parameters.size() != parameter_count) continue;
      // Prefers a definition to a declaration. Two definitions are overloads; which one is in the
      // binary is unknown.
      is_overloaded |= best != nullptr && best->is_definition && kernel.is_definition;
      if (best == nullptr || kernel.is_definition) best = &kernel;
    }
  };
  search(source_);
  for (const parse::KernelSource& linked : request_.linked) search(linked);
  return is_overloaded ? nullptr : best;
}

void ModuleState::fail_unknown(std::string_view name) const {
  const std::vector<std::string> names = function_names();
  const std::string quoted =
      joined(names, ", ", [](const std::string& each) { return text("'", each, "'"); });
  std::string remedy = names.empty()
                           ? "declare the function __global__ void in the source; for one "
                             "from an included file give names="
                           : "use one of them";
  for (const parse::SourceKernel& kernel : source_.kernels) {
    if (!kernel.is_template || !is_declaration_of(kernel, base_name(name))) continue;
    const std::string instance =
        name.find('<') == std::string_view::npos ? text(name, "<float>") : std::string(name);
    remedy = text("'", kernel.qualified_name,
                  "' is a template; ask for its instances when compiling, names=[\"", instance,
                  "\"], and for the same name here");
  }
  fail<ArgumentError>("module on ", device_, ": expected the name of a kernel in it, got '", name,
                      "'. Its kernels: ", names.empty() ? "none" : quoted, ". Remedy: ", remedy);
}

KernelState::KernelState(Ref<ModuleState> module, std::string_view name)
    : module_(std::move(module)) {
  auto [full_name, symbol] = module_->resolve(name);
  name_ = std::move(full_name);
  kernel_ = module_->loaded().kernel(symbol);
  const auto parameter_info = kernel_->parameter_info();
  const parse::SourceKernel* declared = module_->declaration(name_, parameter_info.size());
  if (declared != nullptr && declared->is_template && name_.find('<') != std::string::npos) {
    const auto instance = template_instance(*module_->request().source, *declared, name_);
    signature_ = make_signature(&instance, parameter_info, kernel_->parameter_types());
  } else {
    signature_ = make_signature(declared, parameter_info, kernel_->parameter_types());
  }
}

KernelState::KernelState(const KernelState& other, Signature signature)
    : module_(other.module_),
      name_(other.name_),
      kernel_(other.kernel_),
      signature_(std::move(signature)) {}

}  // namespace spanwise::kernels

namespace spanwise {
namespace {

kernels::ModuleState& module_in(const Ref<RefCounted>& state) noexcept {
  return static_cast<kernels::ModuleState&>(*state);
}

// The Itanium C++ ABI's name (5.1.2) of a variable at namespace scope: a::b is _ZN1a1bE.
std::string mangled_variable(std::string_view qualified) {
  if (qualified.starts_with("::")) qualified.remove_prefix(2);
  if (qualified.find("::") == std::string_view::npos) return std::string(qualified);
  std::string out = "_ZN";
  while (!qualified.empty()) {
    const std::size_t end = std::min(qualified.find("::"), qualified.size());
    out += std::to_string(end);
    out += qualified.substr(0, end);
    qualified.remove_prefix(std::min(end + 2, qualified.size()));
  }
  return out + 'E';
}

// A uint8 array over a __device__ or __constant__ variable; it keeps the module loaded. Throws
// ArgumentError if the module has no variable of that name.
Array global_variable(const Ref<kernels::ModuleState>& module, std::string_view name) {
  runtime::LoadedModule::Global global = module->loaded().global(std::string(name));
  if (global.data == nullptr) global = module->loaded().global(mangled_variable(name));
  if (global.data == nullptr)
    fail<ArgumentError>("module on ", module->device(),
                        ": expected the name of a __device__ or __constant__ variable, got '", name,
                        "'. Remedy: give its qualified name; a static or unused variable has none");
  // The storage owns a reference to the module, which keeps the variable loaded.
  module->add_ref();
  Storage storage = Storage::adopt(
      global.data, global.bytes, module->device(),
      [](void* context, void*, std::size_t, StreamUses&) noexcept {
        static_cast<const kernels::ModuleState*>(context)->release();
      },
      module.get());
  const Shape shape{static_cast<std::int64_t>(global.bytes)};
  return Array(std::move(storage), Layout::row_major(shape), uint8);
}

void require_gpu(Device device) {
  if (device.kind() != DeviceKind::cuda)
    fail<ArgumentError>("Module.load: expected a CUDA device for a GPU's binary, got ", device,
                        ". Remedy: on the CPU compile the source, SourceModule(text)");
}

}  // namespace

Module Module::load(std::span<const std::byte> image, std::optional<Device> device) {
  const Device target = device.value_or(default_device());
  const std::string_view contents(reinterpret_cast<const char*>(image.data()), image.size());
  if (kernels::Bundle::is_bundle(contents))
    return Module(kernels::load_bundle(kernels::Bundle::read(contents, "Module.load"), target));
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
  return global_variable(Ref<kernels::ModuleState>(&module_in(state_)), name);
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
