// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/image.hpp"

#include <dlfcn.h>
#include <sys/mman.h>

#include <cerrno>
#include <string>

#include "runtime/system/loader_path.hpp"
#include "runtime/system/temporary_folder.hpp"
#include "runtime/system/unix_file.hpp"
#include "spanwise/error.hpp"

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
                    ". Where ", folder.path(),
                    " must not hold programs (noexec), set TMPDIR to another folder");
}

}  // namespace spanwise::cpu_backend
