// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/device_headers.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "core/lazy_value.hpp"
#include "embedded/device_headers.hpp"
#include "kernels/sha256.hpp"
#include "kernels/unix_file.hpp"
#include "spanwise/error.hpp"

namespace spanwise::kernels {
namespace {

namespace fs = std::filesystem;

bool write_file(const fs::path& path, std::string_view contents) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  return file && write_all(file, contents) && file.close();
}

std::string make_temporary_folder() {
  std::error_code error;
  fs::path base = fs::temp_directory_path(error);
  if (error) base = "/tmp";
  std::string path = (base / "spanwise-XXXXXX").string();
  require<DeviceError>(::mkdtemp(path.data()) != nullptr,
                       "compiling a kernel: expected a temporary folder in ", base.string(),
                       ", got: ", std::system_category().message(errno),
                       ". Remedy: set TMPDIR to a folder that may be written");
  return path;
}

}  // namespace

const std::string& device_headers_digest() {
  static auto& digest = *new LazyValue<std::string>;
  return digest.get([] {
    Sha256 hash;
    for (const embedded::TextFile& header : embedded::device_headers) {
      hash.field(header.name);
      hash.field(header.text);
    }
    return hash.hex();
  });
}

DeviceHeaderFolder::DeviceHeaderFolder() : path_(make_temporary_folder()) {
  const fs::path folder = fs::path(path_) / device_header_prefix;
  std::error_code error;
  fs::create_directory(folder.parent_path(), error);
  for (const embedded::TextFile& header : embedded::device_headers) {
    if (write_file(folder / header.name, header.text)) continue;
    fs::remove_all(path_, error);
    fail<DeviceError>("compiling a kernel: cannot write the header ", header.name, " to ", path_,
                      ". Remedy: make room there, or set TMPDIR to another folder");
  }
}

DeviceHeaderFolder::~DeviceHeaderFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

}  // namespace spanwise::kernels
