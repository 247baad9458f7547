// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/cpu_module.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <string>

#include "backends/cpu/exec/block_runner.hpp"
#include "backends/cpu/jit/process.hpp"
#include "backends/cpu/jit/translation.hpp"
#include "core/string_utils.hpp"
#include "runtime/elf_image.hpp"
#include "runtime/files.hpp"
#include "runtime/settings.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"

#ifndef MFD_NOEXEC_SEAL  // Linux 6.3
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace spanwise::cpu_backend {
namespace {

runtime::FileDescriptor file_in_memory(std::string_view contents) {
  // MFD_NOEXEC_SEAL, because a system may forbid executable memfds (sysctl vm.memfd_noexec), and
  // the loader only maps this one. Linux before 6.3 rejects the flag.
  runtime::FileDescriptor file(::memfd_create("spanwise-kernel", MFD_CLOEXEC | MFD_NOEXEC_SEAL));
  if (!file && errno == EINVAL)
    file = runtime::FileDescriptor(::memfd_create("spanwise-kernel", MFD_CLOEXEC));
  if (file && !runtime::write_all(file, contents)) file.close();
  return file;
}

struct ImageSearch {
  const char* address;
  LoadedImage result{};
};

// For dl_iterate_phdr(); ends the search at the object that contains the address.
int examine_object(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<ImageSearch*>(data);
  LoadedImage image;
  image.base = reinterpret_cast<const char*>(object->dlpi_addr);
  image.thread_data = static_cast<char*>(object->dlpi_tls_data);
  bool contains = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& header = object->dlpi_phdr[i];
    if (header.p_type == PT_TLS) image.thread_bytes = header.p_memsz;
    if (header.p_type != PT_LOAD) continue;
    const char *begin = image.base + header.p_vaddr, *end = begin + header.p_memsz;
    contains |= search.address >= begin && search.address < end;
    image.begin = image.begin == nullptr ? begin : std::min(image.begin, begin);
    image.end = std::max(image.end, end);
  }
  if (contains) search.result = image;
  return contains ? 1 : 0;
}

void* open_library(const std::string& path) {
  return ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

// The folder of this process's open files by its number: a debugger opens the loader's paths
// itself, and /proc/self would be its own folder, where the same number is a pipe that it waits
// for.
std::string folder_of_open_files() {
  std::array<char, 24> process{};
  const ssize_t length = ::readlink("/proc/self", process.data(), process.size());
  const std::string_view number(process.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return text("/proc/", number.empty() ? "self" : number, "/fd");
}

// Loads the bytes of a shared object and returns the handle of dlopen(), for dlclose(). Loads from
// memory, so that the bytes cannot change after they were verified, and mounts without execute
// permission (noexec) do not matter. Each call loads its own copy of the variables. Throws
// DeviceError.
void* load_image(std::string_view image) {
  // Descriptor numbers are reused, so each load needs a path that the loader has not seen.
  if (const runtime::FileDescriptor file = file_in_memory(image))
    if (void* library = open_library(
            runtime::new_loader_path(folder_of_open_files(), std::to_string(file.get()))))
      return library;
  // Fallback without /proc, or if a policy forbids mapping such files. The file may be deleted once
  // it is mapped.
  const runtime::TemporaryFolder folder;
  if (void* library = open_library(folder.write("kernel.so", image))) return library;
  const char* reason = ::dlerror();
  fail<DeviceError>("cpu: cannot load a compiled kernel: ", reason != nullptr ? reason : "",
                    ". If ", folder.path(), " is mounted noexec, set TMPDIR to another folder");
}

// Whether the shim or the compiler declares a variable of this name.
bool is_internal(std::string_view name) {
  static constexpr std::array<std::string_view, 4> builtin{"threadIdx", "blockIdx", "blockDim",
                                                           "gridDim"};
  if (name.starts_with("_ZL")) {  // a static variable at namespace scope
    name.remove_prefix(3);
    name.remove_prefix(std::min(name.find_first_not_of("0123456789"), name.size()));
  }
  return name.starts_with("sw_") || name.starts_with("__") || name.starts_with("completed.") ||
         name.find("__ubsan_handle") != name.npos ||
         std::ranges::find(builtin, name) != builtin.end();
}

// Whether the section holds variables that the kernel may write, not tables that the loader
// relocates.
bool is_data(const runtime::ElfImage& image, unsigned index) {
  const auto section = image.section(index);
  const std::string_view name = image.section_name(index);
  return section && (section->sh_flags & SHF_WRITE) != 0 &&
         (name.starts_with(".data") || name.starts_with(".bss")) &&
         !name.starts_with(".data.rel.ro");
}

// "shared memory 'tile'", without the name where it is unknown.
std::string quoted_name(const char* kind, const std::string& symbol) {
  const std::string name = variable_name(symbol);
  return name.empty() ? std::string(kind) : text(kind, " '", name, "'");
}

bool is_inside(const LoadedImage& image, std::uintptr_t word) {
  return word >= reinterpret_cast<std::uintptr_t>(image.begin) &&
         word < reinterpret_cast<std::uintptr_t>(image.end);
}

// Copies a variable word by word, except for pointers to functions and variables of the module:
// they are addresses in its image, and the target's variable already points into the target's
// image.
void copy_words(const char* from, const LoadedImage& from_image, char* to,
                const LoadedImage& to_image, std::size_t bytes) {
  std::size_t done = 0;
  for (std::uintptr_t word = 0, own = 0; done + sizeof word <= bytes; done += sizeof word) {
    std::memcpy(&word, from + done, sizeof word);
    std::memcpy(&own, to + done, sizeof own);
    if (is_inside(from_image, word) && is_inside(to_image, own)) continue;
    std::memcpy(to + done, &word, sizeof word);
  }
  std::memcpy(to + done, from + done, bytes - done);
}

}  // namespace

// Whether a function of another library may hold locks: those of the C++ library may all allocate.
bool may_lock(std::string_view name) {
  return name.starts_with("_Z") ||
         is_word_of(name,
                    "malloc calloc realloc free posix_memalign aligned_alloc strdup puts putchar "
                    "fputs fputc fprintf vprintf vfprintf fwrite fflush fopen fclose");
}

LoadedImage loaded_image(const void* address) {
  ImageSearch search{static_cast<const char*>(address)};
  ::dl_iterate_phdr(examine_object, &search);
  return search.result;
}

ImageVariables read_variables(std::string_view image) {
  const runtime::ElfImage elf(image);
  ImageVariables variables;
  elf.for_each_symbol([&](const Elf64_Sym& symbol, std::string_view name) {
    if (symbol.st_shndx == SHN_UNDEF) {
      variables.may_lock |= may_lock(name.substr(0, name.find('@')));
      return;
    }
    variables.allocates |= name == "sw_malloc";
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    const ImageVariable variable{std::string(name), symbol.st_value, symbol.st_size};
    if (type == STT_TLS)
      (is_internal(name) ? variables.builtin : variables.shared).push_back(variable);
    else if (type == STT_OBJECT && is_data(elf, symbol.st_shndx) && !is_internal(name))
      variables.globals.push_back(variable);
  });
  return variables;
}

// In the Itanium C++ ABI (5.1) the last name is preceded by its length, and may be followed by a
// discriminator, "_0", or the end of a nested name, "E".
std::string variable_name(std::string_view symbol) {
  if (!symbol.starts_with("_Z")) return std::string(symbol.substr(0, symbol.find('.')));
  for (std::size_t i = symbol.size(); i-- > 2;) {
    if (std::isdigit(static_cast<unsigned char>(symbol[i])) == 0) continue;
    std::size_t first = i;
    while (std::isdigit(static_cast<unsigned char>(symbol[first - 1])) != 0) --first;
    for (std::size_t begin = first; begin <= i; ++begin) {
      if (i + 1 - begin > 4) continue;  // no name is that long
      const std::size_t length = std::stoul(std::string(symbol.substr(begin, i + 1 - begin)));
      const std::string_view name = symbol.substr(i + 1).substr(0, length);
      if (length == 0 || length > name.size()) continue;
      const std::string_view tail = symbol.substr(i + 1 + length);
      if (tail.empty() || tail[0] == 'E' || tail[0] == '_') return std::string(name);
    }
    i = first;
  }
  return {};
}

namespace {

// The functions of the loaded modules that write line counts. Under loader_mutex().
std::map<void*, void (*)()>& coverage_writers() {
  static NeverDestroyed<std::map<void*, void (*)()>> writers;
  return *writers;
}

}  // namespace

void CpuModule::write_coverage() {
  const std::lock_guard loading(loader_mutex());
  for (const auto& [library, write] : coverage_writers()) write();
}

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
  if (void* write = ::dlsym(library_, "sw_write_coverage"))
    coverage_writers().emplace(library_, reinterpret_cast<void (*)()>(write));
  if (info_->checked != 0) image_ = binary.image;
  variables_ = read_variables(binary.image);
  const LoadedImage image = loaded_image(info_);
  code_ = {image.begin, image.end, variables_.may_lock, info_->checked != 0};
}

CpuModule::~CpuModule() {
  const std::lock_guard loading(loader_mutex());
  coverage_writers().erase(library_);
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

void CpuModule::copy_variables(runtime::LoadedModule& from) {
  if (variables_.globals.empty()) return;
  const auto& source = dynamic_cast<const CpuModule&>(from);
  // Static variables of several linked sources may have the same name.
  std::multimap<std::string_view, const ImageVariable*> originals;
  for (const ImageVariable& variable : source.variables_.globals)
    originals.emplace(variable.symbol, &variable);
  const LoadedImage image = loaded_image(info_), source_image = loaded_image(source.info_);
  for (const ImageVariable& variable : variables_.globals) {
    const auto original = originals.find(variable.symbol);
    if (original == originals.end()) continue;
    if (original->second->bytes == variable.bytes)
      copy_words(source_image.base + original->second->offset, source_image,
                 const_cast<char*>(image.base) + variable.offset, image, variable.bytes);
    originals.erase(original);
  }
}

bool CpuModule::is_of_other_kernel(std::string_view symbol, std::string_view kernel) const {
  // _ZZ3addPfE4tile is `tile` of `add` (Itanium C++ ABI, 5.1.6).
  if (!symbol.starts_with("_ZZ")) return false;
  symbol.remove_prefix(3);
  const std::size_t digits = symbol.find_first_not_of("0123456789");
  if (digits == 0 || digits == symbol.npos) return false;
  const auto length = parse_number<std::size_t>(symbol.substr(0, digits));
  const std::string_view owner = symbol.substr(digits, length.value_or(0));
  if (owner == kernel) return false;
  for (const sw_module* unit : units_)
    for (const sw_kernel* other = unit->kernels; other->name != nullptr; ++other)
      if (owner == other->name) return true;
  return false;
}

void CpuModule::describe_memory(AccessCheck& check, std::string_view kernel) const {
  const LoadedImage image = loaded_image(info_);
  check.ignore(image.begin, image.end);
  for (const ImageVariable& variable : variables_.globals) {
    const char* data = image.base + variable.offset;
    check.add({data, data + variable.bytes, data, data + variable.bytes,
               quoted_name("the variable", variable.symbol)});
  }
  if (image.thread_data == nullptr) return;
  for (const ImageVariable& variable : variables_.builtin) {
    const char* data = image.thread_data + variable.offset;
    check.ignore(data, data + variable.bytes);
  }
  for (const ImageVariable& variable : variables_.shared) {
    if (is_of_other_kernel(variable.symbol, kernel)) continue;
    const char* data = image.thread_data + variable.offset;
    check.add({data, data + variable.bytes, data, data + variable.bytes,
               quoted_name("shared memory", variable.symbol), true});
  }
  check.forbid(image.thread_data, image.thread_data + image.thread_bytes);
}

bool CpuModule::has_addresses() const {
  if (variables_.allocates) return true;
  const LoadedImage image = loaded_image(info_);
  for (const ImageVariable& variable : variables_.globals)
    if (runtime::may_hold_address(image.base + variable.offset, variable.bytes)) return true;
  return false;
}

}  // namespace spanwise::cpu_backend
