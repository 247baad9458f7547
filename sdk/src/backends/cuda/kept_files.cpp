// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kept_files.hpp"

#include <stdlib.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "spanwise/error.hpp"

namespace spanwise::cuda {
namespace {

namespace fs = std::filesystem;

fs::path make_folder() {
  std::error_code error;
  fs::path base = fs::temp_directory_path(error);
  if (error) base = "/tmp";
  std::string pattern = (base / "spanwise-kernel-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr)
    fail<DeviceError>("SourceModule(keep=True): no folder can be made in ", base.string(), " (",
                      std::generic_category().message(errno),
                      "); set TMPDIR to a folder that can be written");
  return pattern;
}

void write(const fs::path& path, std::string_view contents) {
  std::ofstream file(path, std::ios::binary);
  file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  file.close();
  require<DeviceError>(!file.fail(), "SourceModule(keep=True): ", path.string(),
                       " cannot be written");
}

}  // namespace

void keep_files(const runtime::KernelSource& source, std::string_view image,
                std::string_view suffix) {
  const fs::path folder = make_folder();
  const fs::path name = fs::path(source.file_name).filename();
  write(folder / name, source.text);
  write(folder / fs::path(name).replace_extension(suffix), image);
  std::fprintf(stderr, "spanwise: kernel files kept in %s\n", folder.c_str());
}

}  // namespace spanwise::cuda
