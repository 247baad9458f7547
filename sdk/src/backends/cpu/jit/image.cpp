// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/image.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "runtime/system/loader_path.hpp"
#include "runtime/system/temporary_folder.hpp"
#include "runtime/system/unix_file.hpp"
#include "spanwise/core/error.hpp"

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

}  // namespace

void* load_image(std::string_view image) {
  // Descriptor numbers are reused, so each load needs a path that the loader has not seen.
  if (const runtime::FileDescriptor file = file_in_memory(image))
    if (void* library =
            open_library(runtime::new_loader_path("/proc/self/fd", std::to_string(file.get()))))
      return library;
  // Fallback without /proc, or if a policy forbids mapping such files. The file may be deleted once
  // it is mapped.
  const runtime::TemporaryFolder folder;
  if (void* library = open_library(folder.write("kernel.so", image))) return library;
  const char* reason = ::dlerror();
  fail<DeviceError>("cpu: cannot load a compiled kernel: ", reason != nullptr ? reason : "",
                    ". If ", folder.path(), " is mounted noexec, set TMPDIR to another folder");
}

LoadedImage loaded_image(const void* address) {
  ImageSearch search{static_cast<const char*>(address)};
  ::dl_iterate_phdr(examine_object, &search);
  return search.result;
}

}  // namespace spanwise::cpu_backend
