// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/cpu_module.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <mutex>
#include <sstream>

#include "backends/cpu/exec/worker.hpp"
#include "backends/cpu/jit/compiler.hpp"
#include "backends/cpu/jit/image.hpp"
#include "backends/cpu/jit/process.hpp"
#include "backends/cpu/jit/translation_unit.hpp"
#include "core/string_utils.hpp"
#include "runtime/system/temporary_folder.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cpu_backend {

CpuModule::CpuModule(const runtime::KernelBinary& binary) {
  const std::lock_guard loading(loader_mutex());
  library_ = load_image(binary.image);
  info_ = static_cast<const sw_module*>(::dlsym(library_, "sw_module_info"));
  if (info_ == nullptr || info_->magic != SW_MODULE_MAGIC) {
    ::dlclose(library_);
    fail<DeviceError>(
        "cpu: the image is a library, but this version of Spanwise has not compiled it");
  }
  // One for each linked source.
  for (const sw_module* unit = info_; unit != nullptr;) {
    units_.push_back(unit);
    *unit->runtime = &runtime_table();
    const std::string next = module_info_name(units_.size());
    unit = static_cast<const sw_module*>(::dlsym(library_, next.c_str()));
  }
  if (info_->checked != 0) image_ = binary.image;
  variables_ = read_variables(binary.image);
  const LoadedImage image = loaded_image(info_);
  code_ = {image.begin, image.end, variables_.allocates, info_->checked != 0};
  for (const sw_module* unit : units_) code_.may_lock |= unit->prints != 0;
}

CpuModule::~CpuModule() {
  const std::lock_guard loading(loader_mutex());
  ::dlclose(library_);
}

Ref<runtime::LoadedKernel> CpuModule::kernel(const std::string& symbol) {
  std::string names;
  for (const sw_module* unit : units_) {
    for (const sw_kernel* kernel = unit->kernels; kernel->name != nullptr; ++kernel) {
      if (symbol == kernel->name) return make_ref<CpuKernel>(Ref<CpuModule>(this), *unit, kernel);
      names += (names.empty() ? "'" : ", '") + std::string(kernel->name) + "'";
    }
  }
  fail<ArgumentError>("cpu: ", info_->file, " has no kernel '", symbol, "'; it has ",
                      names.empty() ? "none" : names);
}

runtime::LoadedModule::Global CpuModule::global(const std::string& symbol) {
  void* data = ::dlsym(library_, symbol.c_str());
  Dl_info location;
  void* entry = nullptr;
  if (data == nullptr || ::dladdr1(data, &location, &entry, RTLD_DL_SYMENT) == 0 ||
      entry == nullptr)
    return {};
  const auto* element = static_cast<const ElfW(Sym)*>(entry);
  // dlsym also finds names of the C library, and functions; accept only variables that this module
  // defines.
  const bool is_own = location.dli_fbase == loaded_image(info_).base;
  if (!is_own || location.dli_saddr != data || (element->st_info & 0xf) != STT_OBJECT) return {};
  return {data, static_cast<std::size_t>(element->st_size)};
}

// The first of `frames`, the inlined frames of an instruction, one per line, that is in a file of
// the user: atomics and other functions of the shim are in its headers.
std::string CpuModule::innermost_line(const std::string& frames) const {
  for (const std::string_view line : split(frames, '\n'))
    for (const sw_module* unit : units_)
      if (const std::size_t begin = line.rfind(unit->file); begin != line.npos)
        return std::string(line.substr(begin, line.find(' ', begin) - begin));
  return {};
}

std::string CpuModule::line_before(const void* code) const {
  if (image_.empty()) return {};
  const auto offset = static_cast<const char*>(code) - loaded_image(info_).base - 1;
  std::ostringstream address;
  address << "0x" << std::hex << offset;
  try {
    const runtime::TemporaryFolder folder;  // the tools read files
    const std::string file = folder.write("kernel.so", image_);
    // Debian's package llvm-14 installs the last name only.
    for (const char* tool : {"addr2line", "llvm-addr2line", "llvm-symbolizer-14"}) {
      const std::string program = find_program(tool);
      if (program.empty()) continue;
      const ProcessResult result =
          run_process({program, "-i", "-e", file, address.str()}, folder.path());
      if (result.exit_code != 0) continue;
      if (std::string line = innermost_line(result.output); !line.empty()) return line;
    }
  } catch (const Error&) {
    // The error message is useful without the line.
  }
  return {};
}

std::int64_t CpuModule::static_shared_bytes() const {
  const auto bytes = static_cast<std::int64_t>(loaded_image(info_).thread_bytes);
  // The thread-local data also contains the built-in variables that the kernels use.
  constexpr std::int64_t builtins = 4 * 12 + 2 * 8;  // bytes: threadIdx and so on, two pointers
  return bytes <= builtins ? 0 : bytes;
}

}  // namespace spanwise::cpu_backend
