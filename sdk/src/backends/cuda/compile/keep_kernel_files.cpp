// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/compile/keep_kernel_files.hpp"

#include <cstdio>
#include <filesystem>

#include "runtime/system/temporary_folder.hpp"

namespace spanwise::cuda {

void keep_kernel_files(const source::KernelSource& source, std::string_view image,
                       std::string_view suffix) {
  using runtime::TemporaryFolder;
  const TemporaryFolder folder(TemporaryFolder::Lifetime::kept);
  const std::filesystem::path name = std::filesystem::path(source.file_name).filename();
  folder.write(name.string(), source.text);
  folder.write(std::filesystem::path(name).replace_extension(suffix).string(), image);
  std::fprintf(stderr, "spanwise: kernel files kept in %s\n", folder.path().c_str());
}

}  // namespace spanwise::cuda
